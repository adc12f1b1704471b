package e2e

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orebot/internal/sim/slack"
)

// run runs a subcommand and returns its exit code and output.
func run(t *testing.T, env []string, args ...string) (int, string) {
	t.Helper()
	cmd := exec.Command(binary, args...)
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}, env...)
	out, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

func TestWrongUseSaysWhatToDo(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, c := range []struct {
		name string
		env  []string
		args []string
		code int
		want []string
	}{
		{"no platform", nil, []string{"run"}, 2, []string{"platform", "TELEGRAM_BOT_TOKEN"}},
		{"named file missing", nil, []string{"run", "-c", filepath.Join(dir, "nope.toml")}, 2, []string{"nope.toml"}},
		{"unknown key", nil, []string{"run", "-c", file("key.toml", "[slack]\nbot_tokn = \"x\"\n")}, 2, []string{"key.toml", "slack.bot_tokn", "bot_token"}},
		{"swapped tokens", []string{"SLACK_BOT_TOKEN=xapp-1", "SLACK_APP_TOKEN=xoxb-1"}, []string{"run"}, 2, []string{"SLACK_BOT_TOKEN", "xoxb"}},
		{"unknown flag", nil, []string{"run", "--frobnicate"}, 2, []string{"frobnicate"}},
		{"unknown command", nil, []string{"frobnicate"}, 2, []string{"frobnicate"}},
		{"unknown level", []string{"TELEGRAM_BOT_TOKEN=42:x"}, []string{"run", "--log-level", "loud"}, 2, []string{"loud"}},
		{"check finds it too", nil, []string{"check", "--offline", "-c", file("bad.toml", "[telegram]\nbot_token = \"42:x\"\npace = \"fast\"\n")}, 1, []string{"✗", "bad.toml", "telegram.pace", "fast"}},
		{"version", nil, []string{"version"}, 0, []string{"orebot", "go1."}},
		{"--version", nil, []string{"--version"}, 0, []string{"orebot"}},
		{"help", nil, []string{"run", "--help"}, 0, []string{"--log-level", "--config"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			code, out := run(t, c.env, c.args...)
			if code != c.code {
				t.Errorf("exit code %d, want %d", code, c.code)
			}
			for _, want := range c.want {
				if !strings.Contains(out, want) {
					t.Errorf("it says\n%s\nand not %q", out, want)
				}
			}
		})
	}
}

func TestCheckOffline(t *testing.T) {
	w := newWorld(t, options{})
	w.ollamaTOML = "[link]\nenabled = \"threads\""
	code, out := run(t, nil, "check", "--offline", "-c", w.config())
	if code != 0 || strings.Contains(out, "✗") || strings.Contains(out, "not in effect") {
		t.Errorf("exit code %d:\n%s", code, out)
	}
	for _, want := range []string{"✓ configuration", "✓ slack.bot_token: from file", "✓ telegram.bot_token", "✓ state_dir"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if len(w.slack.Calls("auth.test")) != 0 || len(w.telegram.Calls("getMe")) != 0 {
		t.Error("an offline check called a platform")
	}
}

// Report 54: of two processes on one state the second ends, and says why; what is there is its owner's alone.
func TestTheStateIsLockedAndPrivate(t *testing.T) {
	w := newWorld(t, options{})
	w.start().ready()
	info, err := os.Stat(filepath.Join(w.state(), "orebot.db"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("state database: %v, %v", info.Mode(), err)
	}
	second := w.start()
	if code := second.wait(patience); code != 1 || !strings.Contains(w.log(), "in use") {
		t.Errorf("a second daemon ends with %d and says\n%s", code, w.lastLog())
	}
}

// One platform's wrong token stops that platform alone; all of them wrong end the daemon.
func TestAWrongTokenStopsItsPlatformAlone(t *testing.T) {
	w := newWorld(t, options{})
	w.telegram.Revoke()
	d := w.start()
	ana := w.slack.AddUser("ana")
	dm := w.slack.OpenDM(ana)
	if err := w.slack.WaitConnected(within(t, patience)); err != nil {
		t.Fatal(err)
	}
	w.slack.Say(ana, dm, "still there?")
	w.slackSees("the answer", posted(dm, "", "re: still there?"))
	eventually(t, "/readyz names telegram", func() bool {
		code, body := d.get("/readyz")
		return code == 503 && strings.Contains(body, "telegram: Telegram refuses the bot token")
	})
	eventually(t, "the log says so", func() bool { return strings.Contains(w.log(), "platform refused credentials") })
	d.stop()

	other := newWorld(t, options{slack: slack.Options{}})
	other.telegram.Revoke()
	path := other.config()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text = []byte(strings.ReplaceAll(string(text), slackBot, "xoxb-wrong"))
	text = []byte(strings.ReplaceAll(string(text), slackApp, "xapp-wrong"))
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(binary, "run", "-c", path)
	cmd.Env = []string{"HOME=" + t.TempDir()}
	out, _ := cmd.CombinedOutput()
	if code := cmd.ProcessState.ExitCode(); code != 3 {
		t.Errorf("exit code %d, want 3:\n%s", code, out)
	}
}

// systemd hears READY, then STOPPING.
func TestSystemdIsTold(t *testing.T) {
	w := newWorld(t, options{})
	path := filepath.Join(w.dir, "notify")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	told := make(chan string, 100)
	go func() {
		buf := make([]byte, 4096)
		for {
			n, err := conn.Read(buf)
			if err != nil {
				close(told)
				return
			}
			told <- string(buf[:n])
		}
	}()
	d := w.start("NOTIFY_SOCKET="+path, "WATCHDOG_USEC=1000000")
	d.ready()
	expect := func(what string) {
		t.Helper()
		limit := time.After(patience)
		for {
			select {
			case s := <-told:
				if strings.Contains(s, what) {
					return
				}
			case <-limit:
				t.Fatalf("systemd was never told %s", what)
			}
		}
	}
	expect("READY=1")
	expect("STATUS=ready")
	expect("WATCHDOG=1")
	d.stop()
	expect("STOPPING=1")
}
