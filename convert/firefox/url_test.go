package firefox

import (
	"math"
	"strings"
	"testing"

	"gprof/stream"
)

func TestURL(t *testing.T) {
	tables := &stream.Tables{Processes: []stream.Process{{Instance: 1, Start: 1_000_000_000, End: 61_000_000_000}, {Instance: 2, Start: 2_000_000_000, End: 3_000_000_000}}}
	const at = "https://profiler.firefox.com/from-url/http%3A%2F%2F127.0.0.1%3A8080%2FABC%2Fp.json.gz/"
	for _, tt := range []struct {
		from, to stream.Time
		want     string
	}{
		{math.MinInt64, math.MaxInt64, at},
		{1_000_000_000, 61_000_000_000, at},
		{51_000_000_000, math.MaxInt64, at + "?range=50000000u10000001&v=10"},
		{math.MinInt64, 1_000_001_500, at + "?range=0u2&v=10"},
		{2_000_000_999, 2_000_001_001, at + "?range=1000000u2&v=10"},
		{70_000_000_000, 80_000_000_000, at},
	} {
		if got := URL("http://127.0.0.1:8080/ABC/p.json.gz", "", tables, tt.from, tt.to); got != tt.want {
			t.Errorf("%d to %d: %s, want %s", tt.from, tt.to, got, tt.want)
		}
		const server = "symbolServer=http%3A%2F%2F127.0.0.1%3A8080%2FABC"
		want := at + "?" + server + "&v=10"
		if rest, ok := strings.CutPrefix(tt.want, at+"?"); ok {
			want = at + "?" + server + "&" + rest
		}
		if got := URL("http://127.0.0.1:8080/ABC/p.json.gz", "http://127.0.0.1:8080/ABC", tables, tt.from, tt.to); got != want {
			t.Errorf("%d to %d with a symbol server: %s, want %s", tt.from, tt.to, got, want)
		}
	}
}
