// Command orebot lets people talk to a language model in Slack and Telegram. It holds the wiring and the subcommands, nothing
// else.
//
// # Where things are
//
//	the commands         main, root, version; run, demo, manifest; check, check_daemon, check_slack, check_telegram
//	asking the daemon    admin (connect), access, queue
//	the daemon's wiring  daemon (serve), net, platforms, commands, tools, context, socket
//	beside the daemon    background, probe (model hosts), ages, sweep, signal
package main
