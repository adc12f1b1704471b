package slack

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// TestSlacksOwnClient runs Slack's Node client against the simulator. It needs node, and in BOLT_DIR a folder in which
// "npm install @slack/bolt@5.1.0" was run.
func TestSlacksOwnClient(t *testing.T) {
	dir := os.Getenv("BOLT_DIR")
	if dir == "" {
		t.Skip("BOLT_DIR names no folder with @slack/bolt")
	}
	onLoopback(t, Options{}, func(t *testing.T, b *bench) {
		ctx, cancel := context.WithTimeout(b.ctx, 5*time.Minute)
		t.Cleanup(cancel)
		runBolt(t, ctx, b.url, dir)
		u := b.AddUser("al")
		c := b.AddChannel("general", u, "UBOT")
		if err := b.WaitConnected(ctx); err != nil {
			t.Fatal(err)
		}
		b.Say(u, c, "@orebot one")
		b.visible(t, ctx, "heard @orebot one")
		call := b.Slash(u, c, "status")
		if payload, err := call.Wait(ctx); err != nil || !strings.Contains(string(payload), "acked status") {
			t.Errorf("ack %s, %v", payload, err)
		}
		b.visible(t, ctx, "responded")
		b.Say(u, c, "button please")
		b.visible(t, ctx, "press it")
		for _, l := range b.Transcript() {
			if l.Kind == Post && strings.Contains(l.Text, "press it") && b.Click(u, c, l.TS, "orebot:retry") == nil {
				t.Error("no button")
			}
		}
		b.visible(t, ctx, "pressed by "+u+" under press it")
		b.Disconnect(RefreshRequested)
		if err := b.WaitConnected(ctx); err != nil {
			t.Fatal(err)
		}
		b.Say(u, c, "@orebot two")
		b.visible(t, ctx, "heard @orebot two")
		if n := len(b.ConnectionOpens()); n != 2 || b.Stats().Stray != 0 || b.Refused() != 0 {
			t.Errorf("%d connections, %+v, refused %v", n, b.Stats(), b.Refusals())
		}
	})
}

func runBolt(t *testing.T, ctx context.Context, url, dir string) {
	cmd := exec.CommandContext(ctx, "node", "testdata/bolt.mjs", url, dir)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		t.Skipf("no node: %v", err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
}

func (b *bench) visible(t *testing.T, ctx context.Context, text string) {
	t.Helper()
	err := b.WaitFor(ctx, func(lines []Line) bool { return strings.Contains(Script(lines), text) })
	if err != nil {
		t.Fatalf("%q: %v; saw\n%s", text, err, Script(b.Transcript()))
	}
}
