package ollama_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"orebot/core/artifact"
	"orebot/core/ledger"
	"orebot/core/models"
	"orebot/core/provider"
	"orebot/provider/ollama"
)

// slot is what a server at level debug says of each prompt: how many tokens it has, and how many of these are in memory already.
var slot = regexp.MustCompile(`msg="loading cache slot".* prompt=(\d+) used=(\d+) `)

// slots returns the prompts and the reused tokens of all chats so far.
func slots(t *testing.T) (prompt, used []int) {
	t.Helper()
	path := os.Getenv("OREBOT_TEST_OLLAMA_LOG")
	if path == "" {
		t.Skip("OREBOT_TEST_OLLAMA_LOG names no log of the server at level debug")
	}
	log, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range slot.FindAllStringSubmatch(string(log), -1) {
		p, _ := strconv.Atoi(m[1])
		u, _ := strconv.Atoi(m[2])
		prompt, used = append(prompt, p), append(used, u)
	}
	return prompt, used
}

// settled is how many prompts the log tells of once it tells of all that came before: one more, of a length that no other has, is asked
// and its line waited for, since the lines of a runner keep their order.
func settled(t *testing.T, p *ollama.Provider) (n int) {
	t.Helper()
	markers := func(tokens int) (n int) {
		prompt, _ := slots(t)
		for _, l := range prompt {
			if l == tokens {
				n++
			}
		}
		return n
	}
	const tokens = 7 // the four signs, the word, and what begins and ends a message
	before := markers(tokens)
	got, err := ask(t, p, "~~~~/hello", models.Spec{})
	if err != nil || got.usage.PromptTokens != tokens {
		t.Fatalf("%+v, %v", got, err)
	}
	eventually(t, "the log tells of the prompt that was just answered", func() bool { return markers(tokens) > before })
	prompt, _ := slots(t)
	return len(prompt)
}

// slotsAfter is slots when the log has n of them at least: the server copies what its runner logs on its own time.
func slotsAfter(t *testing.T, n int) (prompt, used []int) {
	t.Helper()
	eventually(t, fmt.Sprintf("the log tells of %d prompts", n), func() bool {
		prompt, used = slots(t)
		return len(prompt) >= n
	})
	return prompt, used
}

// A conversation's prompt of one turn begins with that of the turn before, so the server reads only what is new. The last answer is read
// again here: its tokens are longer than those that the tiny models read the same text as.
func TestRealServerReusesThePrompt(t *testing.T) {
	p := realServer(t)
	before := settled(t, p)
	turns := []ledger.Turn{turn(ledger.RoleSystem, artifact.Text{Content: "You are a tiny scripted model. " + strings.Repeat("Be brief. ", 10)})}
	for i := range 20 {
		turns = append(turns, user(fmt.Sprintf("question %d of twenty", i+1)))
		got, err := invoke(t.Context(), p, state(turns...), models.Spec{Model: "tiny"})
		if err != nil || got.text == "" {
			t.Fatalf("turn %d: %q, %v", i, got.text, err)
		}
		turns = append(turns, turn(ledger.RoleAssistant, artifact.Text{Content: got.text}))
	}
	prompt, used := slotsAfter(t, before+20)
	prompt, used = prompt[before:], used[before:]
	if len(prompt) != 20 {
		t.Fatalf("%d prompts", len(prompt))
	}
	all, reused := 0, 0
	for i := range prompt {
		all, reused = all+prompt[i], reused+used[i]
		if i > 0 && used[i] < prompt[i-1] {
			t.Errorf("turn %d: %d of %d tokens are reused, the prompt before had %d", i+1, used[i], prompt[i], prompt[i-1])
		}
	}
	t.Logf("%d of %d prompt tokens were reused over 20 turns, %d of %d at the last", reused, all, used[19], prompt[19])
}

// Report 66: a stop is felt by the server at once: it serves the next call, though the one before would have gone on for long.
func TestRealServerStopsWithTheCall(t *testing.T) {
	p := realWith(t, func(c *ollama.Config) { c.FirstTokenTimeout = 30 * time.Second })
	for range 3 {
		ctx, cancel := context.WithCancel(t.Context())
		ch, done := make(chan artifact.Artifact), make(chan error, 1)
		go func() {
			done <- p.Invoke(ctx, state(user("/long")), models.Spec{Model: "tiny", MaxTokens: 1 << 20}, ch)
		}()
		select {
		case <-ch:
		case err := <-done:
			t.Fatalf("before a token: %v", err)
		}
		cancel()
		begin := time.Now()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: %v", err)
		}
		if after := time.Since(begin); after > 5*time.Second {
			t.Errorf("the call ended only %s after the stop", after)
		}
		nextAfterAStop(t, p)
		t.Logf("the next call was answered %s after the stop", time.Since(begin).Round(time.Millisecond))
	}
}

// nextAfterAStop asks, and once more with the model loaded anew where the first gets no token: in v0.17.4 a stop that meets a token on
// its way to a client leaves the goroutine that sends it, and the model's only place with it, until the model is unloaded
// (server/routes.go: nobody reads the channel any more). It takes a model that is faster than the connection, as these are.
func nextAfterAStop(t *testing.T, p *ollama.Provider) {
	t.Helper()
	_, err := ask(t, p, "/hello", models.Spec{})
	if e, ok := errors.AsType[*provider.Error](err); ok && e.Kind == provider.KindTimeout {
		t.Log("the server kept the place of the call that was stopped; the model is unloaded")
		unload(t, "tiny")
		_, err = ask(t, p, "/hello", models.Spec{})
	}
	if err != nil {
		t.Error(err)
	}
}

// A stop while the prompt is still read ends the call at once. The server reads on, and serves the next call behind that: it looks
// whether anybody waits with the first token only.
func TestRealServerReadsOnAfterAStop(t *testing.T) {
	p := realWith(t, func(c *ollama.Config) { c.FirstTokenTimeout = 3 * time.Minute })
	for i := range 2 {
		ctx, cancel := context.WithCancel(t.Context())
		before := settled(t, p)
		done := make(chan error, 1)
		go func() {
			_, err := invoke(ctx, p, state(user(strings.Repeat(string(rune('a'+i))+"b", 500)+"/hello")), models.Spec{Model: "tiny"})
			done <- err
		}()
		slotsAfter(t, before+1)
		cancel()
		begin := time.Now()
		if err := <-done; err != nil && !errors.Is(err, context.Canceled) { // nil: it was quicker
			t.Errorf("cancelled: %v", err)
		}
		if after := time.Since(begin); after > 5*time.Second {
			t.Errorf("the call ended only %s after the stop", after)
		}
		nextAfterAStop(t, p)
		t.Logf("the next call was answered %s after the stop", time.Since(begin).Round(time.Millisecond))
	}
}

// eventually waits for a state of the server that nothing announces.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(time.Minute); !ok(); <-tick.C {
		if time.Now().After(deadline) {
			t.Fatalf("after a minute not yet: %s", what)
		}
	}
}

// A prompt that doesn't fit is refused instead of being cut without a word, and the next one is answered.
func TestRealServerRefusesWhatDoesNotFit(t *testing.T) {
	p := realServer(t)
	turns := []ledger.Turn{turn(ledger.RoleSystem, artifact.Text{Content: "be brief"})}
	for range 30 {
		turns = append(turns, user(strings.Repeat("x", 100)), turn(ledger.RoleAssistant, artifact.Text{Content: "y"}))
	}
	turns = append(turns, user("/hello"))
	_, err := invoke(t.Context(), p, state(turns...), models.Spec{Model: "tiny"})
	wantError(t, err, provider.KindTooLong, false, "exceeds the context length")
	if got, err := invoke(t.Context(), p, state(turns[40:]...), models.Spec{Model: "tiny"}); err != nil || got.text == "" {
		t.Errorf("%q, %v", got.text, err)
	}
}
