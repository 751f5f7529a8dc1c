package otel

const MaxCarried = maxCarried

// Carried is of how many spans the baggage is kept.
func (p *Processor) Carried() int {
	p.carry.mu.Lock()
	defer p.carry.mu.Unlock()
	return len(p.carry.of)
}
