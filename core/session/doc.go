// Package session turns what people write into turns of a conversation and brings every message to exactly one end.
//
// An Inbound is what a conduit makes of a platform event. Manager.Accept makes it durable as an Entry; the store's feed wakes
// the thread's Stream, whose worker submits it, runs the Pattern and appends the final turn in the same Batch that ends the
// entry. The package owns the ports it needs: Store (written to by Batches only), People, Commander.
//
//	conduit ──Accept──► entry (durable) ──feed──► Stream ──Step──► log + closings + due (one Batch) ──nudge──► courier
//
// # Rules
//
//   - A thread's state (Stream.live, what waits, the job in hand) is its worker's alone. What may block runs in apart, on a goroutine of
//     its own, which is given what it needs beforehand, or asks the worker through own.
//   - A Batch is handed to the store first; only then is its effect true in memory (live.take), and only then is an event emitted.
//   - Whoever finds that the store says something else than memory gives memory up (lose) and reads again. Eight times in a row for a
//     reason that stays, and the entries end (abandon).
//   - A message ends in one place: with its final turn (finish, promote), with a line (notice), or in silence (endSilently).
//   - Accept never calls the network and never waits for a worker; limits and rows of bots are counted in memory.
//
// # Where things are
//
//	what comes in        inbound, entry, address, blank (what nobody sees); accept (judge, admit, store), limits, limits_day, botloop
//	what is stored       record (log, bindings, cursors), batch, store (the port), put (commits whose outcome is settled)
//	the other ports      ports (People, Namer, Presenter, Fetcher, Blobs, Historian), command (Commander), admin (Guard)
//	Streams              manager, wake, stream (work), next (which job), lose (reads again); apart, beside (what runs or is told beside)
//	what is one turn     group, joining, together, whole
//	a job, on its way    handle (screen, answer); above (gather), heard, recount, attach, textfile, names, prompt; submit
//	a job, answered      converse (the Pattern), state (append, finish), reasoning, outdated (a prompt that a change made old)
//	a job, otherwise     failure, blame (whose fault it is), end (notice), old (too late), stranger, dismiss, drop
//	live state           hydrate, window, usage
//	the model's window   fit; compact, compact_when, compact_room, compact_again (summaries, and what changes reach them), rewind
//	commands             command_run, command_stop, command_new; forget, grave, retire; link, unlink (several addresses in one thread)
//	edits, deletions     signal (which message is meant), change (what becomes of it), retell (its share of a turn), follow (at linked places)
//	the model's door     gate (people take turns), spare (calls that nobody waits for)
//	signs                presence (pumps), signing (what is shown of a job), foresee (what a sign leaves is stored before it)
//	the operator         doors, reads (who may be shown what), tidy
//
// # Goroutines
//
// Manager.Run owns the feed's reader, the janitor that evicts idle Streams, the eraser, and one worker for each Stream that has work. An
// idle Stream owns none but its Step's. The Manager's mutex guards the table of Streams; the gate, the limits and the signs have one each,
// under which nothing blocks.
package session
