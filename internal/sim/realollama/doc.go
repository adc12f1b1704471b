// Command realollama writes tiny language models whose answers are known, for tests against a real Ollama server. The script serve
// beside it builds that server and loads the models; see its first lines.
//
// A model is a table: each token is followed by one other. Embeddings are one-hot, attention and the feed-forward part are zero, so
// that what comes out of the block is what went in, and the output matrix leads from each token to its successor. The last token of
// a prompt decides the whole answer: a person's message that ends with /hello, /long or another word of script.go gets that answer,
// any other the greeting. Each byte of a prompt is one token.
package main
