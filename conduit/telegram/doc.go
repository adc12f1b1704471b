// Package telegram is the conduit to Telegram: it long-polls the Bot API and delivers answers with sendMessage.
//
//	getUpdates ──batch──► translate ──Inbound──► Accept ──all durable──► offset = last id + 1 ──► getUpdates
//	turn_complete, notice ──► Couriers ──Part──► Post ──► sendMessage
//
// The laws of polling:
//
//   - The offset moves, and Telegram forgets a batch, only once every update of it is durable or ignored. No offset is stored: a
//     restart begins without one, gets what is unconfirmed, and the store's dedupe does the rest.
//   - Updates are decoded one by one. One that can't be is set aside in the store, counted and confirmed; it never holds up those
//     behind it.
//   - What belongs together (an album, a cut paste, a comment with its forwards) is told from the updates alone, see gatherer.
//   - A conversation keeps the address that it began with. What its chat has become since is known to moves, and to nobody above.
//   - Ids are not compared with each other: they may go down, when a bot had no updates for a week (docs: Update.update_id).
//   - Whoever else polls with the same token, whatever webhook is set, however long Telegram is away: polling goes on by itself
//     afterwards. Only refused credentials end Run.
//
// Telegram can't be asked what it shows, so the Poster is no conduit.Finder: a part whose outcome is unknown is repeated once in a
// life, with a label.
//
// Goroutines of Run: the poller and one that watches for Quit, one that learns with getMe who the bot is and sets its menus, one that
// owns the couriers; while buttons are pressed, a bounded number that answers them. The first poll starts with Run and waits for none of them.
//
// The token is part of every URL of the Bot API. It stays within a secret.String, the client's errors are redacted where they arise,
// and redirects are not followed, since the Referer of the next request would carry it.
//
// Where a comment names a source: "docs" are core.telegram.org/bots, "server" is the published source of Telegram's Bot API server.
//
// # Where things are
//
//	the whole            telegram (Config, New, Run), address, inspect, credentials
//	polling              poll, take (a batch), poison, trouble, unreached, backoff
//	translate in         update (its JSON), in, reading (how it calls the bot), gather, media, quote, member, press, touch
//	what is remembered   moves, standing, people
//	translate out        out (Poster), revise, render (Renderer), html, htmltext, htmltable, names (of files), fold, buttons
//	files, signs, menus  files, presence, commands
//	the Bot API          api, exchange, apierror, pace
package telegram
