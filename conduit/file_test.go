package conduit_test

import (
	"testing"
	"time"

	"orebot/conduit"
	"orebot/conduit/conduittest"
)

// filing is a renderer that makes a file of what a first message has no room for.
type filing struct{ conduittest.Text }

func (r filing) Part(it conduit.Item, off int, how conduit.Shape) (conduit.Part, error) {
	if how.Posted == 0 || how.Inline {
		return r.Text.Part(it, off, how)
	}
	text := "file: " + it.Source[off:]
	return conduit.Part{Offset: off, Next: len(it.Source), Body: text, Text: text}, nil
}

// TestFileRefused: where the platform takes no file, the rest of an answer goes on in messages, and the next answer tries again.
func TestFileRefused(t *testing.T) {
	const one, two, three = "0123456789", "abcdefghij", "klm"
	none := refuse(conduit.NoFile)
	for name, c := range map[string]struct {
		troubles []conduittest.Trouble
		want     []string
	}{
		"taken":         {nil, []string{one, "file: " + two + three, one, "file: " + two}},
		"refused":       {[]conduittest.Trouble{{}, none}, []string{one, two, three, one, "file: " + two}},
		"each time":     {[]conduittest.Trouble{{}, none, none, {}, {}, none}, []string{one, "plain: " + two, three, one, two}},
		"then too big":  {[]conduittest.Trouble{{}, none, refuse(conduit.TooBig)}, []string{one, "abcde", "fghijklm", one, "file: " + two}},
		"unknown first": {[]conduittest.Trouble{{}, failing(false, 0), none}, []string{one, repeat + two, three, one, "file: " + two}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				b := newBench(t, false)
				b.cfg.Renderer = filing{conduittest.Text{Limit: 10}}
				b.must(b.w.Bind(placeA))
				b.must(b.w.Answer(one + two + three))
				b.must(b.w.Answer(one + two))
				b.p.Next(placeA, c.troubles...)
				b.start("one").rest(10 * time.Minute)
				b.p.Wait()
				b.wantTexts(placeA, c.want...)
				b.wantServed(placeA)
			})
		})
	}
}
