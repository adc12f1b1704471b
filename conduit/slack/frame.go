package slack

import "encoding/json"

// frame is an envelope as it came over the socket, its payload not looked at.
type frame struct {
	envelope string // empty: there is nothing to acknowledge
	kind     string
	payload  json.RawMessage
	accepts  bool // the ack may carry content

	reason      string // of a disconnect
	connections int64  // of a hello: how many the app has
}

// readFrame reads a frame. What can't be read at all has no envelope.
func readFrame(raw []byte) frame {
	var o object
	_ = json.Unmarshal(raw, &o)
	f := frame{kind: o.text("type"), payload: o["payload"], accepts: o.flag("accepts_response_payload"),
		reason: o.text("reason"), connections: o.size("num_connections")}
	_ = json.Unmarshal(o["envelope_id"], &f.envelope)
	return f
}
