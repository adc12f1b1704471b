package ops

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"

	"orebot/internal/secret"
)

// Systemd tells the service manager how the daemon is, over $NOTIFY_SOCKET (sd_notify(3)). Without that variable it
// does nothing.
type Systemd struct {
	send     func(state string) error
	redactor *secret.Redactor
	every    time.Duration // half of $WATCHDOG_USEC; 0: no watchdog
}

// NewSystemd reads the environment. Its error is a $WATCHDOG_USEC that is no number.
func NewSystemd(r *secret.Redactor) (*Systemd, error) {
	within, err := daemon.SdWatchdogEnabled(false)
	if err != nil {
		return nil, fmt.Errorf("systemd: $WATCHDOG_USEC: %w", err)
	}
	return &Systemd{send: notify, redactor: r, every: within / 2}, nil
}

func notify(state string) error {
	if _, err := daemon.SdNotify(false, state); err != nil {
		return fmt.Errorf("systemd: notify: %w", err)
	}
	return nil
}

// Ready says that the start is over.
func (s *Systemd) Ready(status string) error {
	return s.send(daemon.SdNotifyReady + "\n" + s.status(status))
}

// Status says in a line what the daemon does; systemctl status shows it.
func (s *Systemd) Status(status string) error { return s.send(s.status(status)) }

// Stopping says that the end has begun.
func (s *Systemd) Stopping(status string) error {
	return s.send(daemon.SdNotifyStopping + "\n" + s.status(status))
}

// Watch pets the watchdog at half of its time until ctx ends, as long as alive returns nil. When it doesn't, the
// silence makes systemd end and restart the process.
func (s *Systemd) Watch(ctx context.Context, alive func() error) error {
	if s.every <= 0 {
		<-ctx.Done()
		return nil
	}
	tick := time.NewTicker(s.every)
	defer tick.Stop()
	for {
		if alive() == nil {
			_ = s.send(daemon.SdNotifyWatchdog) // a lost one is repeated; if all get lost, systemd acts, as it should
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// status makes one assignment of text: a line break would begin another.
func (s *Systemd) status(text string) string {
	return "STATUS=" + s.redactor.Redact(strings.Join(strings.Fields(text), " "))
}
