// Package mcp makes the tools of MCP servers the model's.
//
// A Server is one of them, at a URL or as a command that is started here. Its Run connects, lists the tools as NAME__TOOL, watches the
// connection, and begins anew with growing waits when it is lost. Nothing waits for a server: until one is there its tools aren't
// offered, and while one that was there is away they stay offered, so that prompts begin alike, and a call of them says that it is away.
//
// What a server sends is a stranger's: names are made callable or refused, texts are bounded, and nothing but its answers to calls
// reaches the model. Its URL and its environment are secrets: they stand in no log line and no error.
//
// # Processes
//
// A command gets the environment that it is configured with and nothing else, no PATH either; it is looked up in the daemon's. It leads
// a process group of its own. At the end its input is closed; what is left of the group after a while gets SIGTERM, then SIGKILL. On
// Linux the command dies with the daemon, however that dies. What it writes to stderr goes to the log at debug level.
package mcp
