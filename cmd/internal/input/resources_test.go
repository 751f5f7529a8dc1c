package input

import "testing"

func TestSize(t *testing.T) {
	tests := []struct {
		text string
		want int64 // -1: refused
	}{
		{"0", 0}, {"4096", 4096}, {"4096b", 4096}, {"64MiB", 64 << 20}, {"10M", 10 << 20}, {"1g", 1 << 30}, {"2kb", 2048},
		{"", -1}, {"-1", -1}, {"1.5G", -1}, {"M", -1}, {"1T", -1}, {"1ib", -1}, {"1bk", -1}, {"99999999999G", -1}, {"9223372036854775807", -1}, {"1 M", -1},
	}
	for _, tt := range tests {
		got, err := parseSize(tt.text)
		if (err != nil) != (tt.want < 0) || err == nil && got != tt.want {
			t.Errorf("size %q is %d, %v; want %d", tt.text, got, err, tt.want)
		}
	}
}
