// Package slack is the conduit to Slack: one Socket Mode connection in, the Web API out.
//
//	wire ─► read ─translate─► queue ─► Sessions.Accept ─done─► acks ─► wire
//	missed ─► conversations.replies, conversations.history ─translate─► Sessions.Accept
//	couriers ─► Renderer ─► Poster (chat.postMessage) / Finder (conversations.replies, conversations.history)
//
// Everything that slack-go offers for the Web API is used as it stands, but its Socket Mode client isn't: that loses the reason for which
// Slack ends a connection, opens the next one without a limit, stops reading where nobody takes its events, and leaves an event that it
// can't decode without an ack. So the socket is spoken here (wire.go, some 140 lines over gorilla/websocket), and Slack's own Node client
// checks the simulator that these tests talk to. Pages of messages, too, are read field by field: the library drops a whole page for one
// odd field, and with it what a look-up is looking for.
//
// The laws:
//
//   - An envelope is acknowledged when its message is durable, or at once where it is ignored. What isn't acknowledged comes again:
//     Slack redelivers at once, after one minute and after five. So a full queue drops, and never blocks the reader, whose pongs
//     keep the connection alive.
//   - A message's entry key is team/channel/ts. The two events that a mention gives, and every redelivery, are the same entry.
//   - The conversation type decides what a place is, and not the first letter of an id: newer ids of group DMs begin with C too. Only
//     where an event names no type, a D is a DM.
//   - Payloads are decoded by this package, field by field. The client library refuses a whole event for one odd block; here an
//     odd field costs only itself.
//   - What was said while nobody listened is asked for, at start and after each gap, and goes the same way under the same keys.
//   - Accept never calls the network: a person's name and standing are looked up by the session's worker (Names, Person), a file's
//     bytes by Fetch, what stood in a thread before by Before.
//   - The token goes to the API's own host and to slack.com's alone.
//   - No error and no log line carries a token, the ticket of a connection, or a response URL.
//
// Addresses are "slack:T1/D1" (a DM), "slack:T1/D1/TS" (a thread in it), "slack:T1/C1/TS" (a thread in a channel or group DM) and
// "slack:T1/C1" (a channel as a whole, which only slash commands come from); their text is on disk. The team is
// that of the bot's token, since events of a shared channel name their author's.
//
// Goroutines of an idle conduit: the one that reads the connection, one that accepts, one that writes acks, one that waits for a gap to
// be looked at, one that waits for Quit, and the one in which the couriers' Run waits. Run owns them all.
//
// # Where things are
//
//	the whole            slack (Config, New, Run), address, identify, inspect, errors, notes
//	the socket           socket, wire, frame, gate (how often it is opened), intake, ack
//	translate in         in, change, slash, spot, text, quote, object (decoding), names
//	what is asked for    missed, look (what was said meanwhile), history (what stands above), people, readers, fetch, dms
//	translate out        out, mrkdwn, mrkdwntext, span, buttons, fold, outfile
//	post                 post, aside (for one person's eyes), upload, find, revise
//	signs                presence, status, silence
//	the Web API          api, ask
package slack
