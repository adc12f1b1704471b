package secret

import (
	"fmt"
	"io"
	"log/slog"
	"strings"
)

// Mask is what stands wherever a secret would have stood.
const Mask = "[redacted]"

// String is a secret text. It prints as Mask under every verb and encoder, whether it is set or not, so that its print
// tells nothing. The text lives in a closure: reflection, which reads unexported fields of other people's structs, finds
// a function pointer there. The zero String is unset. Strings are not comparable.
type String struct{ reveal func() string }

// New returns a String that holds s; New("") is the zero String.
func New(s string) String {
	if s == "" {
		return String{}
	}
	s = strings.Clone(s) // s may be a slice of a whole file
	return String{reveal: func() string { return s }}
}

// Reveal returns the text itself, or "" where none is set. Every call of it deserves a look in review.
func (s String) Reveal() string {
	if s.reveal == nil {
		return ""
	}
	return s.reveal()
}

// IsZero reports whether no secret is set.
func (s String) IsZero() bool { return s.reveal == nil }

// String returns Mask.
func (s String) String() string { return Mask }

// GoString returns Mask.
func (s String) GoString() string { return Mask }

// Format writes Mask whatever the verb and flags.
func (s String) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, Mask) }

// MarshalText returns Mask: a secret doesn't survive a round trip through an encoder, on purpose.
func (s String) MarshalText() ([]byte, error) { return []byte(Mask), nil }

// MarshalJSON returns Mask as a JSON string.
func (s String) MarshalJSON() ([]byte, error) { return []byte(`"` + Mask + `"`), nil }

// LogValue returns Mask.
func (s String) LogValue() slog.Value { return slog.StringValue(Mask) }

// UnmarshalText takes b as the secret.
func (s *String) UnmarshalText(b []byte) error {
	*s = New(string(b))
	return nil
}
