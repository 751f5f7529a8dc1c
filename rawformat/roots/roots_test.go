package roots

import "testing"

func TestName(t *testing.T) {
	for _, c := range []struct{ root, next, want string }{
		{"runtime.main", "main.main", "main.main"},
		{"runtime.main", "", "runtime.main"},
		{"runtime.goexit", "main.work", "main.work"},
		{"main.work", "main.inner", "main.work"},
		{"net/http.(*conn).serve", "x", "net/http.(*conn).serve"},
		{"runtime.gcBgMarkWorker", "runtime.systemstack", "Go garbage collector"},
		{"runtime.mcall", "runtime.park_m", "Go runtime"},
		{"runtime.cgocallback", "runtime.cgocallbackg", "Go called from C"},
		{"", "", "unknown root"},
	} {
		if got := Name(c.root, c.next); got != c.want {
			t.Errorf("Name(%q, %q) = %q, want %q", c.root, c.next, got, c.want)
		}
	}
}
