package slack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"orebot/conduit"
	"orebot/core/access"
	"orebot/core/artifact"
	"orebot/core/ledger"
	"orebot/core/models"
	"orebot/core/observe"
	"orebot/core/provider"
	"orebot/core/session"
	"orebot/internal/sim/fault"
	simslack "orebot/internal/sim/slack"
)

// reading lets the session read files and what stood in a thread before.
func reading(r *rig) {
	r.config = func(c *session.Config) {
		p := c.Platforms[Name]
		p.Fetcher, p.Historian = r.api, r.api
		c.Platforms[Name] = p
		c.MaxAttachmentBytes, c.Blobs = 1<<20, noBlobs{}
	}
}

// noBlobs keeps nothing.
type noBlobs struct{}

func (noBlobs) Put(_ context.Context, fill func(io.Writer) error) (string, int64, error) {
	var b bytes.Buffer
	err := fill(&b)
	return "blob:1", int64(b.Len()), err
}

func (noBlobs) Open(context.Context, string) (io.ReadCloser, error) { return nil, errors.New("none") }

// TestO11SignInPage: where Slack shows its sign-in page instead of a file (302, then HTML with 200), whoever shared it is told, the rest
// of the message is answered, and no page reaches the model. Facts A8.8, O.11.
func TestO11SignInPage(t *testing.T) {
	for name, f := range map[string]simslack.SharedFile{
		"a text":       {Name: "notes.txt", MIME: "text/plain", Data: []byte("secret plan"), SignIn: true},
		"a picture":    {Name: "a.png", MIME: "image/png", Data: []byte("\x89PNG\r\n\x1a\n"), SignIn: true},
		"of a page":    {Name: "a.html", MIME: "text/html", Data: []byte("<html>mine"), SignIn: true},
		"untold first": {Name: "b.txt", MIME: "text/plain", Data: []byte("x"), SignIn: true, Check: true},
	} {
		for _, text := range []string{"", "what is this?"} {
			t.Run(name+" "+text, func(t *testing.T) {
				inRigWith(t, simslack.Options{}, reading, func(t *testing.T, r *rig) {
					ann, dm := r.chatOf("ann")
					r.Share(ann, dm, text, []simslack.SharedFile{f})
					time.Sleep(time.Minute)
					all := strings.Join(r.posts(), "\n")
					if !strings.Contains(all, "doesn't let me read `"+f.Name+"`") || strings.Contains(all, "DOCTYPE") {
						t.Errorf("people saw %s", all)
					}
					prompts := r.model.asked()
					if want := min(len(text), 1); len(prompts) != want || strings.Contains(strings.Join(prompts, " "), "<") {
						t.Errorf("the model was asked %q", prompts)
					}
				})
			})
		}
	}
}

// TestFS23LongAnswers: an answer of 100,000 characters is shown without one refusal, and nothing is cut off it. Fact A5.1; report 23.
func TestFS23LongAnswers(t *testing.T) {
	inRig(t, simslack.Options{}, func(t *testing.T, r *rig) {
		ann, dm := r.chatOf("ann")
		var b strings.Builder
		for i := range 14000 {
			fmt.Fprintf(&b, "n%05d ", i)
		}
		r.model.say(func(string) string { return b.String() })
		r.say(ann, dm, "all of it")
		time.Sleep(10 * time.Minute)
		var got []string
		for _, m := range r.Thread(dm, "")[1:] {
			got = append(got, strings.Fields(m.Text)...)
		}
		if !slices.Equal(got, strings.Fields(b.String())) || r.Refused() != 0 {
			t.Errorf("%d of 14000 words, refused %v", len(got), r.Refusals())
		}
	})
}

// TestFS24LongSections: a notice with buttons has a section, which holds 3,000 characters; a longer one loses nothing.
// Fact A5.4; report 24.
func TestFS24LongSections(t *testing.T) {
	onStage(t, simslack.Options{}, func(t *testing.T, s *stage) {
		it := s.notice(long(""))
		it.Offers = []string{"retry"}
		p, r := &poster{api: s.api}, NewRenderer(3)
		for off, n := 0, 0; off < len(it.Source); n++ {
			part, err := r.Part(it, off, conduit.Shape{Posted: n})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := p.Post(t.Context(), s.thread, it, part); err != nil {
				t.Fatal(err)
			}
			off = part.Next
		}
		got := strings.Join(s.posted(s.ch, s.root), " ")
		if words := strings.Fields(got)[1:]; !slices.Equal(words, strings.Fields(long(""))) || s.Refused() != 0 {
			t.Errorf("%d words, refused %v", len(words), s.Refusals())
		}
	})
}

// TestFS25EmptyAnswer: a model that says nothing costs no empty post; people are told. Fact A7.10; report 25.
func TestFS25EmptyAnswer(t *testing.T) {
	for _, answer := range []string{"", " \n\t ", "\x00", "<!-- -->", "\u200b"} {
		inRig(t, simslack.Options{}, func(t *testing.T, r *rig) {
			ann, dm := r.chatOf("ann")
			r.model.say(func(string) string { return answer })
			r.say(ann, dm, "hello?")
			time.Sleep(5 * time.Minute)
			if got := r.posts(); len(got) != 1 || r.Refused() != 0 {
				t.Errorf("%q: posted %q, refused %v", answer, got, r.Refusals())
			}
		})
	}
}

// hostileAnswers are what a model may write to make Slack do something.
var hostileAnswers = []string{
	"<!channel> <!here> <!everyone> <@U1> <@UBOT> <#C1> <!subteam^S1|@ops> <!date^1^{date}^http://x|now>",
	"`<!channel>` and\n```\n<!channel>\n```\n> <!here>\n\n| <!everyone> | b |\n|---|---|\n| <@U1> | 2 |",
	"[<!channel>](https://x.example/<!channel>) [a](javascript:alert(1)) ![i](https://x.example/|<!here>)",
	"&lt;!channel&gt; &amp;lt;!channel&amp;gt; <https://x.example|<!channel>>",
	"@channel @here @everyone @orebot #general",
	"<\u200b!channel> <\x00!channel> <!\u202echannel> \u202e<!channel>\u202c",
	strings.Repeat("<!channel>", 2000),
	"```\n" + strings.Repeat("<!channel> & <@U1>\n", 600),
}

// TestFS27HostileAnswers: nothing that a model writes pings anybody, as an answer, as plain text, or in a file's announcement.
// Fact A5.10; report 27.
func TestFS27HostileAnswers(t *testing.T) {
	for i, answer := range hostileAnswers {
		for _, refused := range []bool{false, true} {
			t.Run(fmt.Sprint(i, refused), func(t *testing.T) {
				prepare := func(r *rig) { r.conduit = func(c *Config) { c.MaxParts = 2 } }
				inRigWith(t, simslack.Options{}, prepare, func(t *testing.T, r *rig) {
					ann := r.AddUser("ann")
					ch := r.AddChannel("dev", ann, "UBOT")
					r.model.say(func(string) string { return answer })
					if refused {
						r.Faults.Next("chat.postMessage", refusal("invalid_blocks"))
					}
					r.say(ann, ch, "@orebot go")
					time.Sleep(time.Minute)
					if len(r.posts()) == 0 {
						t.Error("no answer")
					}
					for _, l := range r.Transcript() {
						if l.User == "UBOT" && len(l.Pings) > 0 {
							t.Errorf("%s pings %v", l, l.Pings)
						}
					}
				})
			})
		}
	}
}

// TestFS62PeopleDontShareADM: two people's DMs are two conversations: neither's words reach the model with the other's. Report 62.
func TestFS62PeopleDontShareADM(t *testing.T) {
	seen := &viewer{}
	prepare := func(r *rig) { r.config = func(c *session.Config) { c.Provider = seen } }
	inRigWith(t, simslack.Options{}, prepare, func(t *testing.T, r *rig) {
		ann, one := r.chatOf("ann")
		ben, two := r.chatOf("ben")
		for range 3 {
			r.say(ann, one, "apple")
			r.say(ben, two, "pear")
		}
		seen.mu.Lock()
		defer seen.mu.Unlock()
		for _, view := range seen.all {
			if strings.Contains(view, "apple") && strings.Contains(view, "pear") {
				t.Errorf("one prompt holds %q", view)
			}
		}
		if len(seen.all) != 6 || !strings.Contains(seen.all[5], "pear|seen|pear|seen|pear") {
			t.Errorf("%q", seen.all)
		}
	})
}

// viewer is a model that notes all that it is shown.
type viewer struct {
	mu  sync.Mutex
	all []string
}

func (v *viewer) Invoke(ctx context.Context, st ledger.State, _ models.Spec, ch chan<- artifact.Artifact, _ ...provider.InvokeOption) error {
	var view []string
	for _, t := range st.Turns() {
		view = append(view, t.Text())
	}
	v.mu.Lock()
	v.all = append(v.all, strings.Join(view, "|"))
	v.mu.Unlock()
	ch <- artifact.Text{Content: "seen"}
	return ctx.Err()
}

// TestFS64Sum: received = answered + noticed + refused + withdrawn, whatever people do and whatever Slack does meanwhile. Report 64.
func TestFS64Sum(t *testing.T) {
	prepare := func(r *rig) {
		r.config = func(c *session.Config) {
			p := c.Platforms[Name]
			p.Policy = access.Policy{Mode: access.Members, AnyPlace: true}
			c.Platforms[Name] = p
		}
	}
	inRigWith(t, simslack.Options{Resend: true}, prepare, func(t *testing.T, r *rig) {
		ann, dm := r.chatOf("ann")
		gus := r.AddUser("gus", simslack.Guest())
		ch := r.AddChannel("dev", ann, gus, "UBOT")
		r.model.think(7 * time.Second)
		r.Faults.Next("chat.postMessage", fault.Fault{Status: 502, Body: "<html>"}, fault.Fault{Cut: true}, fault.Fault{Status: 429, Retry: 9 * time.Second})
		for i := range 20 {
			ts := r.Say(ann, dm, fmt.Sprint("q", i))
			r.Say(gus, ch, "@orebot me too")
			if i%5 == 2 {
				r.Delete(dm, ts)
			}
			if i%7 == 3 {
				r.Cut()
			}
			time.Sleep(3 * time.Second)
		}
		time.Sleep(30 * time.Minute)
		sum := 0.0
		for _, how := range []string{"answered", "noticed", "refused", "withdrawn", "undeliverable"} {
			sum += r.counts.get(observe.Messages, Name, how)
		}
		if sum != 40 {
			t.Errorf("%v ends of 40 messages: %v", sum, r.counts.n)
		}
	})
}

// TestCase09WhatIsTakenBack: a question that waits and is deleted is never asked; one that waits and is edited is asked as it stands then,
// and one that is being answered begins anew; a deletion of it posts nothing. FS 41, 49. Facts A2.8, D.1; reports 41, 49.
func TestCase09WhatIsTakenBack(t *testing.T) {
	for name, c := range map[string]struct {
		change func(r *rig, dm, first, second string)
		posts  []string
	}{
		"a waiting one is deleted":   {func(r *rig, dm, _, second string) { r.Delete(dm, second) }, []string{"re: one"}},
		"a waiting one is edited":    {func(r *rig, dm, _, second string) { r.Edit(dm, second, "2") }, []string{"re: one", "re: 2"}},
		"the running one is edited":  {func(r *rig, dm, first, _ string) { r.Edit(dm, first, "1") }, []string{"re: 1", "re: two"}},
		"the running one is deleted": {func(r *rig, dm, first, _ string) { r.Delete(dm, first) }, []string{"re: two"}},
	} {
		t.Run(name, func(t *testing.T) {
			inRig(t, simslack.Options{}, func(t *testing.T, r *rig) {
				ann, dm := r.chatOf("ann")
				r.model.think(10 * time.Second)
				first := r.Say(ann, dm, "one")
				time.Sleep(2 * time.Second)
				second := r.Say(ann, dm, "two")
				time.Sleep(2 * time.Second)
				c.change(r, dm, first, second)
				time.Sleep(5 * time.Minute)
				var want []string
				for _, p := range c.posts {
					want = append(want, dm+": "+p)
				}
				r.wantPosts(want...)
			})
		})
	}
}
