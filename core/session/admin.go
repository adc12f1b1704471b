package session

import (
	"context"
	"time"

	"orebot/core/observe"
)

// Guard is a Commander that tells which commands depend on whether their author administers the place. It is pure.
type Guard interface {
	Guarded(c Command) bool
}

// adminTime bounds the question whether somebody is an administrator: a command doesn't wait for a platform that hangs.
const adminTime = 5 * time.Second

// authorized asks the platform whether a command's author administers the place, where the events of the platform don't tell and the
// command depends on it. Where that can't be told now, they don't.
func (s *Stream) authorized(ctx context.Context, c Command) Command {
	people := s.m.cfg.Platforms[c.In.Address.Conduit()].People
	guard, ok := s.m.cfg.Commander.(Guard)
	if c.Rights.Private || c.Rights.Admin || people == nil || !ok || !guard.Guarded(c) {
		return c
	}
	ctx, cancel := context.WithTimeout(ctx, adminTime)
	defer cancel()
	who, err := people.Person(ctx, c.In.Address, c.In.Author)
	if err != nil {
		s.m.cfg.Logger.Warn("administrators unknown", observe.KeyAddress, string(c.In.Address), observe.KeyError, err)
		return c
	}
	c.Rights.Admin = who.Admin
	return c
}
