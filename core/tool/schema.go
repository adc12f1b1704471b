package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// checker returns what checks arguments against a schema; nil where the schema can't be used for it: a dialect that isn't known, a
// reference to another document, a pattern that Go can't match, or one that would never come to an end. Such a tool is offered all the
// same, and judges its arguments itself. The validator reads what was looked at: of a key that stood there twice, the last one.
func checker(schema json.RawMessage) *check {
	var s jsonschema.Schema
	w := walk{cost: map[string]int{}}
	d := json.NewDecoder(bytes.NewReader(schema))
	d.UseNumber()
	if d.Decode(&w.root) != nil || !w.all(w.root, "#") {
		return nil
	}
	once, err := json.Marshal(w.root)
	if err != nil || json.Unmarshal(once, &s) != nil || !dialect(s.Schema) {
		return nil
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		return nil
	}
	return &check{validate: resolved.Validate, root: w.root, cost: w.most()}
}

// check is a schema that arguments are held against.
type check struct {
	validate func(args any) error
	root     any
	cost     int // how many schemas one value may be held against
}

// maxHold bounds the work of one check, as the cost of a schema times the length of the arguments, which may be as many values: about a
// second's. Beyond it the tool judges its arguments itself.
const maxHold = 5_000_000

// hold returns the arguments as the tool gets them: as they are where they fit the schema, and else mended. The error is that of what the
// model wrote.
func (c *check) hold(text string) (json.RawMessage, error) {
	var args any
	if err := json.Unmarshal([]byte(text), &args); err != nil {
		return nil, err
	}
	if c.cost*len(text) > maxHold {
		return json.RawMessage(text), nil
	}
	wrong := c.validate(args)
	if wrong == nil {
		return json.RawMessage(text), nil
	}
	written, err := decode(text)
	if err != nil {
		return nil, wrong
	}
	mended, err := json.Marshal(mender{c.root}.mend(written, c.root))
	if err != nil || json.Unmarshal(mended, &args) != nil || c.validate(args) != nil {
		return nil, wrong
	}
	return mended, nil
}

// dialect reports whether the validator knows a value of $schema.
func dialect(id string) bool {
	switch id {
	case "", "http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2020-12/schema":
		return true
	}
	return false
}

// arguments reads what a model wrote as arguments and checks it. The error is for the model.
func (e *entry) arguments(text string) (json.RawMessage, error) {
	if text = strings.TrimSpace(text); text == "" || text == "null" {
		text = "{}"
	}
	var args any
	if err := json.Unmarshal([]byte(text), &args); err != nil {
		return nil, fmt.Errorf("the arguments are no JSON: %w", err)
	}
	if _, ok := args.(map[string]any); !ok {
		return nil, errors.New("the arguments are no JSON object")
	}
	if e.check == nil {
		return json.RawMessage(text), nil
	}
	fit, err := e.check.hold(text)
	if err != nil {
		return nil, fmt.Errorf("the arguments don't fit the tool: %s", clipped(err.Error(), 500))
	}
	return fit, nil
}

// maxWork is how many schemas one value may be held against.
const maxWork = 10_000

// walk finds out whether a check against a schema comes to an end soon, whatever the value: the validator follows references without
// counting, and one that leads back to itself would take the process's stack.
type walk struct {
	root any
	cost map[string]int // of the schema at a place; -1 while it is being counted
}

// most is the cost of the costliest schema in the document; a schema that is no object, such as true, costs one look.
func (w *walk) most() int {
	most := 1
	for _, n := range w.cost {
		most = max(most, n)
	}
	return most
}

// all looks at each object of the document as if it were a schema. More of them are than that, which does no harm.
func (w *walk) all(v any, at string) bool {
	ok := true
	switch v := v.(type) {
	case map[string]any:
		ok = w.work(v, at) <= maxWork && distinct(v)
		for k, sub := range v {
			ok = ok && w.all(sub, at+"/"+escape(k))
		}
	case []any:
		for i, sub := range v {
			ok = ok && w.all(sub, fmt.Sprintf("%s/%d", at, i))
		}
	}
	return ok
}

// distinct reports whether no two keys of an object differ in case alone. The validator, as Go's JSON does, takes them for one.
func distinct(v map[string]any) bool {
	seen := make(map[string]bool, len(v))
	for k := range v {
		seen[fold(k)] = true
	}
	return len(seen) == len(v)
}

// fold makes keys equal that Go's JSON takes for equal, such as allOf and ALLOF.
func fold(key string) string { return strings.ToLower(strings.ToUpper(key)) }

// work counts the schemas that a value is held against where it is held against this one.
func (w *walk) work(v any, at string) int {
	s, ok := v.(map[string]any)
	if !ok {
		return 1
	}
	switch n := w.cost[at]; {
	case n < 0:
		return maxWork + 1
	case n > 0:
		return n
	}
	w.cost[at] = -1
	sum := 1
	for key, sub := range s {
		sum = min(sum+w.below(key, sub, at+"/"+escape(key)), maxWork+1)
	}
	w.cost[at] = sum
	return sum
}

// below counts what one keyword adds, where it concerns the same value.
func (w *walk) below(key string, sub any, at string) int {
	switch fold(key) {
	case "$ref":
		ref, _ := sub.(string)
		target, ok := w.lookUp(ref)
		if !ok {
			return maxWork + 1
		}
		return w.work(target, ref)
	case "$dynamicref", "$recursiveref":
		return maxWork + 1
	case "$id": // below the top it changes what references mean
		if at != "#/$id" {
			return maxWork + 1
		}
	case "patternproperties":
		m, _ := sub.(map[string]any)
		return min(len(m), maxWork)
	case "enum", "required":
		list, _ := sub.([]any)
		return min(len(list), maxWork)
	case "allof", "anyof", "oneof":
		list, _ := sub.([]any)
		sum := 0
		for i, s := range list {
			sum = min(sum+w.work(s, fmt.Sprintf("%s/%d", at, i)), maxWork+1)
		}
		return sum
	case "not", "if", "then", "else":
		return w.work(sub, at)
	case "dependentschemas", "dependencies":
		m, _ := sub.(map[string]any)
		sum := 0
		for k, s := range m {
			sum = min(sum+w.work(s, at+"/"+escape(k)), maxWork+1)
		}
		return sum
	}
	return 0
}

// lookUp follows a JSON pointer within the document. One with an escape of URLs may lead elsewhere than it seems.
func (w *walk) lookUp(ref string) (any, bool) {
	path, ok := strings.CutPrefix(ref, "#")
	if !ok || path != "" && path[0] != '/' || strings.Contains(path, "%") {
		return nil, false
	}
	v := w.root
	for _, step := range strings.Split(path, "/")[1:] {
		m, ok := v.(map[string]any)
		if !ok {
			return nil, false
		}
		if v, ok = m[strings.NewReplacer("~1", "/", "~0", "~").Replace(step)]; !ok {
			return nil, false
		}
	}
	return v, true
}

func escape(key string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(key) }
