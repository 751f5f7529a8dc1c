package harvest

import (
	"context"
	"io"
	"sync"
	"time"
)

// limiter spreads bytes over time, for all jobs together.
type limiter struct {
	rate int64 // in a second; 0: any

	mu   sync.Mutex
	next time.Time // when all bytes so far have had their time
}

// wait waits until n more bytes may be written.
func (l *limiter) wait(ctx context.Context, n int) error {
	if l.rate <= 0 {
		return ctx.Err()
	}
	l.mu.Lock()
	now := time.Now()
	if l.next.Before(now) {
		l.next = now
	}
	pause := l.next.Sub(now)
	l.next = l.next.Add(time.Duration(float64(n) / float64(l.rate) * float64(time.Second)))
	l.mu.Unlock()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(pause):
		return nil
	}
}

// paced is a writer with a limit.
type paced struct {
	ctx   context.Context
	limit *limiter
	w     io.Writer
}

// Write implements [io.Writer].
func (p *paced) Write(b []byte) (int, error) {
	if err := p.limit.wait(p.ctx, len(b)); err != nil {
		return 0, err
	}
	return p.w.Write(b)
}
