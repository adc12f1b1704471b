package mcp_test

import (
	"strings"
	"testing"

	"orebot/internal/secret"
	"orebot/tool/mcp"
)

// Commands that are no proper servers: each is away, with one line for the streak, and Run ends all the same.
func TestCommandsThatAreNoServers(t *testing.T) {
	for name, script := range map[string]string{
		"exits at once":       "exit 0",
		"fails at once":       "echo no such config >&2; exit 1",
		"garbage":             "while :; do echo 'Listening on port 3000'; sleep 0.1; done",
		"binary garbage":      "head -c 100000 /dev/zero; exec sleep 1000",
		"a line without end":  "while :; do printf xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done",
		"closes its output":   "exec 1>&-; exec sleep 1000",
		"closes its input":    "exec 0<&-; exec sleep 1000",
		"an error for answer": `read x; echo '{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"no"}}'; exec sleep 1000`,
		"an old version":      `read x; echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"1999-01-01","capabilities":{},"serverInfo":{"name":"x","version":"1"}}}'; exec sleep 1000`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShelf()
			end, log := run(t, mcp.Config{Name: "x", Command: []string{"/bin/sh", "-c", script}, Set: s.set,
				Env: map[string]secret.String{"PATH": secret.New("/usr/bin:/bin")}})
			log.until(t, "mcp server is away")
			end()
			if n := strings.Count(log.String(), "mcp server is away"); n != 1 || s.sets != 0 {
				t.Errorf("%d lines, %d lists of tools:\n%.2000s", n, s.sets, log)
			}
		})
	}
}

// A server that writes without end to stderr is heard for a while, and answers meanwhile.
func TestAFloodOnStderrHoldsNothingUp(t *testing.T) {
	s := newShelf()
	cfg := command(t, "loud", s)
	_, log := run(t, cfg)
	s.wait(t)
	log.until(t, "no more of it is logged")
	if got, err := s.call(t, "x__two"); got != "one\n\ntwo" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	if n := strings.Count(log.String(), "mcp server says"); n > 1100 {
		t.Errorf("%d lines of it are logged", n)
	}
}
