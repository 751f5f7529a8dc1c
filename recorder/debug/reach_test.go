package debug_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"gprof/recorder"
	"gprof/recorder/debug"
)

// Requests that browsers send for pages of other sites, or under names that a stranger
// may have made up, are refused unless an option allows them.
func TestReach(t *testing.T) {
	rec, err := recorder.Start(options(t.TempDir()))
	must(t, err)
	defer rec.Stop()
	own, err := os.Hostname()
	must(t, err)
	const list, snapshot = "/debug/gprof/", "/debug/gprof/snapshot"
	cross := map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}
	link := map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
	from := func(origin string) map[string]string { return map[string]string{"Origin": origin} }
	for _, c := range []struct {
		method, host, path string
		header             map[string]string
		options            []debug.Option
		want               int
	}{
		{"GET", "localhost:6060", list, nil, nil, 200},
		{"GET", "127.0.0.1:6060", list, nil, nil, 200},
		{"GET", "[::1]:6060", list, nil, nil, 200},
		{"GET", "10.1.2.3", list, nil, nil, 200},
		{"GET", "checkout:6060", list, nil, nil, 200},
		{"GET", "checkout.shop.svc:6060", list, nil, nil, 200},
		{"GET", "checkout.shop.svc.cluster.local.", list, nil, nil, 200},
		{"GET", own + ":6060", list, nil, nil, 200},
		{"GET", "", list, nil, nil, 200}, // no browser
		{"GET", "rebound.example.com:6060", list, nil, nil, 403},
		{"GET", "rebound.example.com:6060", snapshot, nil, nil, 403},
		{"GET", "localhost.example.com", snapshot, nil, nil, 403},
		{"GET", "127.0.0.1.example.com", snapshot, nil, nil, 403},
		{"GET", "debug.example.com", list, nil, []debug.Option{debug.AllowHosts("Debug.example.com")}, 200},
		{"GET", "debug.example.com", list, nil, []debug.Option{debug.AllowHosts("*")}, 200},
		{"GET", "localhost", snapshot, cross, nil, 403},
		{"GET", "localhost", snapshot, link, nil, 403},
		{"GET", "localhost", list, link, nil, 200},
		{"GET", "localhost", snapshot, map[string]string{"Sec-Fetch-Site": "same-origin"}, nil, 200},
		{"GET", "localhost", snapshot, map[string]string{"Sec-Fetch-Site": "none"}, nil, 200},
		{"POST", "localhost", "/debug/gprof/trace?ahead=x", cross, nil, 403},
		{"POST", "localhost", "/debug/gprof/trace?ahead=x", from("https://evil.example.com"), nil, 403},
		{"POST", "localhost", "/debug/gprof/trace?ahead=x", from("null"), nil, 403},
		{"POST", "localhost:6060", "/debug/gprof/trace?ahead=x", from("http://localhost:6060"), nil, 400},
		{"POST", "localhost:6060", "/debug/gprof/trace?ahead=x", from("http://localhost:8080"), nil, 403},
		{"POST", "localhost", "/debug/gprof/trace?ahead=x", nil, nil, 400},
		{"POST", "localhost", "/debug/gprof/trace?ahead=x", from("https://good.example.com"), []debug.Option{debug.AllowOrigins("https://good.example.com")}, 400},
	} {
		r := httptest.NewRequest(c.method, c.path, nil)
		r.Host = c.host
		for k, v := range c.header {
			r.Header.Set(k, v)
		}
		w := httptest.NewRecorder()
		debug.Handler(c.options...).ServeHTTP(w, r)
		if w.Code != c.want {
			t.Errorf("%s %s of %s with %v: %d %s, want %d", c.method, c.path, c.host, c.header, w.Code, w.Body, c.want)
		}
		if w.Code == 403 && !strings.Contains(w.Body.String(), "debug.Allow") {
			t.Errorf("it is not said what to do: %s", w.Body)
		}
	}
}

// stuck is a client that has stopped to read.
type stuck struct {
	http.ResponseWriter
	writing chan struct{} // closed at the first write
	goOn    chan struct{} // until then it takes
}

func (s *stuck) Write(b []byte) (int, error) {
	select {
	case <-s.writing:
	default:
		close(s.writing)
	}
	<-s.goOn
	return s.ResponseWriter.Write(b)
}

// Clients that don't read keep nobody from being served, up to a number of them, and
// get all of theirs when they go on.
func TestStuckClients(t *testing.T) {
	rec, err := recorder.Start(options(t.TempDir()))
	must(t, err)
	defer rec.Stop()
	recorder.Text("words", "first words")
	h := debug.Handler()
	const all = 4
	goOn := make(chan struct{})
	var answers [all]*httptest.ResponseRecorder
	var done [all]chan struct{}
	for i := range all {
		if i > 0 && len(marks(t, get(t, h, "/debug/gprof/snapshot", "", http.StatusOK))) != 1 {
			t.Errorf("beside %d that are stuck: not one process", i)
		}
		answers[i], done[i] = httptest.NewRecorder(), make(chan struct{})
		s := &stuck{answers[i], make(chan struct{}), goOn}
		go func() {
			defer close(done[i])
			h.ServeHTTP(s, httptest.NewRequest("GET", "http://localhost/debug/gprof/snapshot", nil))
		}()
		<-s.writing
	}
	if busy := get(t, h, "/debug/gprof/snapshot", "", http.StatusServiceUnavailable); !bytes.Contains(busy, []byte("try again")) {
		t.Errorf("%s", busy)
	}
	get(t, h, "/debug/gprof/", "", http.StatusOK)
	close(goOn)
	for i, a := range answers {
		<-done[i]
		if len(marks(t, a.Body.Bytes())) != 1 {
			t.Errorf("client %d has got %d bytes", i, a.Body.Len())
		}
	}
	get(t, h, "/debug/gprof/snapshot", "", http.StatusOK)
}
