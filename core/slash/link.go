package slash

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"orebot/core/access"
	"orebot/core/session"
)

// Link says which conversations may be linked across platforms, and how.
type Link struct {
	Enabled string // "dm": private chats; "threads": all; else none
	// Ways tells, by conduit name, where and how a code is written on that platform, in the middle of a sentence.
	Ways map[string]func(code string) string
}

// spaceLinks holds a pass by the hash of its code. Until it is used, the code itself stands in the line that told it only.
const spaceLinks = "links"

const (
	passValid  = 10 * time.Minute
	passesAt   = 5   // of one place at a time
	passesKept = 200 // of all
	passesRead = 500 // with those that have expired and aren't dropped yet
)

// pass is what a link code stands for.
type pass struct {
	Join  session.Join `json:"join"`
	By    string       `json:"by"` // who made it
	Until time.Time    `json:"until"`
}

// full is said of a code whose conversation has no room now: that is no use of it. Where two codes meet in the last place, the
// conversation's own worker decides.
const full = "That conversation is shown at eight places already. Once one of them has left it with `unlink`, write the code again."

// isCode reports whether a text may be a link code.
func isCode(s string) bool {
	_, ok := access.ReadLinkCode(s)
	return ok
}

// keyOf is where a code's pass is kept.
func keyOf(code string) string {
	sum := sha256.Sum256([]byte("link " + code))
	return hex.EncodeToString(sum[:16])
}

// link makes a code, uses one, or shows what was said before a link.
func (c *Commands) link(ctx context.Context, cmd session.Command, v session.View) (session.Effect, error) {
	words := strings.Fields(cmd.Args)
	why := c.unlinkable(cmd)
	switch {
	case len(words) > 0 && strings.EqualFold(words[0], "history"):
		return c.history(ctx, cmd, v, strings.Join(words[1:], " "))
	case why != "":
		return quiet("%s", why), nil
	case cmd.Args == "":
		return c.makePass(ctx, cmd, v)
	}
	return c.usePass(ctx, cmd, v)
}

// unlinkable says why no conversation can be linked where a command was given; empty: one can.
func (c *Commands) unlinkable(cmd session.Command) string {
	switch enabled := c.cfg.Link.Enabled; {
	case enabled != "dm" && enabled != "threads":
		return "Conversations can't be linked here: the operator has turned it off."
	case enabled == "dm" && cmd.In.Place != "":
		return "Only private chats can be linked here; a conversation of several people can't."
	}
	return ""
}

// makePass gives the asker a code. The write that keeps it names no record that anybody else writes, so that a turn under way isn't
// disturbed; what has expired is dropped while none is.
func (c *Commands) makePass(ctx context.Context, cmd session.Command, v session.View) (session.Effect, error) {
	ways := c.ways(v.Address)
	if len(ways) == 0 {
		return quiet("There is no other platform here to link with."), nil
	}
	list, err := c.cfg.Log.SmallList(ctx, spaceLinks, "", passesRead)
	if err != nil {
		return session.Effect{}, err
	}
	now := c.cfg.Now().UTC()
	here, all := 0, 0
	var old []session.SmallWrite
	for _, s := range list {
		switch p, ok := readPass(s.Value); {
		case !ok || now.After(p.Until):
			old = append(old, session.SmallWrite{Space: spaceLinks, Key: s.Key, Rev: s.Rev})
		case p.Join.With == v.Address:
			here++
			all++
		default:
			all++
		}
	}
	if here >= passesAt || all >= passesKept || len(list) >= passesRead && v.Running {
		return quiet("Too many codes are waiting to be used. Try again in ten minutes."), nil
	}
	code := access.NewLinkCode()
	letters, _ := access.ReadLinkCode(code)
	value, err := json.Marshal(pass{
		Join: session.Join{Thread: v.Thread, With: v.Address, Open: cmd.In.Place != ""}, By: cmd.In.Author.ID, Until: now.Add(passValid),
	})
	if v.Running {
		old = nil
	}
	eff := private(told(ways, code))
	eff.Small = append(old[:min(len(old), 100)], session.SmallWrite{Space: spaceLinks, Key: keyOf(letters), Value: value})
	return eff, err
}

// ways lists the other platforms' ways to write a code, in order.
func (c *Commands) ways(here session.Address) (out []func(string) string) {
	var names []string
	for name := range c.cfg.Link.Ways {
		if name != here.Conduit() {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		out = append(out, c.cfg.Link.Ways[name])
	}
	return out
}

// told says where a code goes.
func told(ways []func(string) string, code string) string {
	var all []string
	for _, way := range ways {
		all = append(all, way(code))
	}
	return "To join a chat to this conversation, within 10 minutes and once: " + strings.Join(all, "; or ") +
		". What was said here before isn't shown there unasked, but I know it."
}

func readPass(value []byte) (p pass, ok bool) {
	err := json.Unmarshal(value, &p)
	return p, err == nil && p.Join.With.Valid()
}

// usePass joins this chat to the conversation of a code. What is said of a code that isn't valid is the same whatever it never was, was
// or would have been.
func (c *Commands) usePass(ctx context.Context, cmd session.Command, v session.View) (session.Effect, error) {
	linked := fmt.Sprintf("This chat is linked already. `%sunlink` comes first.", cmd.Prefix)
	code, ok := access.ReadLinkCode(cmd.Args)
	switch {
	case !ok:
		return quiet("That is no link code. `%slink` makes one, to be written on the other platform.", cmd.Prefix), nil
	case len(v.State.Addresses) > 1:
		return quiet("%s", linked), nil
	case !c.tries.Heard(cmd.In.Author.ID, c.cfg.Now()):
		return quiet("Too many codes were tried. Try again in an hour."), nil
	}
	value, rev, found, err := c.cfg.Log.Small(ctx, spaceLinks, keyOf(code))
	if err != nil {
		return session.Effect{}, err
	}
	p, ok := readPass(value)
	switch {
	case !found || !ok || c.cfg.Now().After(p.Until) || c.cfg.Link.Enabled == "dm" && p.Join.Open:
		return quiet("That code isn't valid. A code is good for ten minutes, and once; `%slink` on the other platform makes one.", cmd.Prefix), nil
	case p.Join.Thread == v.Thread || p.Join.With.Conduit() == v.Address.Conduit():
		return quiet("That code is for another platform than %s.", session.PlatformName(v.Address)), nil
	}
	if t, _, _, err := c.cfg.Log.Thread(ctx, p.Join.Thread); err != nil || len(t.Addresses) >= session.MaxLinked {
		return quiet(full), err
	}
	p.Join.Open = p.Join.Open || cmd.In.Place != ""
	return session.Effect{
		Act: session.ActLink, Join: &p.Join, Small: []session.SmallWrite{{Space: spaceLinks, Key: keyOf(code), Rev: rev}},
		Say: func(session.Outcome) session.Reply { return info(linked) },
	}, nil
}

func unlink(cmd session.Command) session.Effect {
	return session.Effect{Act: session.ActUnlink, Say: func(o session.Outcome) session.Reply {
		if !o.Done {
			return info("This chat isn't linked. `" + cmd.Prefix + "link` does that.")
		}
		return well("The link has ended: this chat is by itself again.")
	}}
}

// linksOf lists the other places of a conversation.
func linksOf(v session.View) string {
	var out []string
	for _, a := range v.State.Addresses {
		if a != v.Address {
			out = append(out, session.PlatformName(a)+" (`"+string(a)+"`)")
		}
	}
	return strings.Join(out, ", ")
}
