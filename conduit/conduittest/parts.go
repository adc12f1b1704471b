package conduittest

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"orebot/conduit"
	"orebot/core/loop"
)

// sources are texts that renderers stumble over.
func (s *suite) sources() map[string]string {
	long := make([]string, 0, s.Long/7+1)
	for i := range s.Long/7 + 1 {
		long = append(long, fmt.Sprintf("w%05d", i))
	}
	words := strings.Join(long, " ")
	return map[string]string{
		"short":    "w00001",
		"words":    words,
		"lines":    strings.Join(long, "\n"),
		"markup":   "# w00001\n\n**w00002** _w00003_ `w00004` [w00005](https://example.org)\n\n- w00006\n  - w00007\n\n> w00008",
		"code":     "w00001\n\n```go\n" + strings.Join(long, "\n") + "\n```\n\nw99999",
		"one line": "```\n" + strings.Join(long, "x") + "\n```",
		"hostile":  "<!channel> <@U1> w00001 </b> & <script> @everyone *_`~ w00002",
		"open":     "**w00001 `w00002\n\n```\nw00003",
		"emoji":    strings.Repeat("👩‍👩‍👧‍👦🇩🇪é漢", s.Long/40+1),
		"blank":    " \n\t\n ",
		"rule":     "---",
		"invalid":  "w00001 \xff\xfe w00002",
	}
}

// shapes are all that a courier may ask for.
func shapes() (out []conduit.Shape) {
	for shrink := range uint8(conduit.MaxShrink + 1) {
		for _, plain := range []bool{false, true} {
			out = append(out, conduit.Shape{Plain: plain, Shrink: shrink})
		}
	}
	return out
}

// parts checks what every renderer promises, for every source, kind and shape.
func (s *suite) parts() {
	if s.Renderer.Layout() == 0 {
		s.t.Error("the layout is 0; it begins with 1")
	}
	for name, source := range s.sources() {
		for _, kind := range []conduit.Kind{conduit.Answer, conduit.Notice, conduit.Attributed} {
			for _, how := range shapes() {
				it := s.item(source)
				it.Kind, it.Severity, it.Author = kind, loop.SeverityWarn, s.Name+":U1"
				what := fmt.Sprintf("%s %s %+v", name, kind, how)
				s.allParts(what, it, how)
			}
		}
	}
}

// allParts walks through an item and checks each part and the words of all of them: in order, and where the parts have their usual
// size, complete.
func (s *suite) allParts(what string, it conduit.Item, how conduit.Shape) {
	var got []string
	n := 0
	for off := 0; off < len(it.Source); {
		p := s.onePart(what, it, off, how)
		if p.Next <= off {
			s.t.Fatalf("%s: no progress at %d", what, off)
		}
		if p.Body != nil {
			n++
			got = append(got, wordPattern.FindAllString(p.Text, -1)...)
		}
		off = p.Next
	}
	want := wordPattern.FindAllString(it.Source, -1)
	if strings.HasPrefix(what, "one line") { // its words must be cut
		return
	}
	if how.Shrink > 0 { // many parts: the rest may be a file
		want = want[:min(len(got), len(want))]
	}
	if !slices.Equal(got, want) {
		s.t.Errorf("%s: %d words in %d parts, want %d", what, len(got), n, len(want))
	}
}

// onePart renders one part and checks that the renderer is pure and that the repeat label doesn't move the cut.
func (s *suite) onePart(what string, it conduit.Item, off int, how conduit.Shape) conduit.Part {
	p, err := s.Renderer.Part(it, off, how)
	if err != nil {
		s.t.Fatalf("%s at %d: %v", what, off, err)
	}
	if again, err := s.Renderer.Part(it, off, how); err != nil || !reflect.DeepEqual(p, again) {
		s.t.Errorf("%s at %d: the same question, another answer", what, off)
	}
	repeat := how
	repeat.Repeat = true
	switch r, err := s.Renderer.Part(it, off, repeat); {
	case err != nil:
		s.t.Errorf("%s at %d, repeated: %v", what, off, err)
	case r.Next != p.Next:
		s.t.Errorf("%s at %d: the repeat ends at %d, the part at %d", what, off, r.Next, p.Next)
	case p.Body != nil && !strings.Contains(r.Text, label):
		s.t.Errorf("%s at %d: the repeat isn't labelled: %.80q", what, off, r.Text)
	}
	return p
}
