package conversion

import (
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"gprof/stream"
	"gprof/stream/split"
)

// No name in a recording leads a file out of its directory, or onto another file.
func FuzzPartNames(f *testing.F) {
	for _, name := range []string{"", ".", "..", "../../etc/passwd", "a/b", `a\b`, "con", "-rf", "~2", "\x00", "\xff\xfe", "{process}", "a\nb", strings.Repeat("é", 300), " . ", "名前", "\u202egpj.exe"} {
		f.Add(name, name+".")
	}
	f.Fuzz(func(t *testing.T, one, other string) {
		for _, pattern := range []string{"{process}/{track}.json", "{track}{process}.json"} {
			names := partNames{pattern: pattern, by: "track", taken: map[string]bool{}}
			seen := map[string]bool{}
			for _, track := range []string{one, other, one} {
				p := split.Part{Process: &stream.Process{Service: other, Pid: 7}, Track: &stream.Track{Name: track}}
				name := names.of(p)
				dirs := strings.Count(name, "/")
				if seen[name] || !filepath.IsLocal(name) || dirs != strings.Count(pattern, "/") || !utf8.ValidString(name) ||
					strings.ContainsAny(name, "\x00\n\\:*?\"<>|") || strings.HasPrefix(name, ".") || strings.Contains(name, "/.") {
					t.Errorf("%q is called %q", track, name)
				}
				for part := range strings.SplitSeq(name, "/") {
					if len(part) > 255 {
						t.Errorf("%q has %d bytes", part, len(part))
					}
				}
				seen[name] = true
			}
		}
	})
}

func TestPartNames(t *testing.T) {
	shop := &stream.Process{Instance: 0xab, Service: "shop/eu", Pid: 7}
	track := func(name string) split.Part { return split.Part{Process: shop, Track: &stream.Track{Name: name}} }
	for _, tt := range []struct {
		by, pattern string
		Parts       []split.Part
		want        string
	}{
		{"process", "{service}/{process}.x", []split.Part{{Process: shop}}, "shop_eu/shop_eu-7.x"},
		{"process", "{process}.x", []split.Part{{Process: &stream.Process{Service: "shop", Pid: 1, Host: "pod/a", Naming: stream.Naming{HostTells: true, Short: "3fa9"}}}}, "shop-pod_a-1-3fa9.x"},
		{"process", "{instance}.x", []split.Part{{Process: shop}, {Process: shop}}, "00000000000000ab.x 00000000000000ab~2.x"},
		{"track", "{process}.{track}.x", []split.Part{track("a/b"), track("A_b"), track("a:b"), {Process: shop}},
			"shop_eu-7.a_b.x shop_eu-7.A_b~2.x shop_eu-7.a_b~3.x shop_eu-7.no track.x"},
		{"interval", "{interval}.x", []split.Part{{From: 1_795_000_000e9, To: 1_795_000_002e9}, {From: -1e9, To: 1e9}},
			"20261118T110640Z.x 19691231T235959Z.x"},
		{"interval", "{interval}.x", []split.Part{{From: 1_795_000_000e9, To: 1_795_000_000e9 + 250e6}, {From: 1_795_000_000e9 + 250e6, To: 1_795_000_000e9 + 500e6}},
			"20261118T110640.000Z.x 20261118T110640.250Z.x"}, // "Z" comes after "."
	} {
		names := partNames{pattern: tt.pattern, by: tt.by, taken: map[string]bool{}}
		var got []string
		for _, p := range tt.Parts {
			got = append(got, filepath.ToSlash(names.of(p)))
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s: %q, want %s", tt.pattern, got, tt.want)
		}
	}
}
