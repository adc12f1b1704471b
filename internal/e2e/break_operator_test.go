package e2e

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// A proxy is for what is far away: a model server on this machine is asked directly, with net.proxy_url as with HTTPS_PROXY.
func TestAProxyIsNotUsedForThisMachine(t *testing.T) {
	w := newWorld(t, options{})
	w.ollamaTOML = "[net]\nproxy_url = \"http://user:SECRET-OF-THE-PROXY@127.0.0.1:1\""
	w.start("HTTP_PROXY=http://127.0.0.1:1").ready()
	if strings.Contains(w.log(), "SECRET-OF-THE-PROXY") {
		t.Error("the log holds the proxy's password")
	}
}

func TestAProxyIsUsedForWhatIsFar(t *testing.T) {
	w := newWorld(t, options{})
	near, err := url.Parse(w.tgURL)
	if err != nil {
		t.Fatal(err)
	}
	var through atomic.Int64
	forward := httputil.NewSingleHostReverseProxy(near)
	proxy := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		through.Add(1)
		r.URL.Host, r.Host = "", near.Host
		forward.ServeHTTP(rw, r)
	}))
	t.Cleanup(proxy.Close)
	w.tgURL = "http://telegram.invalid"
	w.ollamaTOML = "[net]\nproxy_url = \"" + proxy.URL + "\""
	d := w.start().ready()
	if through.Load() == 0 {
		t.Error("nothing went through the proxy")
	}
	d.kill()
}

// demo runs the demo on an input and returns its exit code and output.
func demo(t *testing.T, input, ollama string, out io.Writer) int {
	t.Helper()
	cmd := exec.Command(binary, "demo")
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "TMPDIR=" + t.TempDir(), "OLLAMA_HOST=" + ollama}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(input), out, out
	_ = cmd.Run()
	left, _ := filepath.Glob(filepath.Join(strings.TrimPrefix(cmd.Env[2], "TMPDIR="), "*"))
	if len(left) != 0 {
		t.Errorf("the demo left %v behind", left)
	}
	return cmd.ProcessState.ExitCode()
}

// What answers at $OLLAMA_HOST need not be Ollama; the input may be anything.
func TestTheDemoTakesWhatItIsGiven(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>hello") }))
	t.Cleanup(other.Close)
	for name, c := range map[string]struct{ input, ollama, want string }{
		"no Ollama there":  {"hello\n", other.URL, "You said: hello"},
		"not even a URL":   {"t hello", "::garbage::", "You said: hello"},
		"no input":         {"", other.URL, "stand-in"},
		"odd bytes":        {"\x00\xff\n\n  \nr \nt \nlast <!channel>\r\n", other.URL, "last @channel"},
		"a very long line": {strings.Repeat("long ", 60_000) + "\n", other.URL, "slack dm  orebot"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			if code := demo(t, c.input, c.ollama, &out); code != 0 || !strings.Contains(out.String(), c.want) {
				t.Errorf("exit code %d, and no %q in\n%.2000s", code, c.want, out.String())
			}
		})
	}
}

// Whoever reads the demo's output may leave: it tidies up all the same.
func TestTheDemoOutlivesItsReader(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	_ = r.Close()
	defer w.Close()
	if code := demo(t, "hello\n", "::", w); code != 0 {
		t.Errorf("exit code %d", code)
	}
}
