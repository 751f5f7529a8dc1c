package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"gprof/chunks"
	"gprof/cmd/internal/console"
	"gprof/fixtures"
	"gprof/fixtures/judges"
	"gprof/rawformat"
)

// browser is what opens pages in scripts. It does what the browser and the page
// there would, and notes in the file $SEEN what it saw.
func browser() {
	seen, err := follow(os.Args[1])
	if err != nil {
		seen = "error: " + err.Error()
	}
	if err := os.WriteFile(os.Getenv("SEEN"), []byte(seen+"\n"), 0o600); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}

// follow goes where a page of this user alone leads to.
func follow(page string) (string, error) {
	info, err := os.Stat(page)
	if err != nil {
		return "", err
	}
	if info.Mode().Perm() != 0o600 || filepath.Ext(page) != ".html" {
		return "", fmt.Errorf("%s has mode %v", page, info.Mode())
	}
	text, err := os.ReadFile(page)
	if err != nil {
		return "", err
	}
	to := regexp.MustCompile(`http-equiv="refresh" content="0; url=([^"]*)"`).FindSubmatch(text)
	if to == nil {
		return "", fmt.Errorf("it leads nowhere: %s", text)
	}
	return look(html.UnescapeString(string(to[1])))
}

func look(address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", err
	}
	if u.Host != "profiler.firefox.com" {
		body, err := get(address, "")
		return fmt.Sprintf("%.15q %v %v", body, bytes.Contains(body, []byte("main.work")), u.Hostname()), err
	}
	path := strings.Split(u.EscapedPath(), "/")
	profile, err := url.PathUnescape(path[2])
	if err != nil {
		return "", err
	}
	if _, err := get(profile, "https://evil.example"); err == nil {
		return "", errors.New("a page of another origin may fetch")
	}
	body, err := get(profile, "https://profiler.firefox.com")
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s %s, %s", path[1], u.RawQuery, describeProfile(body)), nil
}

// get fetches as a page of an origin does.
func get(address, origin string) ([]byte, error) {
	req, err := http.NewRequest("GET", address, nil)
	if err != nil {
		return nil, err
	}
	if origin != "" {
		req.Header.Set("Origin", origin)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK || res.Header.Get("Access-Control-Allow-Origin") != origin {
		return nil, fmt.Errorf("%s for %q", res.Status, res.Header.Get("Access-Control-Allow-Origin"))
	}
	return io.ReadAll(res.Body)
}

func describeProfile(zipped []byte) string {
	z, err := gzip.NewReader(bytes.NewReader(zipped))
	if err != nil {
		return err.Error()
	}
	var profile struct {
		Threads []struct{ Samples struct{ Length int } }
	}
	if err := json.NewDecoder(z).Decode(&profile); err != nil {
		return err.Error()
	}
	samples := 0
	for _, t := range profile.Threads {
		samples += t.Samples.Length
	}
	return fmt.Sprintf("%d threads, %d samples", len(profile.Threads), samples)
}

// await FILE waits until a file is there.
func await(ts *testscript.TestScript, neg bool, args []string) {
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if text, err := os.ReadFile(ts.MkAbs(args[0])); err == nil && len(text) > 0 {
			return
		}
	}
	ts.Fatalf("%s does not come", args[0])
}

// empty DIR fails if there is anything in a directory.
func empty(ts *testscript.TestScript, neg bool, args []string) {
	entries, err := os.ReadDir(ts.MkAbs(args[0]))
	ts.Check(err)
	if len(entries) > 0 {
		ts.Fatalf("%s holds %s", args[0], entries[0].Name())
	}
}

// shopView records a session of 40 samples in four seconds, and begins to view
// it. It returns the URL, and how the command ends.
func shopView(t *testing.T, flags ...string) (address string, ended func() (code int, stderr string)) {
	t.Helper()
	dir := t.TempDir()
	r, err := fixtures.New(dir, fixtures.Options{Meta: []chunks.Meta{{Key: rawformat.MetaService, Value: "shop"}}})
	if err != nil {
		t.Fatal(err)
	}
	err = errors.Join(r.Define(`def-string id=1 text="main.main"`, `def-module id=1 path="/bin/shop" build="abc" start=4194304 end=8388608 offset=0`,
		`def-frame id=1 module=1 offset=16`, `def-symbol frame=1 depth=0 function=1 file=0 line=1`, `def-stack id=1 parent=0 frame=1`))
	for range 40 {
		err = errors.Join(err, r.Lines(`sample time=+100000000 thread=1 goroutine=0 track=0 stack=2 weight=1 cpu=1001 window=0`))
		r.Advance(1e8)
	}
	if err := errors.Join(err, r.Close()); err != nil {
		t.Fatal(err)
	}
	return viewing(t, append([]string{dir}, flags...)...)
}

// viewing begins to view a session.
func viewing(t *testing.T, args ...string) (address string, ended func() (code int, stderr string)) {
	t.Helper()
	output, stdout := io.Pipe()
	code := make(chan int, 1)
	var stderr bytes.Buffer
	go func() {
		code <- run(append([]string{"view", "--no-browser"}, args...), nil, stdout, &stderr)
		stdout.Close()
	}()
	line, err := bufio.NewReader(output).ReadString('\n')
	if err != nil {
		t.Fatal(err, stderr.String())
	}
	return strings.TrimSpace(line), func() (int, string) {
		select {
		case code := <-code:
			return code, stderr.String()
		case <-time.After(time.Minute):
			return -1, "it does not end"
		}
	}
}

// Firefox Profiler's own code loads the URL that is printed, and sees the samples
// that were asked for.
func TestViewJudge(t *testing.T) {
	address, ended := shopView(t, "--linger", "1ms", "--last", "1s")
	f := judges.Viewing(t, address)
	threads, err := f.Threads(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	samples := 0
	for _, thread := range threads {
		n, err := f.Samples(t.Context(), thread.Handle)
		if err != nil {
			t.Fatal(err)
		}
		samples += n
	}
	if samples != 10 && samples != 11 {
		t.Errorf("%d samples; want those of the last second", samples)
	}
	if code, stderr := ended(); code != console.OK {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}

// A real browser shows the pages that are served.
func TestViewBrowser(t *testing.T) {
	b, err := judges.OpenBrowser(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	for flag, expression := range map[string]string{
		"--html":  "document.title + document.body.innerText",
		"--pprof": "document.title + document.documentElement.innerHTML",
	} {
		address, ended := shopView(t, flag, "--linger", "5s")
		if err := b.Show(address, judges.Screen{Width: 1000, Height: 700}); err != nil {
			t.Fatal(err)
		}
		var text string
		if err := b.Eval(&text, expression); err != nil || !strings.Contains(text, "main.main") {
			t.Errorf("%s: %v; the page has no main.main: %.300s", flag, err, text)
		}
		if code, stderr := ended(); code != console.OK {
			t.Errorf("%s: exit code %d: %s", flag, code, stderr)
		}
	}
}
