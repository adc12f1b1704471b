// Package slack is a strict stand-in for Slack: the Web API, Socket Mode, and the people of one workspace. It serves over
// any net.Listener, over loopback and over the pipes of internal/sim/pipe inside a testing/synctest bubble alike, refuses
// what Slack refuses, and records in order what a person would see.
//
// A test plays the people (Say, Edit, Delete, Slash), scripts what goes wrong (Server.Faults, Disconnect, Push) and reads
// the outcome (Transcript, Thread, Deliveries, Calls). Every wait goes by package time, so a bubble's clock governs it.
// Ids count up from one and chance comes only from Options.Seed; the same bubble gives the same transcript.
//
// The methods of the Web API all run under the server's lock and never block. A new one is one function and one line in api.go.
//
// # Where things are
//
//	the server           server (the lock, the timers, the end), options, limit, world (users, channels, messages)
//	the Web API          api (dispatch), chat, conversations, surface, files; content (blocks), text
//	Socket Mode          socket (the WebSocket), deliver (the envelopes on it), events (their payloads), link (what cuts it)
//	the people           people, share, slash, click, plant (what stood there before)
//	what is seen         transcript
package slack
