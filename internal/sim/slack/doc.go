// Package slack is a strict stand-in for Slack: the Web API, Socket Mode, and the people of one workspace. It serves over
// any net.Listener, over loopback and over the pipes of internal/sim/pipe inside a testing/synctest bubble alike, refuses
// what Slack refuses, and records in order what a person would see.
//
// A test plays the people (Say, Edit, Delete, Slash), scripts what goes wrong (Server.Faults, Disconnect, Push) and reads
// the outcome (Transcript, Thread, Deliveries, Calls). Every wait goes by package time, so a bubble's clock governs it.
// Ids count up from one and chance comes only from Options.Seed; the same bubble gives the same transcript.
//
// How the code is laid out: server.go owns the lock, the timers and the end; world.go the users, channels and messages;
// api.go dispatches Web API calls to the one-method functions of chat.go, conversations.go, surface.go and files.go, which
// all run under the lock and never block; socket.go speaks the WebSocket, deliver.go the envelopes on it; people.go and
// slash.go do what people do; transcript.go is the record. A new API method is one function and one line in api.go.
package slack
