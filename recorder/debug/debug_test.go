package debug_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gprof/chunks"
	"gprof/ingest/pack"
	"gprof/rawformat"
	"gprof/recorder"
	"gprof/recorder/debug"
)

const childVariable = "DEBUG_TEST_CHILD"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childVariable); dir != "" {
		child(dir)
	}
	os.Exit(m.Run())
}

func options(dir string) recorder.Options {
	return recorder.Options{Dir: dir, Service: "shop", Limit: 4 << 20, CounterHz: -1}
}

// child records until it is killed.
func child(dir string) {
	rec, err := recorder.Start(options(dir))
	if err != nil {
		panic(err)
	}
	recorder.Text("words", "last words")
	fmt.Printf("%016x\n", rec.Instance())
	select {}
}

// crash leaves the recording of a process that was killed in a session, and
// returns its instance.
func crash(t *testing.T, dir string) string {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childVariable+"="+dir)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	must(t, err)
	must(t, cmd.Process.Kill())
	cmd.Wait() // its error is that it was killed
	return strings.TrimSpace(line)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// get asks the handler.
func get(t *testing.T, h http.Handler, path, accept string, want int) []byte {
	t.Helper()
	r := httptest.NewRequest("GET", "http://localhost"+path, nil)
	r.Header.Set("Accept", accept)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	body, err := io.ReadAll(w.Result().Body)
	must(t, err)
	if w.Code != want {
		t.Fatalf("%s: %d %s, want %d", path, w.Code, body, want)
	}
	return body
}

// marks are the texts of markers without a type in an archive, by process.
func marks(t *testing.T, data []byte) map[string][]string {
	t.Helper()
	a, err := pack.Open(bytes.NewReader(data), int64(len(data)))
	must(t, err)
	if len(a.Problems) > 0 {
		t.Error(a.Problems)
	}
	found := map[string][]string{}
	for _, i := range a.Instances() {
		name := fmt.Sprintf("%016x", i)
		p, err := chunks.OpenProcess(a, name)
		must(t, err)
		for _, pr := range p.Problems {
			t.Error(pr)
		}
		found[name] = []string{}
		blocks := p.Blocks(nil)
		for blocks.Next() {
			b := blocks.Block()
			if b.Kind != rawformat.KindInstant {
				continue
			}
			b.Fields.Uint("event")
			b.Fields.Uint("stack")
			b.Fields.Uint("time")
			for _, a := range b.Fields.Args(nil, "args") {
				found[name] = append(found[name], string(a.Text))
			}
		}
		must(t, blocks.Err())
	}
	return found
}

// awaitBurial waits until this process' recorder has written how another one
// ended: until then it may hold that one's lock, as the living do.
func awaitBurial(t *testing.T, dir string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		if _, err := os.Stat(filepath.Join(dir, "exit")); err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("nobody noticed the crash")
		}
	}
}

// list returns the states of the processes that are listed.
func list(t *testing.T, h http.Handler) map[string]string {
	t.Helper()
	var list struct {
		Processes []struct {
			Instance, State, Service string
			Bytes                    int64
		}
	}
	must(t, json.Unmarshal(get(t, h, "/debug/gprof/", "application/json", http.StatusOK), &list))
	states := map[string]string{}
	for _, p := range list.Processes {
		states[p.Instance] = p.State
		if p.Service != "shop" || p.Bytes == 0 {
			t.Error(p)
		}
	}
	return states
}

// A session is listed, the crashed process can be fetched, and so can the one
// that answers, while it goes on recording.
func TestHandler(t *testing.T) {
	dir := t.TempDir()
	h := debug.Handler()
	get(t, h, "/debug/gprof/", "", http.StatusServiceUnavailable)
	rec, err := recorder.Start(options(dir))
	must(t, err)
	defer rec.Stop()
	self := fmt.Sprintf("%016x", rec.Instance())
	if none := get(t, h, "/debug/gprof/crashed", "", http.StatusNotFound); !bytes.HasPrefix(none, []byte("no process crashed")) {
		t.Errorf("%s", none)
	}
	dead := crash(t, dir)

	awaitBurial(t, filepath.Join(rec.Session(), dead))
	states := list(t, h)
	if len(states) != 2 || states[self] != "recording" || states[dead] != "crashed" {
		t.Errorf("%v, this is %s, dead is %s", states, self, dead)
	}
	if html := string(get(t, h, "/debug/gprof/", "text/html", http.StatusOK)); !strings.Contains(html, dead) || !strings.Contains(html, self) {
		t.Error(html)
	}

	if got := marks(t, get(t, h, "/debug/gprof/crashed", "", http.StatusOK)); len(got) != 1 || len(got[dead]) != 1 || got[dead][0] != "last words" {
		t.Error("crashed:", got)
	}
	recorder.Text("words", "first words")
	for _, query := range []string{"", "?last=60s", "?last=60", "?instance=" + self} {
		got := marks(t, get(t, h, "/debug/gprof/snapshot"+query, "", http.StatusOK))
		if len(got) != 1 || len(got[self]) != 1 || got[self][0] != "first words" {
			t.Error("snapshot"+query+":", got)
		}
	}
	if got := marks(t, get(t, h, "/debug/gprof/snapshot?instance="+dead, "", http.StatusOK)); len(got) != 1 || len(got[dead]) != 1 {
		t.Error("of the dead:", got)
	}
	if !rec.Recording() {
		t.Error("it does not record any more")
	}
}

// What is asked for in a wrong way is told, and nothing else is served.
func TestRefused(t *testing.T) {
	rec, err := recorder.Start(options(t.TempDir()))
	must(t, err)
	defer rec.Stop()
	h := debug.Handler()
	for path, want := range map[string]int{
		"/debug/gprof/snapshot?last=soon":      http.StatusBadRequest,
		"/debug/gprof/snapshot?last=-5s":       http.StatusBadRequest,
		"/debug/gprof/snapshot?lst=5s":         http.StatusBadRequest,
		"/debug/gprof/snapshot?instance=../..": http.StatusNotFound,
		"/debug/gprof/other":                   http.StatusNotFound,
		"/":                                    http.StatusNotFound,
	} {
		get(t, h, path, "", want)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("POST", "http://localhost/debug/gprof/snapshot", nil))
	if w.Code != http.StatusMethodNotAllowed {
		t.Error("POST:", w.Code)
	}
	if got, _ := http.DefaultServeMux.Handler(httptest.NewRequest("GET", "/debug/gprof/", nil)); got == nil {
		t.Error("no default handler")
	} else if _, pattern := http.DefaultServeMux.Handler(httptest.NewRequest("GET", "/debug/gprof/", nil)); pattern != "" {
		t.Error("registered unasked as", pattern)
	}
}

// A server's time limit for answers does not cut a recording off.
func TestWriteTimeout(t *testing.T) {
	rec, err := recorder.Start(options(t.TempDir()))
	must(t, err)
	defer rec.Stop()
	for i := range uint64(5000) { // more than a server holds back
		recorder.Text("words", fmt.Sprintf("%016x", (i+1)*0x9e3779b97f4a7c15))
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(50 * time.Millisecond) // the limit is over
		debug.Handler().ServeHTTP(w, r)
	}))
	server.Config.WriteTimeout = 20 * time.Millisecond
	server.Start()
	defer server.Close()
	for range 2 {
		answer, err := http.Get(server.URL + "/debug/gprof/snapshot")
		must(t, err)
		data, err := io.ReadAll(answer.Body)
		must(t, err)
		must(t, answer.Body.Close())
		for _, all := range marks(t, data) {
			if len(all) != 5000 {
				t.Errorf("%d markers", len(all))
			}
		}
	}
}

// A window of the execution trace that was asked for is in the next snapshot.
func TestTrace(t *testing.T) {
	rec, err := recorder.Start(options(t.TempDir()))
	must(t, err)
	defer rec.Stop()
	post := func(query string) (int, string) {
		w := httptest.NewRecorder()
		debug.Handler().ServeHTTP(w, httptest.NewRequest("POST", "http://localhost/debug/gprof/trace"+query, nil))
		return w.Code, strings.TrimSpace(w.Body.String())
	}
	if code, body := post("?ahead=10ms"); code != http.StatusOK || body != "trace-000.out" {
		t.Fatalf("%d: %s", code, body)
	}
	data := get(t, debug.Handler(), "/debug/gprof/snapshot", "", http.StatusOK)
	a, err := pack.Open(bytes.NewReader(data), int64(len(data)))
	must(t, err)
	p, err := chunks.OpenProcess(a, fmt.Sprintf("%016x", rec.Instance()))
	must(t, err)
	if len(p.Traces) != 1 || p.Traces[0].Size == 0 {
		t.Errorf("windows in the snapshot: %v", p.Traces)
	}
	for _, query := range []string{"?ahead=x", "?ahead=-1s", "?ahead=2m"} {
		if code, body := post(query); code != http.StatusBadRequest {
			t.Errorf("%s: %d, %s", query, code, body)
		}
	}
	rec.Stop()
	if code, body := post(""); code != http.StatusServiceUnavailable {
		t.Errorf("after Stop: %d, %s", code, body)
	}
}
