package pattern_test

import (
	"strings"
	"testing"

	"gprof/rawformat/pattern"
)

func TestPattern(t *testing.T) {
	for _, c := range []struct {
		pattern pattern.Pattern
		name    string
		want    bool
	}{
		{"", "", true}, {"", "a", false}, {"a", "a", true}, {"a", "ab", false}, {"*", "", true}, {"*", "a/b", true},
		{"a*", "abc", true}, {"*c", "abc", true}, {"*b*", "abc", true}, {"*d*", "abc", false}, {"a*c*e", "abcde", true},
		{"a*c*e", "abcdef", false}, {"?", "a", true}, {"?", "", false}, {"?", "é", true}, {"?", "\xff", true}, {"??", "é", false},
		{"net/http.(*conn).serve", "net/http.(*conn).serve", true}, {"[a]", "[a]", true}, {"[a]", "a", false},
		{"*aab", "aaab", true}, {"*?b", "aab", true}, {"**", "x", true},
	} {
		if got := c.pattern.Match(c.name); got != c.want {
			t.Errorf("%q matches %q: %v, want %v", c.pattern, c.name, got, c.want)
		}
	}
}

// Tracks are wanted by parts of their names, exact names and processes; the last item that fits decides.
func TestTracks(t *testing.T) {
	for _, c := range []struct{ items, name, want string }{
		{"", "a", "yes"}, {" ", "a", "no"}, {" ", "a b", "yes"},
		{"work", "Worker 3", "yes"}, {"WORKER", "a worker", "yes"}, {"worker", "work", "no"}, {"*", "", "yes"}, {"?", "", "no"},
		{"ÄRGER", "großer ärger", "yes"}, {"\u212a", "k", "yes"}, {"ς", "Σ", "yes"}, {"\xff", "a\xff", "yes"}, {"\xff", "\xfe", "no"},
		{"\ufffd", "\xff", "no"},
		{"work*", "Worker 3", "yes"}, {"*work", "worker", "no"}, {"w?rk*", "WORKER", "yes"},
		{"(*conn)", "net/http.(*conn).serve", "yes"},
		{"=Main", "Main", "yes"}, {"=Main", "main", "no"}, {"=main", "main.main", "no"}, {"=*", "a", "no"}, {"=*", "*", "yes"}, {"=", "", "yes"},
		{"=-a", "-a", "yes"}, {"=pid:5", "pid:5", "yes"}, {"==", "=", "yes"},
		{"pid:12", "a", "yes"}, {"pid:1", "a", "no"}, {"pid:012", "a", "no"}, {"pid:", "pid:", "no"}, {"pid:1,a", "ab", "yes"},
		{"-a", "ab", "no"}, {"-a", "b", "yes"}, {"-=a", "ab", "yes"}, {"-pid:12", "a", "no"}, {"pid:12,-a", "a", "no"}, {"-pid:12,a", "a", "yes"},
		{"work,-=worker 3", "worker 3", "no"}, {"work,-=worker 3", "worker 4", "yes"}, {"work,-3", "else", "no"},
	} {
		var items pattern.Tracks
		if c.items != "" {
			items = strings.Split(c.items, ",")
		}
		if got := items.Want(c.name, 12); got != (c.want == "yes") {
			t.Errorf("%q wants %q: %v", items, c.name, got)
		}
		if items.Want(c.name, 12) && !items.WantProcess(12) {
			t.Errorf("%q wants %q, but not its process", items, c.name)
		}
	}
	if !(pattern.Tracks{""}).Want("a", 1) {
		t.Error("a name without a part that is empty")
	}
}

// Processes can be left out unread only if items name nothing but others.
func TestTracksOfProcesses(t *testing.T) {
	for items, want := range map[string]bool{
		"": true, "pid:12": true, "pid:1": false, "pid:1,pid:12": true, "pid:1,a": true, "a": true, "-pid:12": false, "-pid:1": true, "-a": true,
		"pid:12,-pid:12": false, "-pid:12,pid:12": true, "a,-pid:12": false, "-pid:12,a": true,
	} {
		var list pattern.Tracks
		if items != "" {
			list = strings.Split(items, ",")
		}
		if got := list.WantProcess(12); got != want {
			t.Errorf("%q: %v", items, got)
		}
	}
}
