package slack

import (
	"encoding/json"
	"sync"
)

// maxDMs is how many DMs are remembered. What is forgotten costs little: see has.
const maxDMs = 50_000

// dms remembers which channels are DMs with the bot: slash commands and clicks don't tell them from DMs between two people. They are
// learned from the list that Slack gives at start, from what is written in them, and from people who open the bot's home. Whose they are,
// only Slack's own word says.
type dms struct {
	mu  sync.Mutex
	ids map[string]string // whose they are, as Slack names people; empty: not asked yet
}

// has reports whether a channel is known to be one. A DM that isn't known counts as a place of its own, where the lists of places
// hold; its address is the same.
func (d *dms) has(channel string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, ok := d.ids[channel]
	return ok
}

// with returns whose DM a channel is, "" where that isn't known.
func (d *dms) with(channel string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.ids[channel]
}

// add remembers a channel.
func (d *dms) add(channel string) { d.note(channel, "") }

// note remembers a channel and, where user isn't empty, whose DM it is. A full memory begins anew.
func (d *dms) note(channel, user string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, ok := d.ids[channel]; ok && user == "" || !validID(channel) || user != "" && !validID(user) {
		return
	}
	if d.ids == nil || len(d.ids) >= maxDMs {
		d.ids = map[string]string{}
	}
	d.ids[channel] = user
}

// addHome remembers the DM of somebody who opens the bot's home, which an event tells of.
func (d *dms) addHome(payload []byte) {
	var p object
	_ = json.Unmarshal(payload, &p)
	if ev := p.object("event"); ev.text("type") == "app_home_opened" {
		d.add(ev.text("channel"))
	}
}
