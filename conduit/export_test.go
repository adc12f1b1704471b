package conduit

// Keys is how many keys a pacer keeps.
func (p *Paces) Keys() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.keys)
}

// StillThere is what is said where a message can neither be removed nor changed.
const StillThere = stillThereText
