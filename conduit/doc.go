// Package conduit is what every platform adapter shares: the Conduit port, and the couriers that deliver a thread's log to the
// addresses bound to it.
//
// A platform brings a Renderer, which is pure, and a Poster; where it can be asked what it shows, the Poster is a Finder too.
// Couriers owns the rest: which records an address is to see, the cursor, the intents, what an unknown outcome means, back-off,
// pauses and failure classes.
//
//	log ──scan──► Item ──Renderer──► Part ──intent durable──► Poster ──outcome──► cursor, index, due (one Batch)
//
// The laws of one address:
//
//   - A part is posted only when Attempt{N, Since, Life} for its (Seq, Offset) is durable. The write that moves past part k
//     carries the attempt of part k+1, and the write that moves past a record that of the next one; so an answer of one part
//     whose first intent came with the final Batch costs one commit, after its post.
//   - An attempt of this life that was never tried is fresh. One of another life, or one whose post ended unknown, is an unknown
//     outcome: a Finder is asked, at the earliest 10 s later and until it answers; without one the part is posted once more in
//     this life, labelled, and not before what may still be on its way has had 10 s. The second unknown outcome of this life ends the
//     part: the chat is told so by a note that is posted in the part's place, under an attempt of its own.
//   - What somebody wrote elsewhere, and a change of it, is read again right before it is posted: what was taken back meanwhile isn't shown,
//     and what an earlier try may have shown is looked for and noted, so that the record of the change removes it. Of many changes in a
//     row that wait, the last one is made.
//   - What was surely not posted leaves no trace: an orderly stop takes the intent back, so that no repeat follows the restart.
//
// Goroutines: Run owns one for each address that has work and one that lists the addresses due at the start, a page at a time: the next
// page is started once fewer than 256 couriers are at work, those that wait for their platform not counted, or after 10 s. A courier
// touches nothing that another one waits for, except the pacer and the pauses, which belong to the platform: Config.Place names the
// addresses that are told to wait together, and look-ups have a pause of their own.
//
// Cursor.Form says how the part at Offset is made (shrunk, plain, or the note in its place), since what a Finder finds after a crash
// ends where that making ended.
//
// # Where things are
//
//	the port             conduit (Conduit, Item, Part, Renderer, Poster, Finder), error (Class), config, reasoning, late, limit
//	couriers             couriers (the table of those at work), hear, sweep (who is due at the start), settle
//	one courier          courier (run), read (the log), item (what a record is there), deliver, show (part by part), resolve, layout, end, write; retell (what follows an edit), outdated (what is taken back while it waits), withhold (what isn't for its readers)
//	waiting              backoff, pace (rate limits), pause (what a platform asked for)
package conduit
