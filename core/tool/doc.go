// Package tool runs what a model calls.
//
// A Registry holds the tools: those that are built in, and groups that come and change while the process runs. Its Offer tells the
// model of them, always in the same order, because a prompt that begins otherwise costs the server its cache. A Runner is the
// loop.Handler that runs the calls of a turn.
//
// # Laws
//
// A call comes to exactly one result, whatever happens: an unknown name, arguments that don't fit the tool's schema, an error, a
// panic or a time limit is a result with IsError that tells the model what is wrong. Only a turn that has ended, because somebody
// stopped it or the process stops, leaves its calls without one; they are never run again.
//
// The calls of one turn run side by side. Their results are put on the conversation in the order of the calls, each as soon as those
// before it are there. A result is bounded, with its head and its tail kept.
//
// What a tool's error says goes to the model where it is a *Failure; any other error goes to the log, and the model learns that the
// tool broke.
package tool
