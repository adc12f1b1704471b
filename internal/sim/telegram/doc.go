// Package telegram is a strict local stand-in for Telegram's Bot API and for the people behind it. It speaks plain HTTP
// through net/http, so the real client library talks to it over loopback or, inside a testing/synctest bubble, over pipes.
//
// It is strict where the real server is: HTML that Telegram refuses is refused with Telegram's words, a text too long is
// too long, a poll's offset confirms for good, a second poll ends the first one. It never goes easy on a bot because a
// test is watching. What it doesn't know it says: unknown methods, chats, messages and files are errors.
//
// Three sides meet in a [Server]:
//
//   - the API: [Server.Handler] serves /bot<TOKEN>/<method> and /file/bot<TOKEN>/<path>, with [Server.Faults] in front;
//   - the people: [Server.AddUser], [Server.Say], [Server.Edit], [Server.Block] and the like cause updates;
//   - the witness: [Server.Transcript], [Server.Chat], [Server.WaitFor], [Server.Calls], [Server.Polls] tell what the
//     people saw and what the bot asked for.
//
// Where each rule comes from is noted beside it: "source" is Telegram's published server or client library, "docs" the
// official documentation.
//
// # Where things are
//
//	the server           server, http, methods (the table), params, errors, limit, webhook
//	the people           people, say, callback, privacy, member
//	updates              queue, poll
//	what the bot does    send, edit, sign, command, file, place
//	texts                text, clean, html, htmltag, entity, detect
//	what is seen         chat, message, transcript
package telegram
