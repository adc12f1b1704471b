// Package play runs dialogues that are written down like plays: who says what, when the model answers and how it fails, when the
// process is killed, and every word that the bot says. On the stage are the real session.Manager, the commands of core/slash, the
// daemon's transforms and tools, and couriers; the store, the chat platform and the model are in memory, and time is a synctest
// bubble's.
//
// A play is a text file. Lines that begin with # are remarks. A header line gives the cast and the settings, before anything happens:
//
//	people: gus guest, rob bot, ada admin     who isn't an ordinary member of the workspace
//	in: t1                                    where lines belong that name no place; else dm
//	models: m, big vision                     what is installed; m is the default model
//	file cat.png: picture                     what a file holds; "missing": it can't be fetched
//	queue: fifo · concurrent: 1 · slow: 60s · system: Be brief. · bots: yes · limit: 40 (bytes of a part) · finder: no · grace: 20s
//	tokens: 100 (of history; the model counts prompts then) · compact: 0.5 (of the window) · blobs: no · follow: no
//	limits: 3 a minute, 2 waiting, 100 tokens a day, 40 bytes · link: threads (may be linked; else nothing may)
//
// Then lines happen one after the other. Each may begin with @TIME, counted from the rise of the curtain: an act waits until then, and
// what the bot says must come then, to the second.
//
//	ana> text                    a message; @bot in front is a mention, any other @name is somebody else's
//	ana@t1 (reply)> text         at another place, with notes in brackets: reply, slash, heard, ignored, before, duplicate,
//	                             file NAME, quote NAME "text", forward NAME "text", own "text", group G, continues, old 7h
//	edit ana#1: text             ana's first message reads so now; with (heard), (ignored) as above
//	delete ana#1 · again ana#1   it is gone; the platform delivers it a second time
//	model: says "hi"             the call that waits longest is answered; says "a" "b" in pieces
//	model: thinks "hm" "hi"      it reasons before it answers
//	model: begins "h"            it says that much, and is still at it
//	model: hangs                 a call has come, and nothing happens yet
//	model: is let go             that call is given up by its caller
//	model: reads user a / bot b  what the call shows the model
//	model: asks big              which model the call is for
//	model: cuts after "part" · fails busy · says nothing · stops at length after "part" · calls NAME {"json": 1} · panics
//	model: is down unreachable · is back · is idle
//	tool: answers "4" · hangs · is let go
//	kill · start · restart · kill at commit 2 (it isn't written) · kill behind commit 2 (it is) · kill behind post 1
//	post: retry · post: unknown · post: shown unknown     what the next post meets
//	wait 2m
//	bot< text                    an answer; … stands for anything, \n for the end of a line, \u200b for that character
//	bot! text                    a notice; bot? one for its reader alone; (to ana#1) says which message it replies to,
//	                             (thinks "…") the reasoning that is shown folded with an answer
//	bot~ slow                    a sign beside the answers: slow, loading m, queued 2, tool dice, noted ana#1
//	sum: 2 answered, 1 noticed   the last line: how many messages came to which end, with heard and ignored ones
//
// Whatever the bot says that isn't in the play, or comes in another order, fails it; so does a call of the model that nobody answers,
// and a message that comes to no end.
//
// TestImprovised plays what nobody has written: each act is drawn from a seed, and what holds of every play is looked at: each message comes
// to one end and the sum is right; each answer is shown; what is delivered again is known; parts are shown in the log's order, and no answer
// twice; a prompt has the words of one conversation, each once, and none that was edited, deleted or forgotten before; no sign is left; and the
// log has no error but those that the play is the cause of. In some plays, places on two platforms are linked: none is told what was written
// there, or misses an answer, and what is taken back goes there too. In others there are two model hosts, which go down and come back.
// IMPROVISE=FROM,PLAYS,ACTS plays others, and more. How the goroutines of a play interleave isn't drawn: a seed that fails may pass once more.
package play
