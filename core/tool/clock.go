package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

const clockSchema = `{"type":"object","properties":{"tz":{"type":"string",` +
	`"description":"IANA time zone such as Europe/Berlin or UTC; without it, the zone of this bot"}}}`

// Clock is the tool get_time: the current date and time, in the zone that the model names, or else in the given one.
func Clock(now func() time.Time, zone *time.Location) Tool {
	return Tool{
		Name:        "get_time",
		Label:       "Looking at the clock",
		Description: "The current date, weekday and time.",
		Parameters:  json.RawMessage(clockSchema),
		Call: func(_ context.Context, args json.RawMessage) (string, error) {
			var in struct {
				TZ string `json:"tz"`
			}
			if err := json.Unmarshal(args, &in); err != nil {
				return "", &Failure{"the arguments are not readable"}
			}
			loc := zone
			if in.TZ != "" {
				var err error
				if loc, err = time.LoadLocation(in.TZ); err != nil {
					return "", &Failure{fmt.Sprintf("there is no time zone %q; use an IANA name such as Europe/Berlin, or UTC", clipped(in.TZ, 60))}
				}
			}
			return tell(now().In(loc)), nil
		},
	}
}

// tell prints a moment for a model: words for the weekday and the month, which it would have to work out, and the exact form.
func tell(t time.Time) string {
	name := t.Location().String()
	if name == "Local" {
		name, _ = t.Zone()
	}
	return fmt.Sprintf("%s, time zone %s (%s)", t.Format("Monday, 2 January 2006, 15:04:05"), name, t.Format(time.RFC3339))
}
