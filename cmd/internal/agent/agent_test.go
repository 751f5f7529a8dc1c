package agent

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// fake is a command that remembers how it was called.
type fake struct {
	args   []string
	answer Result
	block  bool
}

func (f *fake) run(ctx context.Context, args []string) Result {
	if f.block {
		<-ctx.Done()
		return Result{Code: -1}
	}
	f.args = args
	return f.answer
}

// talk connects a client to a server.
func talk(t *testing.T, o Options) *mcp.ClientSession {
	t.Helper()
	in, ask := io.Pipe()
	answer, out := io.Pipe()
	served := make(chan error, 1)
	go func() { served <- Serve(t.Context(), in, out, o) }()
	c, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), &mcp.IOTransport{Reader: answer, Writer: ask}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Close()
		ask.Close()
		<-served
	})
	return c
}

// call calls a tool; a refusal is an error.
func call(t *testing.T, c *mcp.ClientSession, tool string, args map[string]any) (string, error) {
	t.Helper()
	r, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		return "", err
	}
	if len(r.Content) != 1 {
		t.Fatalf("%+v", r)
	}
	text := r.Content[0].(*mcp.TextContent).Text
	if n := tokens(text); n > maxAnswer+10 {
		t.Errorf("%s: %d tokens", tool, n)
	}
	if r.IsError {
		return "", fmt.Errorf("%s", text)
	}
	return text, nil
}

// Each tool calls its command, with what narrows it, and handles in place of paths.
func TestTools(t *testing.T) {
	f := &fake{answer: Result{Out: "found in /tmp/a b: 1\nsee gprof-convert top '/tmp/a b'\n", Err: "gprof-convert: 3 lost\n"}}
	c := talk(t, Options{Run: f.run, Flags: []string{"--redact"}})
	for _, step := range []struct {
		tool string
		args map[string]any
		want []string
	}{
		{"open", map[string]any{"paths": []string{"/tmp/a b"}}, []string{"info", "--", "/tmp/a b"}},
		{"open", map[string]any{"paths": []string{"-x"}}, []string{"info", "--", "-x"}},
		{"why", map[string]any{"recording": "r1", "last": "30s", "process": "12"}, []string{"why", "--last=30s", "--process=12", "--", "/tmp/a b"}},
		{"top", map[string]any{"recording": "r1", "by": "marker", "n": 3, "during": "x[y=1]"}, []string{"top", "--during=x[y=1]", "--by=marker", "--rows=3", "--", "/tmp/a b"}},
		{"top", map[string]any{"recording": "r1", "of": "heap"}, []string{"top", "--of=heap", "--", "/tmp/a b"}},
		{"diff", map[string]any{"base": "r1", "new": "r2", "of": "waits"}, []string{"diff", "--of=waits", "--base=/tmp/a b", "--new=-x"}},
		{"slow", map[string]any{"recording": "r2", "markers": "x[duration>p99]", "trace": "00"}, []string{"slow", "--trace=00", "--", "x[duration>p99]", "-x"}},
		{"diff", map[string]any{"base": "r1", "new": "r2", "from": "+1s", "to": "-1s", "track": "w"}, []string{"diff", "--from=+1s", "--to=-1s", "--track=w", "--base=/tmp/a b", "--new=-x"}},
		{"query", map[string]any{"recording": "r1", "what": "--json"}, []string{"list", "--", "--json", "/tmp/a b"}},
	} {
		text, err := call(t, c, step.tool, step.args)
		if err != nil || !slices.Equal(f.args, slices.Insert(step.want, 1, "--redact")) {
			t.Errorf("%s: %v, called %q, want %q", step.tool, err, f.args, step.want)
		}
		if step.tool == "why" && text != "3 lost\nfound in r1: 1\nsee gprof-convert top r1" {
			t.Errorf("%q", text)
		}
	}
	if text, err := call(t, c, "open", map[string]any{"paths": []string{"/tmp/a b"}}); err != nil || !strings.HasPrefix(text, "recording r1\n") {
		t.Errorf("opened again: %q, %v", text, err)
	}
}

// A long answer comes in parts, which are the whole together; what was lost is said in the first.
func TestLongAnswers(t *testing.T) {
	var whole strings.Builder
	for i := range 500 {
		fmt.Fprintf(&whole, "%d shop/store.(*Map).Get took %d ms\n", i, i*i)
	}
	whole.WriteString(strings.Repeat("x", 10_000) + "\nthe end\n")
	f := &fake{answer: Result{Out: whole.String(), Err: strings.Repeat("much was lost, ", 1000)}}
	c := talk(t, Options{Run: f.run})
	if _, err := call(t, c, "open", map[string]any{"paths": []string{"a"}}); err != nil {
		t.Fatal(err)
	}
	text, err := call(t, c, "top", map[string]any{"recording": "r1"})
	if err != nil || !strings.HasPrefix(text, "much was lost, ") {
		t.Fatalf("%.100q, %v", text, err)
	}
	_, text, _ = strings.Cut(text, "\n")
	got, parts := "", 1
	for ; ; parts++ {
		at := strings.LastIndex(text, "(")
		if at < 0 || !strings.Contains(text[at:], "lines more") {
			got += text
			break
		}
		got += text[:at]
		handle := strings.TrimSuffix(text[strings.LastIndex(text, "=")+1:], ")")
		if text, err = call(t, c, "query", map[string]any{"more": handle}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 500 {
		if line := fmt.Sprintf("%d shop/store.(*Map).Get took %d ms\n", i, i*i); !strings.Contains(got, line) {
			t.Fatalf("of %d parts none has %q", parts, line)
		}
	}
	if !strings.HasSuffix(got, "the end") || strings.Contains(got, strings.Repeat("x", 9000)) {
		t.Errorf("the end is %.200q", got[max(0, len(got)-200):])
	}
}

// Of much that was told the losses are in the answer, wherever they stood.
func TestLossesComeFirst(t *testing.T) {
	f := &fake{answer: Result{Out: "the answer\n", Err: "LEDGER  process  count\n" + strings.Repeat("info    -        3  names made unreadable, as was asked for\n", 100) + "loss    -        7  samples dropped\n"}}
	c := talk(t, Options{Run: f.run})
	if _, err := call(t, c, "open", map[string]any{"paths": []string{"a"}}); err != nil {
		t.Fatal(err)
	}
	text, err := call(t, c, "top", map[string]any{"recording": "r1"})
	if err != nil || !strings.HasPrefix(text, "LEDGER  process  count\nloss  -  7  samples dropped\ninfo  -  3") || !strings.HasSuffix(text, "\nthe answer") {
		t.Errorf("%v\n%s", err, text)
	}
}

// Nonsense gets an answer that says what is wrong, and a command that fails says what it said.
func TestRefusals(t *testing.T) {
	f := &fake{answer: Result{Out: "one process\n"}}
	c := talk(t, Options{Run: f.run})
	if _, err := call(t, c, "open", map[string]any{"paths": []string{"y"}}); err != nil {
		t.Fatal(err)
	}
	f.answer = Result{Err: "gprof-convert: error: no recording found\n", Code: 1}
	many := make([]string, maxPaths+1)
	for i := range many {
		many[i] = "x"
	}
	for _, step := range []struct {
		tool string
		args map[string]any
		want string
	}{
		{"top", map[string]any{"recording": "r7"}, `no recording "r7"`},
		{"top", map[string]any{"recording": strings.Repeat("r", 1<<20)}, `no recording "r`},
		{"top", map[string]any{"recording": "r1", "nonsense": 1}, "nonsense"},
		{"top", map[string]any{}, "recording"},
		{"query", map[string]any{"more": "a1"}, `no rest "a1"`},
		{"query", map[string]any{}, "what is missing"},
		{"open", map[string]any{"paths": []string{}}, "paths is empty"},
		{"open", map[string]any{"paths": []string{"-"}}, "is no path"},
		{"open", map[string]any{"paths": []string{strings.Repeat("x", 1<<20)}}, "is no path"},
		{"open", map[string]any{"paths": many}, "1001 paths"},
		{"open", map[string]any{"paths": []string{"s3://bucket/x"}}, "--remote"},
		{"open", map[string]any{"paths": []string{"x"}}, "no recording found"},
		{"top", map[string]any{"recording": "r1", "of": strings.Repeat("heap", 1<<18)}, "has 1048581 characters, of 32768 at most"},
	} {
		if _, err := call(t, c, step.tool, step.args); err == nil || !strings.Contains(err.Error(), step.want) {
			t.Errorf("%s: %.200v, want %q", step.tool, err, step.want)
		}
	}
	if _, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: "delete"}); err == nil {
		t.Error("there is a tool to delete")
	}
}

// A call that is given up ends its command.
func TestGivenUp(t *testing.T) {
	f := &fake{}
	c := talk(t, Options{Run: f.run})
	if _, err := call(t, c, "open", map[string]any{"paths": []string{"x"}}); err != nil {
		t.Fatal(err)
	}
	f.block = true
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		_, err := c.CallTool(ctx, &mcp.CallToolParams{Name: "top", Arguments: map[string]any{"recording": "r1"}})
		ended <- err
	}()
	cancel()
	if err := <-ended; err == nil {
		t.Error("no error")
	}
}

// With roots nothing else is read: not beside them, not by .. and not by links.
func TestRoots(t *testing.T) {
	dir := t.TempDir()
	root, beside := filepath.Join(dir, "root"), filepath.Join(dir, "rootless")
	for _, d := range []string{root, beside} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(beside, filepath.Join(root, "link")); err != nil {
		t.Fatal(err)
	}
	s := &server{Options: Options{Roots: []string{root}}}
	for _, path := range []string{root, root + "/*.gprof", filepath.Join(root, "../root")} {
		if err := s.allow([]string{path}); err != nil {
			t.Error(err)
		}
	}
	for _, path := range []string{beside, root + "/..", root + "/link", root + "/link/*", root + "/*/../../rootless", dir + "/*", "/", "relative", root + "*"} {
		if err := s.allow([]string{path}); err == nil {
			t.Errorf("%s may be read", path)
		}
	}
}

func TestCut(t *testing.T) {
	for _, text := range []string{strings.Repeat("word ", 500), strings.Repeat("ü€𝄞", 500), "short"} {
		if got := cut(text, 40); tokens(got) > 42 || !strings.HasPrefix(text, strings.TrimSuffix(got, "…")) {
			t.Errorf("%d tokens: %q", tokens(got), got)
		}
	}
}
