package e2e

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"orebot/internal/sim/ollama"
	"orebot/internal/sim/slack"
)

// row is a command, what the bot says to it behind one question and its answer, and where that differs. In the texts, {p} is the
// prefix, {who} the author and … anything. What has no mark is an answer.
type row struct {
	names      string // the name and its aliases
	args       string
	mark       string // "ℹ️" or "✅"
	says       string
	shared     string // the same where several people may write; empty: the same
	sharedMark string
	button     string
	alone      bool // told its author alone, where Slack can
	public     bool // not in answer to a slash command alone: a file, an answer
	thread     bool // means a conversation
	admin      bool // in a shared place refused to who isn't an admin
}

const (
	told, done = "ℹ️", "✅"
	instructed = "From the next message on I follow that. `{p}system reset` brings the default back."
	noLink     = "Only an admin can link a conversation of several people."
	noAdmin    = "Only an admin can delete a conversation of several people."
)

// helped is help's text, with the lines that not every place has.
func helped(mute, link, forget, end string) string {
	return "• `{p}help`: what you can write\n• `{p}new`: a fresh conversation, in which what follows is asked; undo returns to this one\n" +
		"• `{p}stop`: stop the answer and withdraw your waiting messages\n• `{p}retry`: answer the last message again\n" +
		"• `{p}undo`: take back the last exchange\n• `{p}model …`: show or change the model here\n• `{p}models`: the installed models\n" +
		"• `{p}system …`: show or change my instructions here\n" +
		"• `{p}think …`: how hard the model thinks: auto, off, low, medium, high; show or hide its reasoning\n" +
		"• `{p}compact`: summarise older turns now\n" + mute + "• `{p}status`: the model, the context used, what waits\n" +
		"• `{p}usage`: tokens of this conversation and yours\n• `{p}whoami`: the ids an operator needs\n" + link +
		"• `{p}unlink`: end this chat's link\n• `{p}export`: what was shown here, as a file\n" +
		forget + "\n" + end
}

// rows is every command with its aliases. To add one is to add a row.
func rows() []row {
	return []row{
		{names: "help commands HELP help?", mark: told,
			says: helped("", "• `{p}link …`: join this conversation to a chat on the other platform; history N shows what was said in it\n",
				"• `{p}forget …`: delete this conversation for good\n", "Anything else is a question."),
			shared: helped("• `{p}mute`: answer here only when called\n• `{p}follow`: answer here without being called again\n", "", "",
				"Mention me or reply to me to ask. What is written here without calling me I may read as context for my next answer.")},
		{names: "new reset clear restart", mark: done, says: "A fresh conversation begins. `{p}undo` returns to the one before.", button: "Undo", thread: true},
		{names: "stop cancel abort Stop!", mark: told, says: "Nothing is being answered here.", thread: true},
		{names: "retry regenerate redo again", says: "re: hello", public: true, thread: true},
		{names: "undo", mark: done, says: "Taken back: “hello”", thread: true},
		{names: "model", mark: told, says: "This conversation uses `test`. `{p}models` lists what is installed, `{p}model NAME` changes it."},
		{names: "model", args: "other", mark: done, says: "From the next message on, `other:latest` answers here."},
		{names: "model", args: "hf.co/a/B:Q4_0", mark: done, says: "From the next message on, `hf.co/a/b:q4_0` answers here."},
		{names: "model", args: "othre", mark: told, says: "`othre` isn't installed. Near it: `other:latest`. `{p}model other:latest`"},
		{names: "model", args: "zzzzzzzz", mark: told, says: "`zzzzzzzz` isn't installed. Here: `test:latest`, `other:latest`, `hf.co/a/b:q4_0`. `{p}model test:latest`"},
		{names: "models", mark: told, says: "• `test:latest`, 131,072 tokens (used here)\n• `other:latest`, 4,096 tokens\n• `hf.co/a/b:q4_0`, 4,096 tokens"},
		{names: "system persona prompt", mark: told, says: "My instructions, the default ones:\n\n> You are an assistant in a chat. …", thread: true},
		{names: "system persona prompt", args: "Be brief.", mark: done, says: instructed, thread: true},
		{names: "system", args: "\u200b \u2060\n\ufeff", mark: told, says: "My instructions, the default ones:\n\n> …", thread: true},
		{names: "system", args: "\u200fענה בעברית 🙂\n```\nok\n```", mark: done, says: instructed, thread: true},
		{names: "system", args: strings.Repeat("x", 4001), mark: told, says: "That is 4,001 bytes; instructions may have 4,000.", alone: true, thread: true},
		{names: "system prompt", args: "reset", mark: done, says: "The default instructions hold again.", thread: true},
		{names: "think reasoning", mark: told,
			says: "Thinking is `auto`. `{p}think auto|off|low|medium|high` changes it; `{p}think show` shows it with the answers, folded, `{p}think hide` doesn't."},
		{names: "think reasoning", args: "LOW", mark: done, says: "Thinking is `low` from the next message on, as far as the model can."},
		{names: "think", args: "show", mark: done, says: "From the next answer on I show the model's reasoning with it, folded."},
		{names: "think", args: "hide", mark: done, says: "I don't show the model's reasoning."},
		{names: "think", args: "very hard", mark: told, says: "I know `auto`, `off`, `low`, `medium`, `high`, and `show` and `hide`.", alone: true},
		{names: "mute", mark: told, says: "In a private chat I always answer.", thread: true,
			sharedMark: done, shared: "I answer here only when called. `{p}follow` changes that."},
		{names: "follow", mark: told, says: "In a private chat I always answer.", thread: true,
			sharedMark: done, shared: "I answer here again without being called."},
		{names: "compact", mark: told, says: "There is nothing older to summarise yet.", thread: true},
		{names: "status context info", mark: told, says: "• Model: `test`, thinking `auto`\n• Context: about … of 32,768 tokens\n• Queue: nothing"},
		{names: "usage tokens", mark: told, says: "• This conversation: … tokens in … answer…\n• You, today: … answer…\n• You, the last 30 days: … answer…", alone: true},
		{names: "whoami id", mark: told, says: "• You: `{who}`\n• This conversation: `…` at `…`",
			shared: "• You: `{who}`\n• This place: `…`\n• This conversation: `…` at `…`", alone: true},
		{names: "export", says: "[file] conversation-….md…", public: true, thread: true},
		{names: "forget", mark: told, says: "This deletes the conversation for good, with the earlier ones that `{p}undo` returns to. " +
			"The messages that you see here stay; delete them yourself. `{p}forget yes` within 5 minutes does it.", thread: true, admin: true},
		{names: "forget", args: "yes", mark: told, says: "There is nothing to confirm. `{p}forget` comes first, and then waits for five minutes.", thread: true, admin: true},
		{names: "link", mark: told, says: "…link…", shared: noLink, alone: true, thread: true},
		{names: "link", args: "nonsense", mark: told, says: "That is no link code. `{p}link` makes one, to be written on the other platform.", shared: noLink,
			alone: true, thread: true},
		{names: "unlink", mark: told, says: "This chat isn't linked. `{p}link` does that.", thread: true},
		{names: "start", mark: told, says: "Hello! Write your question, and I answer. `{p}help` says what else you can write.",
			shared: "Hello! Write your question together with my name, or as a reply to me. `{p}help` says what else you can write."},
		{names: "start", args: "abc", mark: told, says: "Hello! Write your question, and I answer. `{p}help` says what else you can write.",
			shared: "Hello! Write your question together with my name, or as a reply to me. `{p}help` says what else you can write."},
	}
}

// expected is what a venue shows of a row: everything the bot says to one command given there.
func (v venue) expected(r row, command, who string) (all []string) {
	says, mark := r.says, r.mark
	if !v.private && r.shared != "" {
		says, mark = r.shared, cmp.Or(r.sharedMark, r.mark)
	}
	alone, button := r.alone && !v.private || v.whisper && !r.public, r.button
	switch _, args, _ := strings.Cut(command, " "); {
	case v.apart && (r.thread || args != "" && r.names != "start"):
		name, _, _ := strings.Cut(r.names, " ")
		says, mark, alone, button = "Slack can't run slash commands in threads: write `!"+name+"` there.", told, true, ""
	case r.admin && !v.private:
		says, mark, alone, button = noAdmin, told, true, ""
	}
	text := strings.NewReplacer("{p}", v.prefix, "{who}", who).Replace(says)
	if v.prefix == "/" { // Telegram sets code and quotations as such, marks only what is out of the ordinary, and shows buttons apart
		text, button, alone = strings.NewReplacer("`", "", "> ", "").Replace(text), "", false
		mark = strings.TrimPrefix(mark, told)
	}
	if mark != "" {
		text = mark + " " + text
	}
	if button != "" {
		text += "\n" + button
	}
	if alone {
		text = "(to you alone) " + text
	}
	if v.whisper {
		all = append(all, "(to you alone) `/orebot …`")
	}
	if strings.HasPrefix(text, "[file]") && v.prefix == "!" {
		all = append(all, "📄 Here is `conversation-….md`, … bytes.")
	}
	return append(all, text)
}

// alike reports whether the bot said what was expected, in whatever order; … stands for anything.
func alike(want, got []string) bool {
	rest := slices.Clone(got)
	for _, w := range want {
		parts := strings.Split(w, "…")
		for i, p := range parts {
			parts[i] = regexp.QuoteMeta(p)
		}
		re := regexp.MustCompile("(?s)^" + strings.Join(parts, ".*") + "$")
		i := slices.IndexFunc(rest, func(g string) bool { return re.MatchString(strings.TrimSpace(g)) })
		if i < 0 {
			return false
		}
		rest = slices.Delete(rest, i, i+1)
	}
	return len(rest) == 0
}

// cell is one command at one venue.
type cell struct {
	venue, given string
	seat         *seat
	before       int // what the bot had said before
	want         []string
	first        func() // what is asked too before the command; nil: nothing
}

func (c *cell) got() []string { return c.seat.saw()[c.before:] }

// fill gives every cell's command once each conversation has had its first answer, and waits for what is expected.
func (w *world) fill(cells []*cell, give func(c *cell)) {
	for _, c := range cells {
		if c.seat.begin != nil {
			eventually(w.t, c.venue+": a first answer", func() bool { return len(c.seat.saw()) > 0 })
			c.before = len(c.seat.saw())
		}
		if c.first != nil {
			c.first()
		}
	}
	for _, c := range cells {
		if c.first != nil {
			eventually(w.t, c.venue+": a second answer", func() bool { return len(c.got()) > 0 })
			c.before = len(c.seat.saw())
		}
	}
	for _, c := range cells {
		give(c)
	}
	tick, late := time.NewTicker(10*time.Millisecond), time.Now().Add(patience)
	defer tick.Stop()
	for i := 0; i < len(cells) && time.Now().Before(late); {
		if len(cells[i].got()) >= len(cells[i].want) {
			i++
			continue
		}
		<-tick.C
	}
	eventually(w.t, "all came to an end", w.idle)
	for _, c := range cells {
		if got := c.got(); !alike(c.want, got) {
			w.t.Errorf("%s, %.60q: the bot says\n%q, want\n%q", c.venue, c.given, got, c.want)
		}
	}
}

// spelled is a text without what a platform shows otherwise than it was written.
func spelled(text string) string {
	return strings.Join(strings.Fields(strings.NewReplacer("/", " slash ", "`", " tick ").Replace(text)), " ")
}

// rowOf returns the row of a command's name or alias without arguments.
func rowOf(name string) row {
	return rows()[slices.IndexFunc(rows(), func(r row) bool { return r.args == "" && slices.Contains(strings.Fields(r.names), name) })]
}

// commandWorld is one in which Slack leaves a busy machine time to acknowledge hundreds of slash commands at once.
func commandWorld(t *testing.T) *world {
	w := newWorld(t, options{slack: slack.Options{AckDeadline: patience}, answer: func(r ollama.Request) ollama.Reply { return ollama.Say("re: ", spelled(unlabelled(r.Last()))) }, models: []ollama.Model{{Name: "other", Context: 4096, Capabilities: []string{"completion"}},
		{Name: "hf.co/a/b:q4_0", Context: 4096, Capabilities: []string{"completion"}}}})
	w.level = "info"
	return w
}

// Every command and each alias, at every kind of place, says what it is to say, in the platform's manner, and once.
func TestEveryCommandEverywhere(t *testing.T) {
	w := commandWorld(t)
	d := w.start().ready()
	var cells []*cell
	for _, v := range venues() {
		for _, r := range rows() {
			for name := range strings.FieldsSeq(r.names) {
				given := strings.TrimSuffix(name+" "+r.args, " ")
				c := &cell{venue: v.name, given: given, seat: v.open(w, len(cells))}
				c.want = v.expected(r, given, c.seat.who)
				if v.name == "a caption" && strings.HasPrefix(r.names, "new ") { // its file is what is asked in the fresh conversation
					c.want = append(c.want, "re: File …")
				}
				if c.seat.begin != nil {
					c.seat.begin("hello")
				}
				cells = append(cells, c)
			}
		}
	}
	w.fill(cells, func(c *cell) { c.seat.give(c.given) })
	if code := d.stop(); code != 0 || w.slack.Refused() != 0 {
		t.Errorf("exit code %d; refused %v", code, w.slack.Refusals())
	}
	if len(cells) < 600 {
		t.Errorf("only %d cells", len(cells))
	}
}

// What is no command by the grammar is a question, and what is one without a prefix is a command, each at its places.
func TestWhatIsNoCommandIsAQuestion(t *testing.T) {
	w := commandWorld(t)
	w.start().ready()
	var cells []*cell
	add := func(v venue, text string, want ...string) {
		s := v.open(w, len(cells))
		s.begin("hello")
		cells = append(cells, &cell{venue: v.name, given: text, seat: s, want: want})
	}
	help := rowOf("help")
	for _, v := range venues() {
		if v.whisper || v.name == "a caption" || v.name == "a command of a group" {
			continue
		}
		for _, text := range []string{"/fsck now", "/etc/fstab is broken", "!important: read this", "stop it please", "new here?", "help me with X",
			"/etc/fstab", "!!!", "/ is the root", "!(a && b)", "I said /stop", "!wow, nice", "/нет", "`/stop`", "```\n/stop\n```", "undo", "please !retry", "stop now",
			"arrêter", "停止", "🛑"} {
			add(v, text, "re: "+spelled(text))
		}
		mention := !v.private && v.name != "a thread of a channel"
		for _, word := range []string{"help", "Help!", "HELP."} {
			if v.private || mention {
				add(v, word, v.expected(help, "help", "")...)
			} else {
				add(v, word, "re: "+word)
			}
		}
		for i, word := range []string{"stop", "cancel", "Stop!", "new", "reset", "retry", "status"} {
			if mention || v.private && i < 3 {
				add(v, word, v.expected(rowOf(word), word, "")...)
			} else {
				add(v, word, "re: "+word)
			}
		}
		slip := row{mark: told, says: "I don't know `{p}hepl`. Did you mean `{p}help`?", button: "Help", alone: true}
		add(v, "!hepl", v.expected(slip, "hepl", "")...)
		slip.says = "I don't know `{p}retyr`. Did you mean `{p}retry`?"
		slip.button = "Ask again"
		add(v, "!retyr my question", v.expected(slip, "retyr", "")...)
		slip.says, slip.button = "I don't know `{p}frobnicate`. `{p}help` lists what you can write.", ""
		add(v, "!frobnicate", v.expected(slip, "frobnicate", "")...)
	}
	w.fill(cells, func(c *cell) { c.seat.write(c.given) })
}
