package session

import (
	"context"
	"errors"
	"slices"
	"time"

	"orebot/core/ledger"
	"orebot/core/loop"
	"orebot/core/models"
	"orebot/core/observe"
)

// commandTime bounds what a command may ask of others.
const commandTime = 20 * time.Second

// parse reads a message as a command.
func (m *Manager) parse(in Inbound) (name, args string, ok bool) {
	if m.cfg.Commander == nil || in.Elsewhere {
		return "", "", false
	}
	return m.cfg.Commander.Parse(in)
}

func (s *Stream) isCommand(e StoredEntry) bool {
	_, _, ok := s.m.parse(e.Inbound)
	return ok
}

// urgent reports whether a waiting message is a command that runs beside a turn, of somebody who isn't turned away.
func (s *Stream) urgent(e StoredEntry) bool {
	name, args, ok := s.m.parse(e.Inbound)
	return ok && e.State == EntryOpen && e.Refusal == "" && s.m.cfg.Commander.Now(name, args) && !s.joining(e.ID.Address)
}

// command does what a message asks of the bot itself. over is false where an answer follows: then the job has its turn.
func (s *Stream) command(j *job) (over bool, err error) {
	c, v := s.commandOf(j, nil), s.view(j, nil)
	var eff Effect
	err = s.apart(j, func() (err error) {
		eff, err = s.consult(s.m.turns, c, v)
		return err
	})
	if s.m.turns.Err() != nil {
		return true, errShutdown
	}
	return s.conclude(j, nil, s.orSorry(j, eff, err))
}

// consult asks the Commander, for no longer than a command may take.
func (s *Stream) consult(ctx context.Context, c Command, v View) (Effect, error) {
	ctx, cancel := context.WithTimeout(ctx, commandTime)
	defer cancel()
	return s.m.cfg.Commander.Do(ctx, s.authorized(ctx, c), v)
}

// orSorry is the effect, or a line that there is none.
func (s *Stream) orSorry(j *job, eff Effect, err error) Effect {
	if err == nil {
		return eff
	}
	s.log(j).Error("command failed", observe.KeyError, err)
	return Effect{Reply: Reply{Severity: loop.SeverityError, Text: "That didn't work just now. Please try again in a minute."}}
}

// commandOf is the job's message as a command; run is what is being answered meanwhile, nil for nothing.
func (s *Stream) commandOf(j, run *job) Command {
	in := j.first().Inbound
	name, args, _ := s.m.parse(in)
	return Command{Name: name, Args: args, In: in, Prefix: s.m.prefix(j.addr), Rights: s.rights(in, run)}
}

// prefix is how people write a command at an address.
func (m *Manager) prefix(a Address) string {
	if p := m.cfg.Platforms[a.Conduit()].Prefix; p != "" {
		return p
	}
	return "/"
}

// asking is how people ask again at an address.
func (m *Manager) asking(a Address) string {
	if m.cfg.Commander == nil {
		return "please ask again"
	}
	return "`" + m.prefix(a) + "retry` asks again"
}

func (s *Stream) rights(in Inbound, run *job) Rights {
	st := s.live.state
	r := Rights{
		Private: in.Place == "" && !s.opened(),
		Admin:   in.Author.Admin || slices.Contains(s.m.cfg.Admins, in.Author.ID),
		Starter: st.Starter == "" || st.Starter == in.Author.ID,
	}
	if run != nil {
		r.Asker = run.first().Inbound.Author.ID == in.Author.ID
	} else if t, ok := s.question(); ok {
		r.Asker = t.Author == in.Author.ID
	}
	return r
}

// view copies what a command may look at.
func (s *Stream) view(j, run *job) View {
	v := View{
		Thread: s.thread, Address: j.addr, State: s.live.state, Spec: s.spec().Or(s.m.cfg.Spec), System: s.setting(SettingSystem),
		Running: run != nil, Path: s.live.turns(),
	}
	v.Used, v.Window = s.used(v.Path), s.windowNow()
	v.State.Addresses = slices.Clone(v.State.Addresses)
	for _, e := range s.waiting {
		if e.State == EntryOpen && !s.isCommand(e) {
			v.Waiting++
		}
	}
	return v
}

func (s *Stream) setting(key string) string { return s.live.state.Settings[key] }

// spec is what this conversation asks for beside the default.
func (s *Stream) spec() models.Spec {
	return models.Spec{Model: s.setting(SettingModel), Think: s.setting(SettingThink)}
}

// model is the name of the model that answers here.
func (s *Stream) model() string { return s.spec().Or(s.m.cfg.Spec).Model }

// question returns the user turn that `retry` means: the one that was set aside last, else the last one of the active path.
func (s *Stream) question() (ledger.Turn, bool) {
	if t, ok := s.live.led.Turn(s.live.aside); ok && len(t.Artifacts) > 0 {
		return t, true
	}
	return s.lastAsked()
}

// lastAsked returns the last user turn of the active path. Where a summary stands for it, it is the last one that this covers, as far as
// the window holds it.
func (s *Stream) lastAsked() (ledger.Turn, bool) {
	path := s.live.turns()
	for i := len(path) - 1; i >= 0; i-- {
		if path[i].Role == ledger.RoleUser {
			return path[i], true
		}
	}
	if len(path) == 0 {
		return ledger.Turn{}, false
	}
	t, ok := s.live.led.Turn(path[0].Covers)
	for ok && (t.Role != ledger.RoleUser || len(t.Artifacts) == 0) {
		t, ok = s.live.led.Turn(t.Parent)
	}
	return t, ok
}

// conclude makes an effect true and ends the command's message with its reply. run is what is being answered meanwhile.
func (s *Stream) conclude(j, run *job, eff Effect) (over bool, err error) {
	if eff.Beside != "" {
		j.tellBeside(eff.Beside)
	}
	switch eff.Act {
	case ActStop:
		return true, s.stop(j, run, eff)
	case ActRetry:
		return s.retry(j, eff)
	case ActUndo:
		return true, s.undo(j, eff)
	case ActNew:
		return s.renew(j, eff)
	case ActForget:
		return true, s.forgetAll(j, eff)
	case ActCompact:
		return true, s.compact(j, eff)
	case ActLink:
		return true, s.link(j, eff)
	case ActUnlink:
		return true, s.unlink(j, eff)
	}
	e := replying(eff.Reply)
	e.small = eff.Small
	for _, set := range eff.Set {
		e.lead = append(e.lead, LogRecord{Kind: KindSetting, Setting: &set})
	}
	e.lead = append(e.lead, s.tellOthers(j.addr, eff.Shared)...)
	if err := s.notice(j, e); err != nil {
		return true, err
	}
	s.m.settled(s.live.state)
	return true, nil
}

// replying is the ending that tells a command's reply.
func replying(r Reply) ending {
	return ending{how: EndNoticed, sev: r.Severity, text: r.Text, private: r.Private, offers: r.Offers, file: r.File}
}

// retry lets the job answer an earlier question: the tip moves there, and the message waits for that turn's answer, in one Batch.
func (s *Stream) retry(j *job, eff Effect) (over bool, err error) {
	q, ok := s.question()
	if !ok {
		return true, s.notice(j, replying(eff.Say(Outcome{})))
	}
	if over, err := s.spendsTooMuch(j); over || err != nil {
		return over, err
	}
	b := s.batch(LogRecord{Kind: KindTip, Tip: &TipMove{To: q.ID.Seq}})
	if err := s.bind(&b, j); err != nil {
		return true, err
	}
	for i := range j.entries {
		e := &j.entries[i]
		e.State, e.Thread, e.Turn = EntrySubmitted, s.thread, q.ID.Seq
	}
	s.writeEntries(&b, j, time.Time{})
	j.turn = q.ID.Seq
	return false, s.commit(b)
}

// takenBack ends a retry whose question was deleted meanwhile: there is nothing left to answer.
func (s *Stream) takenBack(j *job) error {
	recs := s.leaveOut(j.turn)
	if len(recs) == 0 {
		return s.endSilently(j, EndWithdrawn)
	}
	b := s.batch(recs...)
	for i := range j.entries {
		e := &j.entries[i]
		e.State, e.End, e.Starts = EntryEnded, EndWithdrawn, 0
	}
	s.writeEntries(&b, j, time.Now().Add(s.m.cfg.KeepEntries))
	if err := s.commit(b); err != nil {
		return err
	}
	s.countEnds(j, EndWithdrawn)
	return nil
}

// undo takes the last exchange off the active path; with none left, the conversation before this one goes on.
func (s *Stream) undo(j *job, eff Effect) error {
	t, ok := s.lastAsked()
	path := s.live.turns()
	switch {
	case !ok && (len(path) == 0 || path[0].Covers == 0):
		return s.goBack(j, eff)
	case !ok || !s.reachable(t.Parent):
		return s.notice(j, replying(eff.Say(Outcome{Far: true})))
	}
	e := replying(eff.Say(Outcome{Done: true, Question: t.Text()}))
	e.about = t.ID.Seq
	others := s.tellOthers(j.addr, e.text)
	for _, r := range others {
		r.End.About = t.ID.Seq
	}
	e.lead = append([]LogRecord{{Kind: KindTip, Tip: &TipMove{To: t.Parent}}}, others...)
	return s.notice(j, e)
}

// errStopped is the cause with which a stop ends a turn.
var errStopped = errors.New("session: stopped")
