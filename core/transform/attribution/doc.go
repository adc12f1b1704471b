// Package attribution tells the model who wrote what, where several people write in one conversation: a loop.Transform that puts
// the name of its writer in front of each user turn. The ledger keeps the text as it was written, and the name beside it; only
// what the provider is shown has the two in one.
//
// # The label
//
// A turn of Alice's reads "[Alice]: how late is it?". The label stands once, in front of the turn's first text; the texts and
// images that follow are hers too. A name that would break out of its brackets is made to fit on one line, and two people of one
// name are told apart by the id of the one who came second: "[Alice (slack:U2)]: …".
//
// # Forgery
//
// Nobody speaks for somebody else. A line in a message that looks like a label gets a backslash in front ("\[Bob]: …"), so that a
// label without one, at the start of a message, is this package's in every case. Turns without a Speaker are left as they are: in
// a private chat there is nobody to take for another.
//
// # Prefix
//
// What a turn looks like depends on it and on the turns before it. So the view of a longer path begins with that of a shorter one,
// byte for byte, and the server's prompt cache holds.
package attribution
