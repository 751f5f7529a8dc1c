package conversion

import (
	"testing"

	"gprof/convert"
)

func TestTargetOf(t *testing.T) {
	for _, tt := range []struct {
		value, format string
		name, want    string
		gzip          bool
	}{
		{"a.json", "", "a.json", "firefox", false},
		{"a.firefox.json.gz", "", "a.firefox.json.gz", "firefox", true},
		{"firefox=a", "", "a", "firefox", false},
		{"firefox.gz=a", "", "a", "firefox", true},
		{"firefox=a.json.gz", "", "a.json.gz", "firefox", true}, // what is called .gz is gzip
		{"a.json.gz", "html", "a.json.gz", "html", true},
		{"a", "folded.gz", "a", "folded", true},
		{"-", "gecko", "-", "gecko", false},
		{"parquet=a.gz", "", "a.gz", "parquet", false}, // a directory
		{"odd=a.svg", "", "odd=a.svg", "svg", false},
	} {
		got, err := targetOf(convert.Formats(), tt.value, tt.format)
		if err != nil || got.Name != tt.name || got.Format.Name != tt.want || got.Options.Gzip != tt.gzip {
			t.Errorf("-o %s --format %q: %s as %s, compressed %v, %v", tt.value, tt.format, got.Name, got.Format.Name, got.Options.Gzip, err)
		}
	}
}
