//go:build !linux

package rt

import "time"

// Nap is the sleep of one goroutine, which others can end. The zero Nap is ready for use.
type Nap struct{ by timerNap }

// Sleep sleeps that long, or until Wake is called, or not at all if Wake was called since the last Sleep. It reports
// whether Wake was called.
func (n *Nap) Sleep(d time.Duration) (woken bool) { return n.by.Sleep(d) }

// Wake ends the sleep. It does not wait.
func (n *Nap) Wake() { n.by.Wake() }

// Close frees what Sleep takes. Nobody may be asleep.
func (n *Nap) Close() {}
