package gonames

import (
	"testing"

	"gprof/stream"
)

func TestCategory(t *testing.T) {
	for function, want := range map[string]stream.Category{
		"main.main":                             program,
		"main.(*server).serve.func1":            program,
		"github.com/klauspost/compress/zstd.f":  program,
		"corp/service/handler.Serve":            program,
		"net/http.(*conn).serve":                library,
		"bytes.(*Buffer).Write":                 library,
		"encoding/json.Marshal":                 library,
		"vendor/golang.org/x/net/http2.f":       library,
		"runtime.main":                          runtime,
		"runtime.mallocgc":                      part(runtime, "Memory"),
		"runtime.mapassign":                     part(runtime, "Maps"),
		"internal/runtime/maps.(*Map).getWithK": part(runtime, "Maps"),
		"internal/runtime/sys.Prefetch":         runtime,
		"runtime.findRunnable":                  part(runtime, "Scheduler"),
		"runtime.futexsleep":                    part(runtime, "Locks"),
		"runtime.chansend1":                     part(runtime, "Channels"),
		"runtime.gcDrain":                       garbage,
		"runtime.gcAssistAlloc":                 part(garbage, "Assist"),
		"runtime.gcWriteBarrier2":               part(garbage, "Write barrier"),
		"runtime.scanobject":                    garbage,
		"runtime.sweepone":                      part(garbage, "Sweep"),
		"runtime.(*mspan).sweep":                part(garbage, "Sweep"),
		"memchr":                                Native,
	} {
		if got := Category(function); got != want {
			t.Errorf("%s is %s, want %s", function, got.Title(), want.Title())
		}
	}
}

func TestRoot(t *testing.T) {
	for _, c := range []struct{ root, next, want string }{
		{"runtime.main", "main.main", "main.main"},
		{"runtime.main", "", "runtime.main"},
		{"runtime.goexit", "main.work", "main.work"},
		{"main.work", "main.inner", "main.work"},
		{"net/http.(*conn).serve", "x", "net/http.(*conn).serve"},
		{"runtime.gcBgMarkWorker", "runtime.systemstack", "Go garbage collector"},
		{"runtime.mcall", "runtime.park_m", "Go runtime"},
		{"", "", "unknown root"},
	} {
		if got := Root(c.root, c.next); got != c.want {
			t.Errorf("Root(%q, %q) = %q, want %q", c.root, c.next, got, c.want)
		}
	}
}
