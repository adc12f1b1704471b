package conduit

import (
	"fmt"
	"time"
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
	return "(asked " + roughly(age) + " ago)"
}

// roughly prints a duration as people say it.
func roughly(d time.Duration) string {
	switch {
	case d < 90*time.Minute:
		return fmt.Sprintf("%d min", int(d.Minutes()+0.5))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()+0.5))
	}
	return fmt.Sprintf("%d days", int(d.Hours()/24+0.5))
}
