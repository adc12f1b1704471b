package slash

import (
	"slices"
	"strings"

	"orebot/core/words"
)

// Entry is a command as it is listed.
type Entry struct {
	Name string // without a prefix
	Line string // what it does, in a few words
}

// spec is what is known of a command beside what it does.
type spec struct {
	name    string
	aliases []string
	line    string
	now     bool // runs beside a turn
	args    bool // takes something behind its name
	thread  bool // means a conversation, which Slack's slash commands can't name in a channel
	hidden  bool // not in help
	shared  bool // means nothing in a private chat

	look string // the line for those who may only look
}

// specs lists the commands in the order of help.
func specs() []spec {
	return []spec{
		{name: "help", aliases: []string{"commands"}, line: "what you can write", now: true},
		{name: "new", aliases: []string{"reset", "clear", "restart"}, line: "a fresh conversation, in which what follows is asked; undo returns to this one", thread: true},
		{name: "stop", aliases: []string{"cancel", "abort"}, line: "stop the answer and withdraw your waiting messages", now: true, thread: true},
		{name: "retry", aliases: []string{"regenerate", "redo", "again"}, line: "answer the last message again", thread: true},
		{name: "undo", line: "take back the last exchange", thread: true},
		{name: "model", args: true, line: "show or change the model here", look: "show the model here"},
		{name: "models", line: "the installed models", now: true},
		{name: "system", aliases: []string{"persona", "prompt"}, args: true, line: "show or change my instructions here", thread: true},
		{name: "think", aliases: []string{"reasoning"}, args: true, line: "how hard the model thinks: auto, off, low, medium, high; show or hide its reasoning",
			look: "how hard the model thinks"},
		{name: "compact", line: "summarise older turns now", thread: true},
		{name: "mute", line: "answer here only when called", thread: true, shared: true},
		{name: "follow", line: "answer here without being called again", thread: true, shared: true},
		{name: "status", aliases: []string{"context", "info"}, line: "the model, the context used, what waits", now: true},
		{name: "usage", aliases: []string{"tokens"}, line: "tokens of this conversation and yours", now: true},
		{name: "whoami", aliases: []string{"id"}, line: "the ids an operator needs", now: true},
		{name: "link", args: true, line: "join this conversation to a chat on the other platform; history N shows what was said in it", thread: true},
		{name: "unlink", line: "end this chat's link", thread: true},
		{name: "export", line: "what was shown here, as a file", now: true, thread: true},
		{name: "forget", args: true, line: "delete this conversation for good", thread: true},
		{name: "start", args: true, line: "the greeting", now: true, hidden: true},
	}
}

// Menu returns the commands that a platform should offer: ten in a private chat, four where several people write.
func Menu(private bool) []Entry {
	names := []string{"new", "stop", "retry", "help"}
	if private {
		names = []string{"new", "stop", "retry", "undo", "model", "system", "think", "status", "export", "help"}
	}
	out := make([]Entry, len(names))
	for i, name := range names {
		sp, _ := find(name)
		out[i] = Entry{sp.name, sp.line}
	}
	return out
}

// Offered reports whether a name, or the command that it is an alias of, stands in that menu.
func Offered(private bool, name string) bool {
	sp, ok := find(name)
	return ok && slices.ContainsFunc(Menu(private), func(e Entry) bool { return e.Name == sp.name })
}

// find returns the command of a name or alias, in small letters.
func find(name string) (spec, bool) {
	for _, sp := range specs() {
		if sp.name == name || slices.Contains(sp.aliases, name) {
			return sp, true
		}
	}
	return spec{}, false
}

// near returns the name or alias within two letters of a word, the closest one; empty where there is none. Of a word so short that
// two letters are all of it, none is.
func near(word string) string {
	best, at := "", 3
	for _, sp := range specs() {
		for _, name := range append([]string{sp.name}, sp.aliases...) {
			if d := words.Distance(word, name); d < at && d < len(word) {
				best, at = name, d
			}
		}
	}
	return best
}

// closest returns up to n of the names that are most like a word, the closest first.
func closest(word string, names []string, n int) []string {
	type scored struct {
		name string
		d    int
	}
	low := strings.ToLower(word)
	var all []scored
	for _, name := range names {
		d := words.Distance(low, strings.ToLower(name))
		base, _, _ := strings.Cut(name, ":")
		d = min(d, words.Distance(low, strings.ToLower(base)))
		if strings.Contains(strings.ToLower(name), low) {
			d = min(d, 1)
		}
		if d <= max(2, len(word)/2) {
			all = append(all, scored{name, d})
		}
	}
	slices.SortStableFunc(all, func(a, b scored) int { return a.d - b.d })
	var out []string
	for _, s := range all[:min(n, len(all))] {
		out = append(out, s.name)
	}
	return out
}
