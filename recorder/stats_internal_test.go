package recorder

import (
	"testing"

	"gprof/rawformat"
	"gprof/recorder/internal/shard"
)

// Each reason has its count.
func TestDrops(t *testing.T) {
	if d := (*Recorder)(nil).Drops(); d != (Drops{}) {
		t.Errorf("nil dropped %+v", d)
	}
	r := Recorder{rec: &shard.Recording{}}
	for why := range int(rawformat.LostDeep) + 1 {
		r.rec.Lose(rawformat.LostReason(why), uint64(why+1), 0)
	}
	if d, want := r.Drops(), (Drops{NoChunk: 1, Busy: 2, TooBig: 3, Dictionary: 4, Samples: 5, Labels: 6, Cut: 7, Deep: 9}); d != want || d.Markers() != 10 {
		t.Errorf("%+v, %d of markers; want %+v", d, d.Markers(), want)
	}
}
