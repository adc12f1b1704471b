package loop

// broadcast is a FanOut with its source, and the receipt that senders pass from
// hand to hand.
type broadcast struct {
	events chan outputEventEnvelope
	free   chan chan struct{} // holds the receipt while nobody sends
	fan    *FanOut
}

func newBroadcast() *broadcast {
	b := &broadcast{
		events: make(chan outputEventEnvelope),
		free:   make(chan chan struct{}, 1),
	}
	b.free <- make(chan struct{}, 1)
	b.fan = NewFanOut(b.events)
	return b
}

// send returns when every subscriber that wants the event has it, or the FanOut
// is closed. Senders take turns.
func (b *broadcast) send(ev OutputEvent) {
	if !b.fan.wanted(ev.Kind()) {
		return
	}
	var receipt chan struct{}
	select {
	case receipt = <-b.free:
	case <-b.fan.done:
		return
	}
	select {
	case b.events <- outputEventEnvelope{event: ev, handed: receipt}:
	case <-b.fan.done:
		return
	}
	select {
	case <-receipt:
		b.free <- receipt
	case <-b.fan.done:
	}
}
