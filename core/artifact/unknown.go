package artifact

import (
	"encoding/json"
	"fmt"
)

// Unknown is an artifact of a kind that this program has no type for. Raw is
// the JSON object as it was read, "kind" included; Marshal writes it unchanged.
type Unknown struct {
	KindName string
	Raw      json.RawMessage
}

// Kind returns the kind that the JSON named.
func (u Unknown) Kind() string { return u.KindName }

// MarshalJSON returns Raw, or an object with nothing but the kind where Raw is
// empty. It fails where Raw isn't an object of that kind.
func (u Unknown) MarshalJSON() ([]byte, error) {
	if len(u.Raw) == 0 {
		return withKind([]byte("{}"), u.KindName)
	}
	kind, err := kindOf(u.Raw)
	if err != nil {
		return nil, err
	}
	if kind != u.KindName {
		return nil, fmt.Errorf("artifact: unknown %q: its JSON says %q", u.KindName, kind)
	}
	return u.Raw, nil
}
