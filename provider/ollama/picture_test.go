package ollama_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"orebot/core/artifact"
	"orebot/core/ledger"
	"orebot/core/models"
	"orebot/core/provider"
	"orebot/internal/sim/fault"
	sim "orebot/internal/sim/ollama"
	"orebot/provider/ollama"
)

// shelf is the blobs that a test has.
type shelf map[string]string

func (s shelf) Open(_ context.Context, url string) (io.ReadCloser, error) {
	data, ok := s[url]
	if !ok {
		return nil, fmt.Errorf("shelf: %s: %w", url, fs.ErrNotExist)
	}
	return io.NopCloser(strings.NewReader(data)), nil
}

func seeing(s shelf, log io.Writer) func(*ollama.Config) {
	return func(c *ollama.Config) {
		c.Blobs = s
		c.Logger = slog.New(slog.NewTextHandler(log, nil))
	}
}

func show(text string, urls ...string) ledger.Turn {
	t := user(text)
	for _, u := range urls {
		t.Artifacts = append(t.Artifacts, artifact.Image{URL: u})
	}
	return t
}

// pictures returns what the n-th chat carries, message by message.
func pictures(s *sim.Server, n int) (out []string) {
	for _, m := range s.Chats()[n].Chat.Messages {
		var all []string
		for _, i := range m.Images {
			all = append(all, string(i))
		}
		out = append(out, m.Role+": "+strings.Join(all, " "))
	}
	return out
}

func TestPicturesOfBlobsAreSentAlong(t *testing.T) {
	var log bytes.Buffer
	s, p := serve(t, sim.Options{}, seeing(shelf{"blob:sha256/a": "AAA", "blob:sha256/b": "BBB", "blob:sha256/none": ""}, &log))
	first := []ledger.Turn{show("look", "blob:sha256/a", "https://h/x.png", "blob:sha256/gone", "data:image/png;base64,REFUQQ==", "blob:sha256/none")}
	if _, err := invoke(t.Context(), p, state(first...), models.Spec{Model: "vision"}); err != nil {
		t.Fatal(err)
	}
	second := append(first, turn(ledger.RoleAssistant, artifact.Text{Content: "nice"}), show("and this, and again", "blob:sha256/b", "blob:sha256/a"))
	if _, err := invoke(t.Context(), p, state(second...), models.Spec{Model: "vision"}); err != nil {
		t.Fatal(err)
	}
	if got, want := pictures(s, 0), []string{"user: AAA DATA"}; !slices.Equal(got, want) {
		t.Errorf("first call %q, want %q", got, want)
	}
	if got, want := pictures(s, 1), []string{"user: AAA DATA", "assistant: ", "user: BBB AAA"}; !slices.Equal(got, want) {
		t.Errorf("second call %q, want %q", got, want)
	}
	raw := func(n int) string { // up to the end of the first message
		text := string(s.Chats()[n].Raw)
		return text[strings.Index(text, `"messages":[`) : strings.Index(text, "]}")+2]
	}
	if raw(0) != raw(1) {
		t.Errorf("the prompt of the second call doesn't begin with the first's:\n%s\n%s", raw(0), raw(1))
	}
	if !strings.Contains(log.String(), "blob:sha256/gone") || strings.Contains(log.String(), "REFUQQ") {
		t.Errorf("log: %s", log.String())
	}
}

// Report 77.
func TestABlindModelGetsNoPictures(t *testing.T) {
	opened := shelf{"blob:sha256/a": "AAA"}
	s, p := serve(t, sim.Options{}, seeing(opened, io.Discard))
	if _, err := invoke(t.Context(), p, state(show("look", "blob:sha256/a")), models.Spec{Model: "tiny"}); err != nil {
		t.Fatal(err)
	}
	if got := pictures(s, 0); !slices.Equal(got, []string{"user: "}) {
		t.Errorf("it got %q", got)
	}
	_, err := invoke(t.Context(), p, state(show("", "blob:sha256/a")), models.Spec{Model: "tiny"})
	wantError(t, err, provider.KindRefused, false, "nothing but images")
	_, err = invoke(t.Context(), p, state(show("", "blob:sha256/gone")), models.Spec{Model: "vision"})
	wantError(t, err, provider.KindRefused, false, "nothing but images")
}

// Beyond what one call may carry, the newest pictures go first.
func TestPicturesOfOneCallAreBounded(t *testing.T) {
	big := strings.Repeat("x", 63<<20) // of 64, of which one is taken
	s, p := serve(t, sim.Options{}, seeing(shelf{"blob:sha256/a": big, "blob:sha256/b": big[:1<<20], "blob:sha256/c": "small"}, io.Discard))
	turns := []ledger.Turn{show("a", "blob:sha256/a"), show("b", "blob:sha256/b"), show("c", "blob:sha256/c")}
	if _, err := invoke(t.Context(), p, state(turns...), models.Spec{Model: "vision"}); err != nil {
		t.Fatal(err)
	}
	var sizes []int
	for _, m := range s.Chats()[0].Chat.Messages {
		n := 0
		for _, i := range m.Images {
			n += len(i)
		}
		sizes = append(sizes, n)
	}
	if !slices.Equal(sizes, []int{0, 1 << 20, 5}) {
		t.Errorf("bytes of the messages' pictures: %v", sizes)
	}
}

func TestVision(t *testing.T) {
	s, p := serve(t, sim.Options{Models: append(sim.DefaultModels(), sim.Model{Name: "old"}, sim.Model{Name: "seer:7b", Capabilities: []string{"vision"}})})
	for _, c := range []struct {
		model  string
		sees   bool
		others []string
	}{
		{"vision", true, nil},
		{"plain", false, []string{"vision", "seer:7b"}},
		{"old", true, nil}, // its server says nothing of it
	} {
		for range 2 {
			sees, others, err := p.Vision(t.Context(), c.model)
			if sees != c.sees || !slices.Equal(others, c.others) || err != nil {
				t.Errorf("%s: %v %v %v", c.model, sees, others, err)
			}
		}
	}
	before := len(s.Requests())
	if _, _, err := p.Vision(t.Context(), "vision"); err != nil || len(s.Requests()) != before {
		t.Errorf("what is known was asked again: %v", err)
	}
	_, _, err := p.Vision(t.Context(), "nope")
	wantError(t, err, provider.KindModelMissing, false, "")
	s.Faults().Next("/api/show", fault.Fault{Status: 502, Body: "<html>"})
	_, _, err = p.Vision(t.Context(), "nope")
	wantError(t, err, provider.KindUnreachable, false, "")
}

// brittle is blobs of which the first one that is opened panics.
type brittle struct {
	shelf
	opened *int
}

func (b brittle) Open(ctx context.Context, url string) (io.ReadCloser, error) {
	if *b.opened++; *b.opened == 1 {
		panic("odd")
	}
	return b.shelf.Open(ctx, url)
}

// A call that panics gives its place at the host back.
func TestAPanicLeavesTheHostItsSlots(t *testing.T) {
	opened := 0
	_, p := serve(t, sim.Options{}, func(c *ollama.Config) {
		c.MaxConcurrent, c.Blobs = 1, brittle{shelf{"blob:a": "PNG"}, &opened}
	})
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	call := func() (err error) {
		defer func() {
			if v := recover(); v != nil {
				err = fmt.Errorf("%v", v)
			}
		}()
		return p.Invoke(ctx, state(show("what?", "blob:a")), models.Spec{Model: "vision"}, make(chan artifact.Artifact, 1000))
	}
	if err := call(); err == nil || err.Error() != "odd" {
		t.Fatalf("the first call ended with %v", err)
	}
	if err := call(); err != nil {
		t.Errorf("the second call: %v", err)
	}
}
