package loopback

import (
	"context"
	"errors"
	"io"
	"net/http"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

const page = "https://profiler.example"

// serve serves a file until the test ends, or until it ends by itself.
func serve(t *testing.T, o Options) (s *Server, ended chan error) {
	t.Helper()
	s, err := Listen(o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended = make(chan error, 1)
	const text = "the profile"
	go func() {
		ended <- s.Serve(ctx, File("p.json.gz", "application/gzip", strings.NewReader(text), int64(len(text))))
	}()
	t.Cleanup(func() {
		cancel()
		select {
		case err := <-ended:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(time.Minute):
			t.Error("the server does not end")
		}
	})
	return s, ended
}

type request struct {
	method, url, host, origin string
	header                    map[string]string
}

func (r request) do(t *testing.T) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequest(r.method, r.url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Host = r.host
	if r.origin != "" {
		req.Header.Set("Origin", r.origin)
	}
	for k, v := range r.header {
		req.Header.Set(k, v)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(body)
}

// Only a request that has the secret and names this host gets the file. Of
// pages of other origins, only the allowed one does.
func TestGuard(t *testing.T) {
	s, _ := serve(t, Options{Origin: page})
	url := s.URL("p.json.gz")
	port := url[strings.LastIndex(url, ":")+1 : strings.Index(url, "/"+s.secret)]
	for name, tt := range map[string]struct {
		request
		status int
		allow  string // the origin that is let in
	}{
		"the page":                {request{"GET", url, "", page, nil}, 200, page},
		"the person":              {request{"GET", url, "", "", nil}, 200, ""},
		"its own page":            {request{"GET", url, "", "http://127.0.0.1:" + port, nil}, 200, ""},
		"localhost":               {request{"GET", url, "localhost:" + port, page, nil}, 200, page},
		"only the head":           {request{"HEAD", url, "", page, nil}, 200, page},
		"another page":            {request{"GET", url, "", "https://evil.example", nil}, 403, ""},
		"a page like it":          {request{"GET", url, "", page + ".evil.example", nil}, 403, ""},
		"the page without TLS":    {request{"GET", url, "", strings.Replace(page, "https", "http", 1), nil}, 403, ""},
		"a file":                  {request{"GET", url, "", "null", nil}, 403, ""},
		"a name that points here": {request{"GET", url, "evil.example:" + port, "", nil}, 421, ""},
		"the same as an origin":   {request{"GET", url, "evil.example:" + port, "http://evil.example:" + port, nil}, 421, ""},
		"another port":            {request{"GET", url, "127.0.0.1:1", "", nil}, 421, ""},
		"no port":                 {request{"GET", url, "127.0.0.1", "", nil}, 421, ""},
		"no secret":               {request{"GET", "http://127.0.0.1:" + port + "/p.json.gz", "", page, nil}, 404, ""},
		"half a secret":           {request{"GET", strings.Replace(url, s.secret, s.secret[:13], 1), "", page, nil}, 404, ""},
		"the root":                {request{"GET", "http://127.0.0.1:" + port, "", "", nil}, 404, ""},
		"the directory":           {request{"GET", s.URL(""), "", page, nil}, 404, page},
		"another file":            {request{"GET", s.URL("../p.json.gz"), "", page, nil}, 404, page},
		"writing":                 {request{"POST", url, "", page, nil}, 405, page},
		"preflight of the page":   {request{"OPTIONS", url, "", page, nil}, 204, page},
		"preflight of another":    {request{"OPTIONS", url, "", "https://evil.example", map[string]string{"Access-Control-Request-Private-Network": "true"}}, 403, ""},
		"preflight, no secret":    {request{"OPTIONS", "http://127.0.0.1:" + port + "/x/p.json.gz", "", page, nil}, 404, ""},
	} {
		res, body := tt.do(t)
		if res.StatusCode != tt.status || res.Header.Get("Access-Control-Allow-Origin") != tt.allow {
			t.Errorf("%s: %d for %q, want %d for %q", name, res.StatusCode, res.Header.Get("Access-Control-Allow-Origin"), tt.status, tt.allow)
		}
		if has := body == "the profile"; has != (tt.status == 200 && tt.method == "GET") {
			t.Errorf("%s: body %q", name, body)
		}
		if strings.Contains(body, s.secret) || res.Header.Get("Access-Control-Allow-Private-Network") != "" {
			t.Errorf("%s: tells too much: %q, %v", name, body, res.Header)
		}
	}
}

// Chrome asks whether a public page may reach a private address.
func TestPrivateNetwork(t *testing.T) {
	s, _ := serve(t, Options{Origin: page})
	res, _ := request{"OPTIONS", s.URL("p.json.gz"), "", page, map[string]string{"Access-Control-Request-Method": "GET", "Access-Control-Request-Private-Network": "true"}}.do(t)
	if res.StatusCode != 204 || res.Header.Get("Access-Control-Allow-Private-Network") != "true" || res.Header.Get("Access-Control-Allow-Methods") != "GET, HEAD, POST" {
		t.Errorf("%d, %v", res.StatusCode, res.Header)
	}
}

// Parts can be had; nothing is kept by the browser.
func TestContent(t *testing.T) {
	s, _ := serve(t, Options{})
	res, body := request{"GET", s.URL("p.json.gz"), "", "", map[string]string{"Range": "bytes=4-"}}.do(t)
	if res.StatusCode != 206 || body != "profile" || res.Header.Get("Content-Type") != "application/gzip" || res.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("%d %q %v", res.StatusCode, body, res.Header)
	}
}

// The server ends when the file was fetched and nothing follows, not before.
func TestLinger(t *testing.T) {
	s, ended := serve(t, Options{Linger: time.Millisecond})
	request{"GET", s.URL("nothing"), "", "", nil}.do(t)                       // is no fetch
	request{"GET", s.URL("p.json.gz"), "", "https://evil.example", nil}.do(t) // nor is that
	select {
	case err := <-ended:
		t.Fatalf("ended (%v) before anything was fetched", err)
	case <-time.After(30 * time.Millisecond):
	}
	request{"GET", s.URL("p.json.gz"), "", "", nil}.do(t)
	select {
	case err := <-ended:
		ended <- err
	case <-time.After(time.Minute):
		t.Fatal("does not end after the fetch")
	}
	if res, err := http.Get(s.URL("p.json.gz")); !errors.Is(err, syscall.ECONNREFUSED) && runtime.GOOS == "linux" {
		t.Errorf("still there: %v, %v", res, err)
	}
}

// The last answer arrives, however short the server lingers.
func TestLastAnswerArrives(t *testing.T) {
	for range 50 {
		s, _ := serve(t, Options{Linger: 1})
		if _, body := (request{"GET", s.URL("p.json.gz"), "", "", nil}).do(t); body != "the profile" {
			t.Fatalf("%q", body)
		}
	}
}

// An answer without an explicit status is 200.
func TestLingerOfPages(t *testing.T) {
	s, err := Listen(Options{Linger: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	s.Stay(time.Millisecond)
	ended := make(chan error, 1)
	go func() {
		ended <- s.Serve(t.Context(), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "page") }))
	}()
	request{"GET", s.URL(""), "", "", nil}.do(t)
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Fatal("does not end after the page")
	}
}

// Two servers do not share a secret; each is long.
func TestSecret(t *testing.T) {
	a, _ := serve(t, Options{})
	b, _ := serve(t, Options{})
	if a.secret == b.secret || len(a.secret) < 26 {
		t.Errorf("secrets %q, %q", a.secret, b.secret)
	}
}

// A port that is taken is an error.
func TestPortTaken(t *testing.T) {
	s, _ := serve(t, Options{})
	_, port, _ := strings.Cut(s.listener.Addr().String(), ":")
	n := 0
	for _, c := range port {
		n = 10*n + int(c-'0')
	}
	if _, err := Listen(Options{Port: n}); !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("error %v", err)
	}
}

// While it is held, a server does not end for lack of requests; it lingers from then on.
func TestHold(t *testing.T) {
	s, ended := serve(t, Options{Linger: time.Millisecond})
	release := s.Hold()
	request{"GET", s.URL("p.json.gz"), "", "", nil}.do(t)
	select {
	case err := <-ended:
		t.Fatalf("ended (%v) while it was held", err)
	case <-time.After(30 * time.Millisecond):
	}
	release()
	select {
	case err := <-ended:
		ended <- err
	case <-time.After(time.Minute):
		t.Fatal("does not end after release")
	}
}
