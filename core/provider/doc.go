// Package provider is the port to whatever runs a language model.
//
// A Provider turns a State and a Spec into a stream of artifacts. It knows
// nothing of threads, chats or stores. What went wrong comes back as an *Error
// whose Kind says what a caller may do about it.
package provider
