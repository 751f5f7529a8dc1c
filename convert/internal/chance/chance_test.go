package chance

import (
	"math"
	"testing"
)

// Values as printed tables have them.
func TestStudent(t *testing.T) {
	for _, tt := range []struct{ freedom, p, want float64 }{
		{1, 0.05, 12.706}, {2, 0.05, 4.303}, {5, 0.05, 2.571}, {10, 0.01, 3.169}, {30, 0.05, 2.042}, {1000, 0.05, 1.962}, {4, 0.001, 8.610},
	} {
		if got := Quantile(tt.p, tt.freedom); math.Abs(got-tt.want) > 0.0015*tt.want {
			t.Errorf("%g degrees of freedom, %g: %.3f, want %.3f", tt.freedom, tt.p, got, tt.want)
		}
		if got := Tail(tt.want, tt.freedom); math.Abs(got-tt.p) > 0.002*tt.p {
			t.Errorf("tail of %g at %g is %.5f, want %g", tt.want, tt.freedom, got, tt.p)
		}
	}
	if Tail(0, 5) != 1 || Tail(math.Inf(1), 5) != 0 {
		t.Errorf("tails of nothing and all: %g, %g", Tail(0, 5), Tail(math.Inf(1), 5))
	}
}
