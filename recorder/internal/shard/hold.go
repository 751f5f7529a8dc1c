package shard

import (
	"gprof/recorder/internal/rt"
)

// Hold takes all shards with their chunks, for tests: markers find none until release is
// called.
func (r *Recording) Hold() (release func()) {
	var held []*shard
	for i := range r.shards {
		if s := &r.shards[i]; r.claimFinally(s, rt.Now()) {
			held = append(held, s)
		}
	}
	return func() {
		for _, s := range held {
			disclaim(s)
		}
	}
}
