package otel

import (
	"sync"

	api "go.opentelemetry.io/otel/trace"
)

// maxCarried bounds the spans under way whose baggage is known, so that spans that never end
// don't fill the memory: 2 MB. Of more, the recording lacks the baggage where they end; it has it
// where they start.
const maxCarried = 1 << 15

// carried is the baggage of spans under way.
type carried struct {
	mu sync.Mutex
	of map[api.SpanID]string
}

func (c *carried) put(span api.SpanID, value string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.of == nil {
		c.of = map[api.SpanID]string{}
	}
	if len(c.of) < maxCarried {
		c.of[span] = value
	}
}

func (c *carried) take(span api.SpanID) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	value := c.of[span]
	delete(c.of, span)
	return value
}
