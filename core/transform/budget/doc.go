// Package budget keeps a prompt within the model's context window: it leaves the oldest exchanges out of the view, never out of the
// ledger.
//
// What a turn costs is estimated from its bytes, and the estimate is corrected by what servers have counted: for each model in a
// Meter, for one conversation by its own Scale. The cut moves in steps and stays where it is in between, so that one prompt goes on
// where the one before ended and the server needn't read it all again. System turns always stay, and so does the exchange that is
// going on; a tool's result never stays without its call.
package budget
