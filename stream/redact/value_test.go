package redact

import (
	"regexp"
	"testing"
)

// replacement matches all that may replace a value.
var replacement = regexp.MustCompile(`^((path|url|user|secret|name):[0-9a-f]{16}|(https?|wss?|file)://([0-9a-f]{16})?/([0-9a-f]{16})?)$`)

// A redacted value keeps at most its scheme, and equal values are redacted
// alike.
func FuzzRedactedValue(f *testing.F) {
	for _, text := range []string{"", "/", "anna", "https://anna:pw@example.org:8080/a?b#c", "https://", "file:///home/anna", "javascript://anna/%0a", "http://a@b@c", "//x", "\xff\x00"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		one, other := newDigester([]byte("key")), newDigester([]byte("key"))
		for k := pathValue; k < numValueKinds; k++ {
			got := one.hashed(k, text)
			if !replacement.MatchString(got) || got != other.hashed(k, text) {
				t.Errorf("%q of kind %d became %q, then %q", text, k, got, other.hashed(k, text))
			}
		}
	})
}

func TestRedactedURL(t *testing.T) {
	d := newDigester(nil)
	tests := []struct{ url, want string }{
		{"https://example.org", "https://" + d.of("example.org") + "/"},
		{"https://example.org/", "https://" + d.of("example.org") + "/"},
		{"https://example.org:8080/a?b", "https://" + d.of("example.org:8080") + "/" + d.of("/a?b")},
		{"https://anna:pw@example.org/a", "https://" + d.of("example.org") + "/" + d.of("anna:pw@/a")},
		{"https://example.org?user=a@b", "https://" + d.of("example.org") + "/" + d.of("?user=a@b")},
		{"file:///home/anna", "file:///" + d.of("/home/anna")},
		{"mailto:anna@example.org", "url:" + d.of("mailto:anna@example.org")},
		{"/users/anna", "url:" + d.of("/users/anna")},
	}
	for _, tt := range tests {
		if got := d.url(tt.url); got != tt.want {
			t.Errorf("%s became %s, want %s", tt.url, got, tt.want)
		}
	}
}

func TestTrimmedFile(t *testing.T) {
	tests := []struct{ function, file, want string }{
		{"main.main", "/home/anna/shop/main.go", "main/main.go"},
		{"net/http.(*conn).serve", "/usr/lib/go/src/net/http/server.go", "net/http/server.go"},
		{"net/http.(*conn).serve", "net/http/server.go", "net/http/server.go"},
		{"slices.SortFunc[go.shape.[]example.org/x.T]", "/go/src/slices/sort.go", "slices/sort.go"},
		{"malloc", `C:\Users\anna\malloc.c`, "malloc.c"},
		{"", "/home/anna/x.go", "x.go"},
	}
	for _, tt := range tests {
		if got := trimmedFile(tt.function, tt.file); got != tt.want {
			t.Errorf("%s of %s became %q, want %q", tt.file, tt.function, got, tt.want)
		}
	}
}
