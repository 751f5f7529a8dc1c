package download

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// serve answers under some paths.
func serve(t *testing.T) *httptest.Server {
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/heap", func(w http.ResponseWriter, q *http.Request) { fmt.Fprint(w, "heap ", q.URL.RawQuery) })
	mux.HandleFunc("/hangs", func(w http.ResponseWriter, q *http.Request) {
		fmt.Fprint(w, "some")
		w.(http.Flusher).Flush()
		<-q.Context().Done()
	})
	mux.HandleFunc("/cut", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		fmt.Fprint(w, "some")
	})
	mux.HandleFunc("/busy", func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "CPU profiling already in use\x1b[31m\nmore", http.StatusInternalServerError)
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

// What a server gives is a file; a URL with a question mark is no pattern.
func TestGet(t *testing.T) {
	s := serve(t)
	var d Files
	url := s.URL + "/debug/pprof/heap?gc=1"
	d.Get(context.Background(), []string{url}, t.TempDir(), time.Minute)
	fsys, name, err := d.Mount(url)
	if err != nil || !strings.HasSuffix(url, "/"+name) {
		t.Fatal(name, err)
	}
	for range 2 {
		if text, err := fs.ReadFile(fsys, name); err != nil || string(text) != "heap gc=1" {
			t.Errorf("%q, %v", text, err)
		}
	}
	if names, err := fs.Glob(fsys, name); err != nil || len(names) != 1 || names[0] != name {
		t.Errorf("%q, %v", names, err)
	}
	f, err := fsys.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := f.(io.ReaderAt); !ok {
		t.Error("it can't be read at random")
	}
	if info, err := f.Stat(); err != nil || info.Size() != 9 || info.IsDir() {
		t.Errorf("%v, %v", info, err)
	}
}

// What can't be had is an error that says why, of that input alone.
func TestFails(t *testing.T) {
	s := serve(t)
	var d Files
	good := s.URL + "/debug/pprof/heap"
	wants := map[string]string{
		s.URL + "/busy":       "500 Internal Server Error: CPU profiling already in use[31m",
		s.URL + "/none":       "404 Not Found: 404 page not found",
		s.URL + "/hangs":      "nothing came for too long",
		s.URL + "/cut":        "unexpected EOF",
		"http://localhost:1/": "connection refused",
		"http://%":            "is no URL",
		good:                  "",
	}
	var urls []string
	for u := range wants {
		urls = append(urls, u)
	}
	d.Get(context.Background(), urls, t.TempDir(), 300*time.Millisecond)
	for u, want := range wants {
		_, _, err := d.Mount(u)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", u, err, want)
		}
	}
	if _, _, err := d.Mount("https://other"); err == nil {
		t.Error("what was not asked for is there")
	}
	if fsys, _, err := d.Mount("file.pb.gz"); fsys != nil || err != nil {
		t.Errorf("a path: %v, %v", fsys, err)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	interrupted := errors.New("interrupted")
	cancel(interrupted)
	var none Files
	none.Get(ctx, []string{good}, t.TempDir(), -1)
	if _, _, err := none.Mount(good); !errors.Is(err, interrupted) {
		t.Errorf("%v, want %v", err, interrupted)
	}
}

func TestSeconds(t *testing.T) {
	for url, want := range map[string]time.Duration{
		"http://h/debug/pprof/profile":           30 * time.Second,
		"http://h/debug/pprof/profile?seconds=5": 5 * time.Second,
		"http://h/debug/pprof/trace?seconds=2":   2 * time.Second,
		"http://h/debug/pprof/heap":              0,
		"http://h/debug/pprof/heap?seconds=-3":   0,
		"http://h/x?seconds=99999999999":         0,
		"http://%":                               0,
	} {
		if got := Seconds(url); got != want {
			t.Errorf("%s: %v, want %v", url, got, want)
		}
	}
}

// A password is used, and never shown.
func TestPassword(t *testing.T) {
	given := ""
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) { _, given, _ = q.BasicAuth() }))
	defer s.Close()
	url := strings.Replace(s.URL, "://", "://user:secret@", 1) + "/heap"
	var d Files
	d.Get(context.Background(), []string{url}, t.TempDir(), time.Minute)
	if _, _, err := d.Mount(Shown(url)); err != nil || given != "secret" {
		t.Errorf("%v, password %q", err, given)
	}
	for _, url := range []string{url, "https://user:secret@host:port/", "http://user:secret@%", "http://a@b:secret@%/"} {
		if got := Shown(url); strings.Contains(got, "secret") || !Is(got) {
			t.Errorf("%s is shown as %s", url, got)
		}
	}
	if got := Shown("s3://bucket/a"); got != "s3://bucket/a" {
		t.Error(got)
	}
}
