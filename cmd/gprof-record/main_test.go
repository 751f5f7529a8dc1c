//go:build unix

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"gprof/chunks"
	"gprof/cmd/internal/console"
	"gprof/cmd/internal/launch"
	"gprof/cmd/internal/session"
	"gprof/ingest/pack"
	"gprof/rawformat"
	"gprof/recorder"
	_ "gprof/recorder/auto"
)

var worked = recorder.NewEvent1("worked", recorder.Int("n"))

var hold []byte // more than any machine has

// TestMain makes the test binary the command that is recorded.
func TestMain(m *testing.M) {
	switch os.Getenv("TEST_COMMAND") {
	case "work":
		worked.Mark(7)
		fmt.Println("out", os.Args[1:])
		os.Exit(5)
	case "silent":
		os.Exit(0)
	case "three":
		os.Exit(3)
	case "die":
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
	case "orphan":
		parent, _ := strconv.Atoi(os.Getenv("TEST_PARENT"))
		for syscall.Kill(parent, 0) == nil {
			time.Sleep(time.Millisecond)
		}
		time.Sleep(100 * time.Millisecond)
		os.Exit(0)
	case "memory":
		worked.Mark(7)
		hold = make([]byte, 1<<46)
	case "late":
		runtime.GOMAXPROCS(1) // one chunk for both marks
		worked.Mark(7)
		time.Sleep(100 * time.Millisecond)
		before := time.Now()
		worked.Mark(7)
		fmt.Println(before.UnixNano())
		select {}
	case "main":
		os.Unsetenv("TEST_COMMAND")
		main()
	case "hear":
		interrupts := make(chan os.Signal, 1)
		signal.Notify(interrupts, os.Interrupt)
		syscall.Kill(os.Getppid(), syscall.SIGINT)
		<-interrupts
		os.Exit(9)
	case "signal":
		fmt.Println("ready")
		select {}
	case "busy":
		fmt.Println("ready")
		for n := 0; ; n++ {
			turn(n)
		}
	}
	os.Exit(m.Run())
}

// turn takes CPU time, and says so.
//
//go:noinline
func turn(n int) {
	defer worked.Begin(n).End()
	for range 10_000_000 {
		hold = hold[:0]
	}
}

// restoreEnvironment undoes at the test's end what run puts there.
func restoreEnvironment(t *testing.T) {
	for _, name := range []string{recorder.EnvSwitch, recorder.EnvLimit, recorder.EnvSession, recorder.EnvParent} {
		t.Setenv(name, os.Getenv(name))
	}
}

// runTest runs the command line; the recorded command is this test binary.
func runTest(t *testing.T, command string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	t.Setenv("TEST_COMMAND", command)
	restoreEnvironment(t)
	var out, errs bytes.Buffer
	code = run(args, nil, &out, &errs)
	return code, out.String(), errs.String()
}

func TestRun(t *testing.T) {
	dir := t.TempDir()
	code, stdout, stderr := runTest(t, "work", "run", "--dir", dir, "--limit", "2MiB", "--", os.Args[0], "-x", "--dir")
	if code != 5 {
		t.Errorf("exit status %d, want the command's 5; %s", code, stderr)
	}
	if stdout != "out [-x --dir]\n" {
		t.Errorf("stdout %q", stdout)
	}
	session := filepath.Join(dir, filepath.Base(os.Args[0]))
	if !strings.Contains(stderr, "recorded 1 process in "+session+"\n") {
		t.Errorf("stderr %q does not say where %s lies", stderr, session)
	}
	p := recorded(t, session)
	want := map[string]string{rawformat.MetaLimit: "2097152", rawformat.MetaService: filepath.Base(os.Args[0])}
	for _, m := range p.Meta {
		if v, ok := want[m.Key]; ok && v != m.Value {
			t.Errorf("meta %s is %q, want %q", m.Key, m.Value, v)
		}
	}
	instants := 0
	for blocks := p.Blocks(func(chunks.Problem) {}); blocks.Next(); {
		if blocks.Block().Kind == rawformat.KindInstant {
			instants++
		}
	}
	if instants != 1 {
		t.Errorf("%d markers, want 1", instants)
	}
}

// The session is named after the program that records, not after the one that starts it.
func TestSessionIsThePrograms(t *testing.T) {
	for _, command := range [][]string{
		{"timeout", "60", os.Args[0], "-x"},
		{"env", "A=b", "nice", "-n", "1", os.Args[0]},
		{"sh", "-c", "exec " + os.Args[0] + " -x"},
	} {
		dir := t.TempDir()
		session := filepath.Join(dir, filepath.Base(os.Args[0]))
		code, _, stderr := runTest(t, "work", slices.Concat([]string{"run", "--dir", dir, "--limit", "2MiB", "--"}, command)...)
		if code != 5 || !strings.Contains(stderr, "recorded 1 process in "+session+"\n") {
			t.Errorf("%q: status %d, want the session %s: %s", command, code, session, stderr)
		}
	}
	dir := t.TempDir()
	if _, _, stderr := runTest(t, "", "run", "--dir", dir, "--", "true"); !strings.Contains(stderr, "recorded nothing") {
		t.Errorf("%s", stderr)
	}
	if got := launch.Program([]string{"/bin/true", "x"}); got != "true" {
		t.Errorf("a command without a recorder is called %s", got)
	}
}

// Run, too, reports a session that the recorder refuses, because the program may not.
func TestRunInForeignSession(t *testing.T) {
	dir := t.TempDir()
	session := filepath.Join(dir, "true")
	if err := errors.Join(os.Mkdir(session, 0o700), os.Chmod(session, 0o777)); err != nil {
		t.Fatal(err)
	}
	if _, _, stderr := runTest(t, "", "run", "--dir", dir, "--", "true"); !strings.Contains(stderr, "its mode is 0777; record in another directory") {
		t.Error(stderr)
	}
}

func recorded(t *testing.T, at string) *chunks.Process {
	t.Helper()
	found := session.Processes(at)
	if len(found) != 1 {
		t.Fatalf("%d processes in %s, want 1", len(found), at)
	}
	p, err := chunks.OpenProcess(os.DirFS(at), filepath.Base(found[0]))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestNothingRecorded(t *testing.T) {
	t.Setenv("GPROF_CHUNK", "nonsense") // keeps the recorder of the command from starting
	code, _, stderr := runTest(t, "silent", "run", "--dir", t.TempDir(), "--", os.Args[0])
	if code != 0 || !strings.Contains(stderr, "nonsense") || !strings.Contains(stderr, "see above") {
		t.Errorf("status %d, stderr %q: want the command run, and the malformed setting named", code, stderr)
	}
	t.Setenv("GPROF_CHUNK", "")
	code, _, stderr = runTest(t, "", "run", "--dir", t.TempDir(), "--", "true")
	if code != 0 || !strings.Contains(stderr, `import _ "gprof/recorder/auto"`) {
		t.Errorf("status %d, stderr %q: want an explanation", code, stderr)
	}
}

// Nobody stops the recorder of package auto: the parent of the command writes how it
// ended.
func TestExitRecord(t *testing.T) {
	for _, tt := range []struct {
		command string
		status  int
		reason  rawformat.ExitReason
		code    int64
	}{
		{"silent", 0, rawformat.ExitNormal, 0},
		{"three", 3, rawformat.ExitNormal, 3},
		{"die", 128 + int(syscall.SIGKILL), rawformat.ExitSignal, int64(syscall.SIGKILL)},
	} {
		t.Run(tt.command, func(t *testing.T) {
			dir := t.TempDir()
			code, _, stderr := runTest(t, tt.command, "run", "--dir", dir, "--", os.Args[0])
			if code != tt.status || !strings.Contains(stderr, "recorded 1 process") {
				t.Errorf("status %d, want %d; stderr %q", code, tt.status, stderr)
			}
			p := recorded(t, filepath.Join(dir, filepath.Base(os.Args[0])))
			x := p.Exit
			if x == nil || x.Reason != tt.reason || x.Code != tt.code || len(p.Problems) > 0 {
				t.Fatalf("exit %+v, want reason %d, code %d; problems %v", x, tt.reason, tt.code, p.Problems)
			}
			open := p.Chunks[0].Header.Open
			if x.RangeEnd != p.Chunks[len(p.Chunks)-1].End() || x.RangeStart != p.Held || x.Monotonic < open.Monotonic || x.Realtime < open.Realtime {
				t.Errorf("exit %+v does not fit the chunks, opened at %+v", x, open)
			}
		})
	}
}

// A command that is killed still leaves a packed file.
func TestPack(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "dump.gprof")
	code, _, stderr := runTest(t, "die", "run", "--dir", dir, "--pack", file, "--", os.Args[0])
	if code != 128+int(syscall.SIGKILL) || !strings.Contains(stderr, "packed 1 process") {
		t.Errorf("status %d, stderr %q", code, stderr)
	}
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	a, err := pack.Open(f, info.Size())
	if err != nil || len(a.Problems) > 0 || len(a.Instances()) != 1 {
		t.Fatalf("%v, problems %v", err, a)
	}
	p, err := chunks.OpenProcess(a, a.Process(a.Instances()[0]).Dir)
	if err != nil || p.Exit == nil || p.Exit.Reason != rawformat.ExitSignal {
		t.Errorf("%v, %+v", err, p)
	}
	code, _, stderr = runTest(t, "three", "run", "--dir", dir, "--pack", filepath.Join(dir, strings.Repeat("x", 300)), "--", os.Args[0])
	if code != 3 || !strings.Contains(stderr, "warning: nothing is packed") {
		t.Errorf("status %d, stderr %q: want the command's", code, stderr)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".gprof-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// A process that outlives the command by a moment is packed as one that ended, as what timeout kills.
func TestPackAfterTheLastEnd(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "dump.gprof")
	script := fmt.Sprintf(`TEST_PARENT=$$ %q >/dev/null 2>&1 & until ls %q/*/*/meta; do sleep 0.01; done`, os.Args[0], dir)
	if code, _, stderr := runTest(t, "orphan", "run", "--dir", dir, "--pack", file, "--", "sh", "-c", script); code != 0 {
		t.Fatalf("status %d, stderr %q", code, stderr)
	}
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	a, err := pack.Open(f, info.Size())
	if err != nil || len(a.Instances()) != 1 || a.Live(a.Instances()[0]) {
		t.Errorf("%v, %+v: recording when it was packed", err, a)
	}
}

// The inherited environment never keeps the command from running, and flags override it.
func TestInheritedEnvironment(t *testing.T) {
	for _, tt := range []struct {
		env      string
		recorded bool
	}{
		{"OTEL_RESOURCE_ATTRIBUTES=a=%zz", true},
		{"GPROF=off", true},
		{"GPROF=perhaps", true},
		{"GPROF_LIMIT=lots", true},
		{"GPROF_SESSION=/proc/x", true},
		{"GPROF_CPU=lots", false},
		{"GPROF_PARENT=xyz", true},
	} {
		t.Run(tt.env, func(t *testing.T) {
			name, value, _ := strings.Cut(tt.env, "=")
			t.Setenv(name, value)
			dir := t.TempDir()
			code, _, stderr := runTest(t, "three", "run", "--dir", dir, "--limit", "2MiB", "--", os.Args[0])
			found := session.Processes(filepath.Join(dir, filepath.Base(os.Args[0])))
			if code != 3 || len(found) == 1 != tt.recorded {
				t.Errorf("status %d, recorded %v, want %v; %s", code, found, tt.recorded, stderr)
			}
		})
	}
}

// notify calls f at the first write.
type notify struct{ f func() }

func (n *notify) Write(b []byte) (int, error) {
	if n.f != nil {
		n.f()
	}
	n.f = nil
	return len(b), nil
}

func TestSignalsAreForwarded(t *testing.T) {
	t.Setenv("TEST_COMMAND", "signal")
	restoreEnvironment(t)
	var stderr bytes.Buffer
	ready := &notify{func() { syscall.Kill(os.Getpid(), syscall.SIGTERM) }}
	code := run([]string{"run", "--dir", t.TempDir(), "--", os.Args[0]}, nil, ready, &stderr)
	if code != 128+int(syscall.SIGTERM) {
		t.Errorf("status %d, want %d; %s", code, 128+int(syscall.SIGTERM), &stderr)
	}
}

// A command under nohup, or in a script's background, is started with the same signals
// ignored, and still gets those that it asks for.
func TestIgnoredSignals(t *testing.T) {
	restoreEnvironment(t)
	for script, want := range map[string]int{
		"kill -HUP $PPID; kill -INT $PPID; exit 7":                        7,
		"kill -HUP $$; kill -INT $$; exit 7":                              7,
		`trap "exit 8" TERM; kill -TERM $PPID; while :; do sleep 1; done`: 8,
		"TEST_COMMAND=hear exec " + os.Args[0]:                            9,
	} {
		self := exec.Command("sh", "-c", `trap "" INT HUP; exec "$@"`, "sh", os.Args[0], "run", "--dir", t.TempDir(), "--", "sh", "-c", script)
		self.Env = append(os.Environ(), "TEST_COMMAND=main")
		out, err := self.CombinedOutput()
		if code := self.ProcessState.ExitCode(); code != want {
			t.Errorf("%s: status %d, want %d: %v\n%s", script, code, want, err, out)
		}
	}
}

func TestUsage(t *testing.T) {
	for _, tt := range []struct {
		args []string
		code int
		text string // on either stream
	}{
		{nil, console.OK, "Record what programs do"},
		{[]string{"run", "--help"}, console.OK, "gprof-record run --dir"},
		{[]string{"run"}, console.Usage, "command"},
		{[]string{"run", "--"}, console.Usage, "command"},
		{[]string{"run", "--bogus", "--", "true"}, console.Usage, "unknown flag --bogus"},
		{[]string{"run", "--limit", "lots", "--", "true"}, console.Usage, "lots"},
		{[]string{"run", "--limit", "0", "--", "true"}, console.Usage, "more than nothing"},
		{[]string{"run", "--dir", "/tmp", "--", "/nowhere/at/all"}, console.Failed, "/nowhere/at/all"},
		{[]string{"run", "--pack", "/nowhere/at/all.gprof", "--", "true"}, console.Usage, "--pack: stat /nowhere/at"},
		{[]string{"attach", "-p", "1", "-o", "/tmp"}, console.Usage, "/tmp is a directory"},
		{[]string{"record"}, console.Usage, "unknown command record"},
		{[]string{"help"}, console.OK, "Commands:"},
		{[]string{"help", "run"}, console.OK, "gprof-record run --dir"},
		{[]string{"help", "record"}, console.Usage, "unknown command record; there are run, attach"},
		{[]string{"version"}, console.OK, "built with go"},
		{[]string{"completion", "fish"}, console.OK, "complete -c gprof-record"},
		{[]string{"completion", "tcsh"}, console.Usage, "tcsh"},
		{[]string{"completion", "--help"}, console.OK, "source <(gprof-record completion bash)"},
		{[]string{"man"}, console.OK, ".TH GPROF\\-RECORD 1"},
		{[]string{"stop"}, console.Usage, "session"},
		{[]string{"status", "--help"}, console.OK, "gprof-record status checkout"},
		{[]string{"start", "--help"}, console.OK, "no data is lost"},
		{[]string{"pause", "--help"}, console.OK, "gprof-record pause checkout"},
		{[]string{"resume", "--help"}, console.OK, "gprof-record resume checkout"},
		{[]string{"stop", "--help"}, console.OK, "gprof-record stop checkout"},
		{[]string{"stop", "/nowhere/at/all"}, console.Failed, "no session in /nowhere/at/all"},
		{[]string{"stop", "--timeout", "x", "y"}, console.Usage, "timeout"},
	} {
		code, stdout, stderr := runTest(t, "", tt.args...)
		if code != tt.code || !strings.Contains(stdout+stderr, tt.text) {
			t.Errorf("%q: status %d, want %d; no %q in %q", tt.args, code, tt.code, tt.text, stdout+stderr)
		}
	}
}
