// Package ollama asks models of Ollama servers: it is a provider.Provider over the types of github.com/ollama/ollama/api.
//
// It posts chats itself, because the official client reports a stream that broke as a success and allocates eight megabytes
// for each call. An answer is complete only if its last line says done; whatever else ends it is an *provider.Error.
// What is sent is explicit: the same num_ctx on every call, since another one makes the server load the model anew, and never
// above what the model was trained for;
// truncate and shift off, since a server drops the system prompt without a word; keep_alive; a limit for the answer.
//
// A model that can't use tools, think, or look at images is asked without them: from what /api/show says of it, or from
// the refusal, after which the call is repeated once without.
//
// # Where things are
//
//	the provider         ollama (Config, New), invoke (one call), models, installed
//	hosts                fleet (which one is asked), host, standing (how it has done), loading
//	a request            request, history, picture, post
//	an answer            stream, line, think, leak, repeat, watch (time limits), stuck (a lost slot), cut (a prompt that was shortened)
//	errors               errors
package ollama
