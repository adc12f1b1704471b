// Package ollama is a strict stand-in for an Ollama server: the routes, shapes, refusals and bad habits of version 0.17,
// with scripted models instead of weights. It serves over loopback and, on a pipe.Listener, inside a synctest bubble; there
// New must be called in the bubble too.
//
// What it is strict about: a request that a real server refuses is refused with the same status and words, a history that
// overflows the context is cut (or refused with truncate:false) by a tokenizer that counts one token a byte, a cold model
// loads before any header is sent, a different num_ctx loads it again, and a client that leaves stops the work. A model
// takes Options.Parallel requests at a time; the others wait without headers, and there is no limit to how many.
//
// Answers come from Options.Answer. Without one StandIn answers: it says what it is and repeats the last user message,
// unless that message ends with a trigger such as /long, /empty or /think.
package ollama
