package session_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"orebot/core/artifact"
	"orebot/core/cognitive"
	"orebot/core/ledger"
	"orebot/core/session"
	"orebot/core/session/storetest"
)

// files are what can be fetched, by name; "" stands for all others.
type files map[string]string

func (f files) Fetch(ctx context.Context, _ session.Address, att session.Attachment, w io.Writer) (session.Attachment, error) {
	body, ok := f[att.Name]
	if !ok {
		body = f[""]
	}
	switch body {
	case "STALL":
		for range 3 {
			if _, err := w.Write([]byte("some ")); err != nil {
				return att, err
			}
			time.Sleep(20 * time.Second)
		}
		<-ctx.Done()
		return att, &session.FetchError{Retry: true, Text: "The file stays away.", Err: ctx.Err()}
	case "HANG":
		<-ctx.Done()
		return att, ctx.Err()
	case "LATER": // is a file once it has been waited for
		f[att.Name], f["since"] = "WAITED", time.Now().Format(time.RFC3339Nano)
		return att, &session.FetchError{Retry: true, After: 40 * time.Second, Text: "not yet"}
	case "WAITED":
		if at, _ := time.Parse(time.RFC3339Nano, f["since"]); time.Since(at) < 40*time.Second {
			return att, &session.FetchError{Text: "it wasn't waited for"}
		}
		body = "at last"
	case "FLOOD":
		return att, &session.FetchError{Retry: true, After: 5 * time.Minute, Text: "The platform doesn't give me " + att.Name + " just now."}
	case "AGAIN":
		f[att.Name] = "at last"
		return att, &session.FetchError{Retry: true, Text: "not yet"}
	case "GONE":
		return att, &session.FetchError{Text: "`" + att.Name + "` is gone."}
	}
	for part := range slices.Chunk([]byte(body), 7) {
		if _, err := w.Write(part); err != nil {
			return att, err
		}
	}
	return att, nil
}

// A file of which nothing comes for half a minute is given up, one that comes slowly isn't before its time; where less patience is
// configured, sooner.
func TestASilentFileIsGivenUp(t *testing.T) {
	for _, c := range []struct {
		body     string
		patience time.Duration
		after    time.Duration
		line     string
	}{
		{"HANG", 2 * time.Minute, 2*time.Minute + 3*time.Second, "end I couldn't fetch `a.txt`; please send it again, or paste the text."},
		{"HANG", time.Second, 5 * time.Second, "end I couldn't fetch `a.txt`; please send it again, or paste the text."},
		{"STALL", time.Minute, 70 * time.Second, "end The file stays away."},
	} {
		bubble(t, func(t *testing.T, mem *storetest.Memory) {
			b := start(t, mem, says("ok"), fetching(files{"a.txt": c.body}), func(cfg *session.Config) { cfg.RetryFor = c.patience })
			begin := time.Now()
			in := msg(dm, "slack:U1", "look", attaching("a.txt"))
			b.accept(in)
			for len(b.log(dm)) < 3 && time.Since(begin) < time.Hour {
				time.Sleep(time.Second)
				synctest.Wait()
			}
			equal(t, c.body, b.log(dm), []string{"user look", "assistant ok", c.line})
			if took := time.Since(begin).Truncate(time.Second); took > c.after+10*time.Second || took < c.after-10*time.Second {
				t.Errorf("%s: told after %s, want %s", c.body, took, c.after)
			}
			b.stopLife()
		})
	}
}

// A platform that says when to come again is taken at its word, within a bound for all files of a turn: beyond it the text is answered at
// once, and what couldn't be read is said.
func TestAFileThatIsToWait(t *testing.T) {
	for _, c := range []struct {
		files    files
		patience time.Duration
		after    time.Duration // of the answer
		log      []string
	}{
		{files{"a.txt": "LATER"}, time.Hour, 40 * time.Second, []string{"user look|File a.txt:\n\n```txt\nat last\n```", "assistant ok"}},
		{files{"a.txt": "FLOOD"}, time.Hour, 0, []string{"user look", "assistant ok", "end The platform doesn't give me a.txt just now."}},
		{files{"a.txt": "LATER"}, 30 * time.Second, 0, []string{"user look", "assistant ok", "end not yet"}},
		{files{"a.txt": "HANG", "b.txt": "HANG", "c.txt": "HANG"}, time.Hour, 3 * time.Minute, []string{"user look", "assistant ok",
			"end I couldn't fetch `a.txt`; please send it again, or paste the text.", "end I couldn't fetch `b.txt`; please send it again, or paste the text.",
			"end I couldn't fetch `c.txt`; please send it again, or paste the text."}},
	} {
		bubble(t, func(t *testing.T, mem *storetest.Memory) {
			names := slices.Sorted(maps.Keys(c.files))
			b := start(t, mem, says("ok"), fetching(c.files), func(cfg *session.Config) { cfg.RetryFor = c.patience })
			begin := time.Now()
			in := msg(dm, "slack:U1", "look", attaching(names...))
			b.accept(in)
			for len(b.log(dm)) < 2 && time.Since(begin) < time.Hour {
				time.Sleep(time.Second)
				synctest.Wait()
			}
			if took := time.Since(begin); took > c.after+20*time.Second || took < c.after {
				t.Errorf("%v: answered after %s, want %s", c.files, took, c.after)
			}
			equal(t, names[0], b.log(dm), c.log)
			b.stopLife()
		})
	}
}

// blobs keep pictures in memory.
type blobs struct{ kept map[string]string }

func (b *blobs) Put(_ context.Context, fill func(io.Writer) error) (string, int64, error) {
	var buf bytes.Buffer
	if err := fill(&buf); err != nil {
		return "", 0, err
	}
	url := fmt.Sprintf("blob:%d", len(b.kept))
	b.kept[url] = buf.String()
	return url, int64(buf.Len()), nil
}

func (b *blobs) Open(context.Context, string) (io.ReadCloser, error) { return nil, errors.New("no") }

func side(change func(*session.Platform)) func(*session.Config) {
	return func(c *session.Config) {
		p := c.Platforms["slack"]
		change(&p)
		c.Platforms["slack"] = p
	}
}

func fetching(f files) func(*session.Config) {
	return func(c *session.Config) {
		side(func(p *session.Platform) { p.Fetcher = f })(c)
		c.Blobs = &blobs{map[string]string{}}
		c.MaxAttachmentBytes = 1 << 20
	}
}

func attaching(names ...string) func(*session.Inbound) {
	return func(in *session.Inbound) {
		for _, name := range names {
			in.Attachments = append(in.Attachments, session.Attachment{ID: name, Name: name})
		}
	}
}

const png = "\x89PNG\r\n\x1a\n and the rest"

func TestFilesBecomePartOfTheTurn(t *testing.T) {
	utf16 := "\xff\xfeh\x00i\x00"
	for _, c := range []struct {
		name, text string
		files      files
		names      []string
		want       []string // the log
	}{
		{"a text", "look", files{"a.go": "package a\r\n"}, []string{"a.go"}, []string{"user look|File a.go:\n\n```go\npackage a\n```", "assistant ok"}},
		{"only a text", "", files{"a.txt": "x"}, []string{"a.txt"}, []string{"user File a.txt:\n\n```txt\nx\n```", "assistant ok"}},
		{"a fence within", "", files{"a.md": "```\n````x"}, []string{"a.md"}, []string{"user File a.md:\n\n`````md\n```\n````x\n`````", "assistant ok"}},
		{"a hostile name", "", files{"": "x"}, []string{"../../`\n# x.txt"}, []string{"user File # x.txt:\n\n```txt\nx\n```", "assistant ok"}},
		{"UTF-16", "", files{"a.txt": utf16}, []string{"a.txt"}, []string{"user File a.txt:\n\n```txt\nhi\n```", "assistant ok"}},
		{"a byte order mark", "", files{"a.txt": "\xef\xbb\xbfhi"}, []string{"a.txt"}, []string{"user File a.txt:\n\n```txt\nhi\n```", "assistant ok"}},
		{"Latin-1", "", files{"a.txt": "gr\xfc\xdfe \x80 5"}, []string{"a.txt"}, []string{"user File a.txt:\n\n```txt\ngrüße € 5\n```", "assistant ok"}},
		{"an image, whatever its name", "what?", files{"a.txt": png}, []string{"a.txt"}, []string{"user what?", "assistant ok"}},
		{"a table program's", "sum?", files{}, []string{"a.xlsx"}, []string{"user sum?", "assistant ok", "end I can't read .xlsx; text, images and code work."}},
		{"only a table program's", "", files{}, []string{"a.xlsx"}, []string{"end I can't read .xlsx; text, images and code work."}},
		{"binary, whatever its name", "", files{"a.txt": "a\x00b"}, []string{"a.txt"}, []string{"end `a.txt` is neither text nor a picture that I can read."}},
		{"a voice message", "", files{}, []string{"a.ogg"}, []string{"end I can't listen to voice messages; please type."}},
		{"too big", "hi", files{"a.txt": strings.Repeat("x", 1<<20+1)}, []string{"a.txt"}, []string{"user hi", "assistant ok", "end `a.txt` is too big for me; 1 MB is the limit."}},
		{"gone", "hi", files{"a.txt": "GONE"}, []string{"a.txt"}, []string{"user hi", "assistant ok", "end `a.txt` is gone."}},
		{"empty", "hi", files{"a.txt": ""}, []string{"a.txt"}, []string{"user hi", "assistant ok", "end `a.txt` is empty."}},
		{"at the second try", "", files{"a.txt": "AGAIN"}, []string{"a.txt"}, []string{"user File a.txt:\n\n```txt\nat last\n```", "assistant ok"}},
		{"two, one readable", "", files{"a.txt": "x"}, []string{"a.txt", "b.zip"}, []string{"user File a.txt:\n\n```txt\nx\n```", "assistant ok", "end I can't read .zip; text, images and code work."}},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, mem *storetest.Memory) {
				b := start(t, mem, says("ok"), fetching(c.files))
				in := msg(dm, "slack:U1", c.text, attaching(c.names...))
				b.accept(in)
				time.Sleep(time.Minute)
				equal(t, "log", b.log(dm), c.want)
				if st, _ := mem.Address(t.Context(), dm); int(st.Due) != len(c.want) {
					t.Errorf("due is %d, want %d", st.Due, len(c.want))
				}
				b.stopLife()
			})
		})
	}
}

func says(s string) *scripted {
	return &scripted{answer: func(context.Context, int, []ledger.Turn) ([]artifact.Artifact, error) { return text(s), nil }}
}

// A picture is kept before the turn that names it; a model that can't see gets the text, and the chat a line (report 77).
func TestPictures(t *testing.T) {
	for _, c := range []struct {
		text string
		sees bool
		want []string
	}{
		{"what?", true, []string{"user what?", "assistant ok"}},
		{"", true, []string{"user ", "assistant ok"}},
		{"what?", false, []string{"user what?", "assistant ok", "end I couldn't see the image; models that can: llava, moon."}},
		{"", false, []string{"end I couldn't see the image; models that can: llava, moon."}},
	} {
		t.Run(fmt.Sprint(c.text, c.sees), func(t *testing.T) {
			bubble(t, func(t *testing.T, mem *storetest.Memory) {
				kept := &blobs{map[string]string{}}
				p := says("ok")
				b := start(t, mem, p, fetching(files{"a.png": png}), func(cfg *session.Config) {
					cfg.Blobs = kept
					cfg.Vision = func(_ context.Context, model string) (bool, []string, error) {
						return c.sees, []string{"llava", "moon"}, nil
					}
				})
				b.accept(msg(dm, "slack:U1", c.text, attaching("a.png")))
				synctest.Wait()
				equal(t, "log", b.log(dm), c.want)
				if c.sees {
					arts := p.prompts()[0][0].Artifacts
					if img, ok := arts[len(arts)-1].(artifact.Image); !ok || kept.kept[img.URL] != png {
						t.Errorf("artifacts %+v, kept %q", arts, kept.kept)
					}
				}
				b.stopLife()
			})
		})
	}
}

// A file that hangs delays its own thread only, and a deletion of its message ends the wait.
func TestAFileThatHangsDelaysNoOther(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		b := start(t, mem, echo(0), fetching(files{"a.txt": "HANG"}))
		hangs, other := msg(dm, "slack:U1", "x", attaching("a.txt")), msg("slack:T1/D2", "slack:U2", "hi")
		b.accept(hangs)
		b.accept(other)
		synctest.Wait()
		b.ended(other, session.EndAnswered)
		b.accept(deletion(hangs))
		synctest.Wait()
		b.ended(hangs, session.EndWithdrawn)
		slow := msg(dm, "slack:U1", "y", attaching("a.txt"))
		b.accept(slow)
		time.Sleep(10 * time.Minute)
		b.ended(slow, session.EndAnswered)
		log := b.log(dm)
		equal(t, "log", log, []string{"user y", "assistant re: y", "end I couldn't fetch `a.txt`; please send it again, or paste the text."})
		b.stopLife()
	})
}

// inRoom is a message in a channel, of somebody with a name.
func inRoom(call session.Call, name string) func(*session.Inbound) {
	return func(in *session.Inbound) { in.Call, in.Place, in.Author.Name = call, "slack:C1", name }
}

const room = session.Address("slack:T1/C1/1")

func TestWhatWasHeardIsContextOnce(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		p := says("ok")
		b := start(t, mem, p)
		b.accept(msg(room, "slack:U1", "hi", inRoom(session.CallMention, "Ann")))
		synctest.Wait()
		changed := msg(room, "slack:U2", "teh plan", inRoom(session.CallAmbient, "Bob"))
		b.accept(changed)
		gone := msg(room, "slack:U2", "SECRET", inRoom(session.CallAmbient, "Bob"))
		b.accept(gone)
		if r := b.accept(msg(room, "slack:U1", "mine", inRoom(session.CallAmbient, "Ann"))); !r.Heard {
			t.Errorf("receipt %+v", r)
		}
		b.accept(edit(changed, "the plan"))
		b.accept(deletion(gone))
		synctest.Wait()
		for range 2 {
			b.accept(msg(room, "slack:U1", "so?", inRoom(session.CallMention, "Ann")))
			synctest.Wait()
		}
		equal(t, "prompt", p.shown(2), []string{"user hi", "assistant ok", "user the plan", "user mine", "user so?", "assistant ok", "user so?"})
		for i, turn := range p.prompts()[2] {
			if want := map[int]string{0: "Ann", 2: "Bob", 3: "Ann", 4: "Ann"}[i]; turn.Role == ledger.RoleUser && want != "" && turn.Speaker != want {
				t.Errorf("turn %d is spoken by %q, want %q", i, turn.Speaker, want)
			}
		}
		b.accept(edit(changed, "the PLAN"))
		b.accept(msg(room, "slack:U1", "and?", inRoom(session.CallMention, "Ann")))
		synctest.Wait()
		if got := p.shown(3)[2]; got != "user the PLAN" {
			t.Errorf("after the edit of what was heard: %q", got)
		}
		equal(t, "what is left", holds(t, mem, room, "SECRET"), nil)
		b.stopLife()
	})
}

func TestAtMostFiftyHeardMessagesAreTold(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		p := says("ok")
		b := start(t, mem, p)
		b.accept(msg(room, "slack:U1", "hi", inRoom(session.CallMention, "Ann")))
		synctest.Wait()
		for i := range 70 {
			b.accept(msg(room, "slack:U2", fmt.Sprint("h", i), inRoom(session.CallAmbient, "Bob")))
		}
		for range 2 {
			b.accept(msg(room, "slack:U1", "so?", inRoom(session.CallMention, "Ann")))
			synctest.Wait()
		}
		if got := p.shown(1); len(got) != 53 || got[2] != "user h20" || got[51] != "user h69" {
			t.Errorf("%d turns, the first of what was heard is %q", len(got), got[2])
		}
		if n := len(p.prompts()[2]); n != 55 {
			t.Errorf("then %d turns", n)
		}
		b.stopLife()
	})
}

// past is a platform that tells what was said.
type past struct {
	said  []session.Said
	err   error
	hang  bool
	calls int32 // atomic: a look that hangs has a goroutine of its own
}

func (h *past) Before(ctx context.Context, _ session.Inbound, limit int) ([]session.Said, error) {
	atomic.AddInt32(&h.calls, 1)
	if h.hang {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return h.said, h.err
}

func recalling(h *past) func(*session.Config) {
	return side(func(p *session.Platform) { p.Historian = h })
}

func TestWhatStandsAboveIsToldOnce(t *testing.T) {
	said := []session.Said{{Author: session.Author{ID: "slack:U2", Name: "Bob"}, Text: "the build is red", Message: "m1"},
		{Own: true, Text: "I know", Message: "m2"}, {Author: session.Author{ID: "slack:U1"}, Text: "hi", Message: "known"}}
	for _, c := range []struct {
		name, text string
		h          past
		want       []string
	}{
		{"a question", "why?", past{said: said}, []string{"user the build is red", "user I know", "user why?", "assistant ok"}},
		{"a bare mention", "", past{said: said}, []string{"user the build is red", "user I know", "user Please answer what stands above.", "assistant ok"}},
		{"a bare mention with nothing above", "", past{}, []string{"end Hello! Write your question together with my name, or as a reply to me."}},
		{"the platform refuses (report 17)", "why?", past{err: errors.New("no")}, []string{"user why?", "assistant ok", "end I couldn't read what was written here before."}},
		{"the platform hangs", "why?", past{hang: true}, []string{"user why?", "assistant ok", "end I couldn't read what was written here before."}},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, mem *storetest.Memory) {
				b := start(t, mem, says("ok"), recalling(&c.h))
				in := msg(room, "slack:U1", c.text, inRoom(session.CallMention, "Ann"), func(in *session.Inbound) { in.Message = "known" })
				b.accept(in)
				time.Sleep(11 * time.Second)
				equal(t, "log", b.log(room), c.want)
				b.accept(msg(room, "slack:U1", "next", inRoom(session.CallMention, "Ann")))
				time.Sleep(11 * time.Second)
				if n := atomic.LoadInt32(&c.h.calls); c.text != "" && n != 1 {
					t.Errorf("asked %d times", n)
				}
				if c.h.said != nil {
					if r := b.accept(msg(room, "slack:U1", "talk", inRoom(session.CallAmbient, "Ann"))); !r.Heard {
						t.Error("somebody else has written there, and a follow-up isn't merely heard")
					}
				}
				b.stopLife()
			})
		})
	}
}

// A bare mention answers what stands above, in a thread that goes on and as a reply; elsewhere it gets help.
func TestABareMention(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		p := says("ok")
		b := start(t, mem, p)
		b.accept(msg(room, "slack:U1", "hi", inRoom(session.CallMention, "Ann")))
		synctest.Wait()
		b.accept(msg(room, "slack:U2", "why is it red?", inRoom(session.CallAmbient, "Bob")))
		b.accept(msg(room, "slack:U1", " ", inRoom(session.CallMention, "Ann")))
		synctest.Wait()
		equal(t, "prompt", p.shown(1)[2:], []string{"user why is it red?", "user Please answer what stands above."})
		b.accept(msg(dm, "slack:U1", "", quoting("a\n# b")))
		synctest.Wait()
		equal(t, "prompt", p.shown(2), []string{"user In reply to Bob:\n\n> a\n> # b|Please answer what stands above."})
		b.stopLife()
	})
}

func TestDeathAtEveryCommitWithContext(t *testing.T) {
	said := []session.Said{{Author: session.Author{ID: "slack:U2", Name: "Bob"}, Text: "above", Message: "m1"}}
	for _, applied := range []bool{false, true} {
		for first := range 9 {
			for second := range 5 {
				bubble(t, func(t *testing.T, mem *storetest.Memory) {
					p := says("ok")
					in := []session.Inbound{msg(room, "slack:U1", "one", inRoom(session.CallMention, "Ann"), attaching("a.zip")),
						msg(room, "slack:U2", "heard", inRoom(session.CallAmbient, "Bob")), msg(room, "slack:U1", "two", inRoom(session.CallMention, "Ann"))}
					for _, left := range []int{first, second, 1 << 30} {
						c := &crashing{Memory: mem, left: left, applied: applied, change: func(c *session.Config) {
							recalling(&past{said: said})(c)
							fetching(files{})(c)
						}}
						c.life(t, p, in)
					}
					b := &bench{t: t, store: mem}
					counts := map[string]int{}
					for _, line := range b.log(room) {
						counts[line]++
					}
					want := map[string]int{"user above": 1, "user heard": 1, "user one": 1, "user two": 1, "assistant ok": 2, "end I can't read .zip; text, images and code work.": 1}
					delete(counts, "user heard") // where its mention wasn't accepted yet, it was nobody's
					delete(want, "user heard")
					if fmt.Sprint(counts) != fmt.Sprint(want) {
						t.Errorf("%v/%d/%d: %v", applied, first, second, counts)
					}
				})
			}
		}
	}
}

// A draft that passes its check is the answer: promoted in the Batch that ends its messages.
func TestAPromotedDraftIsTheAnswer(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		p := &scripted{answer: func(_ context.Context, n int, _ []ledger.Turn) ([]artifact.Artifact, error) {
			return append(text(fmt.Sprint("try ", n)), artifact.Usage{PromptTokens: 100, CompletionTokens: 10, TotalTokens: 110}), nil
		}}
		b := start(t, mem, p, func(c *session.Config) {
			c.Pattern = cognitive.Verify{Check: func(_ context.Context, answer ledger.Turn) (string, error) {
				if said(answer) == "try 1" {
					return "again", nil
				}
				return "", nil
			}}
		})
		in := msg(dm, "slack:U1", "hi")
		b.accept(in)
		synctest.Wait()
		b.ended(in, session.EndAnswered)
		equal(t, "log", b.log(dm), []string{"user hi", "assistant try 1", "user again", "assistant try 2", "f"})
		if e := b.entry(in); e.EndSeq != 4 {
			t.Errorf("ended by %d", e.EndSeq)
		}
		if st, _ := mem.Address(t.Context(), dm); st.Due != 5 || st.Cursor.Seq != 5 {
			t.Errorf("due %d, cursor %+v", st.Due, st.Cursor)
		}
		if u, err := session.UsageOf(t.Context(), mem, "slack:U1", time.Now()); err != nil || u.Today != (session.Tokens{In: 200, Out: 20, Answers: 1}) {
			t.Errorf("it cost %+v, %v", u.Today, err)
		}
		events := b.events()
		if last := events[len(events)-1]; last != "slack:T1/D1 assistant try 2" {
			t.Errorf("events %q", events)
		}
		b.stopLife()
	})
}
