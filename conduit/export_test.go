package conduit

// Keys is how many keys a pacer keeps.
func (p *Paces) Keys() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.keys)
}
