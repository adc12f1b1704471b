package slack

import (
	"encoding/json"

	"github.com/slack-go/slack/socketmode"
)

// frame is an envelope as it came over the socket, its payload not looked at.
type frame struct {
	envelope string // empty: there is nothing to acknowledge
	kind     string
	payload  json.RawMessage
	accepts  bool // the ack may carry content
}

// frameOf returns an envelope that the client library could read.
func frameOf(r *socketmode.Request) frame {
	return frame{envelope: r.EnvelopeID, kind: r.Type, payload: r.Payload, accepts: r.AcceptsResponsePayload}
}

// readFrame reads one that the library could not. What can't be read at all has no envelope.
func readFrame(raw json.RawMessage) frame {
	var o object
	_ = json.Unmarshal(raw, &o)
	f := frame{kind: o.text("type"), payload: o["payload"], accepts: o.flag("accepts_response_payload")}
	_ = json.Unmarshal(o["envelope_id"], &f.envelope)
	return f
}
