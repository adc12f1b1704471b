// Package session turns what people write into turns of a conversation and brings every message to exactly one end.
//
// An Inbound is what a conduit makes of a platform event. Manager.Accept makes it durable as an Entry; the store's feed wakes
// the thread's Stream, whose worker submits it, runs the Pattern and appends the final turn in the same Batch that ends the
// entry. The package owns the ports it needs: Store (written to by Batches only), People, Commander.
//
//	conduit ──Accept──► entry (durable) ──feed──► Stream ──Step──► log + closings + due (one Batch) ──nudge──► courier
//
// Goroutines: Manager.Run owns the feed's reader, the janitor that evicts idle Streams and one worker for each Stream that
// has work. An idle Stream owns none but its Step's. The only mutex is the Manager's, over the table of Streams.
package session
