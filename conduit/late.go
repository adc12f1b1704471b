package conduit

import (
	"time"

	"orebot/core/words"
)

// lateAfter is the age of a question from which its answer says how old it is.
const lateAfter = 10 * time.Minute

// Late returns the line that an answer opens with which came long after its question was asked, such as "(asked 19 h ago)". It is
// empty for any other item.
func Late(it Item) string {
	age := it.At.Sub(it.Asked)
	if it.Kind != Answer || it.Asked.IsZero() || age <= lateAfter {
		return ""
	}
	return "(asked " + words.Duration(age) + " ago)"
}
