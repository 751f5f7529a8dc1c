package viewer

import (
	"testing"

	"gprof/stream"
)

// A link to the source leads to what was built, or there is none.
func TestSourceURL(t *testing.T) {
	for _, tt := range []struct {
		module, revision string
		modified         bool
		want             string
	}{
		{"github.com/x/shop", "5a1bf7", false, "https://github.com/x/shop/tree/5a1bf7"},
		{"github.com/x/shop/v2", "5a1bf7", false, "https://github.com/x/shop/tree/5a1bf7"},
		{"bitbucket.org/x/shop", "5a1bf7", false, "https://bitbucket.org/x/shop/src/5a1bf7"},
		{"github.com/x/shop", "5a1bf7", true, ""},
		{"github.com/x/shop", "", false, ""},
		{"github.com/x", "5a1bf7", false, ""},
		{"example.org/x/shop", "5a1bf7", false, ""},
		{"", "5a1bf7", false, ""},
	} {
		if got := sourceURL(&stream.Process{Module: tt.module, Revision: tt.revision, Modified: tt.modified}); got != tt.want {
			t.Errorf("%+v: %q", tt, got)
		}
	}
}
