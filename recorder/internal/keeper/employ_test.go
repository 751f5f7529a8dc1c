package keeper

import (
	"bytes"
	"runtime/pprof"
	"strings"
	"testing"
)

// The recorder's own goroutines are one track.
func TestOwnTrack(t *testing.T) {
	k, _ := begin(t, Config{Limit: 4 << 20})
	labels := make(chan string)
	k.employ(func() {
		var b bytes.Buffer
		pprof.Lookup("goroutine").WriteTo(&b, 1)
		labels <- b.String()
	})
	if got := <-labels; !strings.Contains(got, `"gprof.track":"gprof recorder"`) {
		t.Errorf("no goroutine on the track:\n%s", got)
	}
	if k.trackID("gprof recorder") == 0 {
		t.Error("the track is not defined")
	}
}
