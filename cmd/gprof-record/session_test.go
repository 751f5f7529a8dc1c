//go:build unix

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"gprof/chunks"
	chunksession "gprof/chunks/session"
	"gprof/cmd/internal/console"
	"gprof/cmd/internal/session"
	"gprof/rawformat"
	"gprof/recorder"
)

// service is a program that records in dir/shop until the test ends.
func service(t *testing.T, dir string) *exec.Cmd {
	t.Helper()
	cmd, _ := serviceThat(t, dir, "signal")
	return cmd
}

// serviceThat starts such a program, and returns the line that it prints when it is
// ready.
func serviceThat(t *testing.T, dir, does string) (*exec.Cmd, string) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "TEST_COMMAND="+does, "GPROF=on", "GPROF_SESSION=", "GPROF_PARENT=", "GPROF_SERVICE=shop", "GPROF_LIMIT=2MiB", "GPROF_DIR="+dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { end(cmd) })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("%q, %v", line, err)
	}
	return cmd, strings.TrimSpace(line)
}

// end kills a service, which may have ended.
func end(cmd *exec.Cmd) {
	cmd.Process.Kill()
	cmd.Wait()
}

// status is the output of gprof-record status --json.
func status(t *testing.T, args ...string) (v session.State) {
	t.Helper()
	code, stdout, stderr := runTest(t, "", append([]string{"status", "--json"}, args...)...)
	if err := json.Unmarshal([]byte(stdout), &v); err != nil || code != 0 {
		t.Fatalf("status %d, %v: %s%s", code, err, stdout, stderr)
	}
	return v
}

func TestStatus(t *testing.T) {
	dir := t.TempDir()
	a, b := service(t, dir), service(t, dir)
	end(a)
	v := status(t, "--dir", dir, "shop")
	for deadline := time.Now().Add(time.Minute); v.Alive() > 1 && time.Now().Before(deadline); {
		v = status(t, "--dir", dir, "shop") // the other one writes its exit, and has its lock meanwhile
	}
	if v.Session != filepath.Join(dir, "shop") || v.Limit != 2<<20 || v.State != "recording" || len(v.Processes) != 2 || v.Alive() != 1 {
		t.Fatalf("%+v", v)
	}
	live, dead := v.Processes[0], v.Processes[1]
	if int(live.Pid) != b.Process.Pid || !live.Alive || live.Alone || !live.Obeyed || live.Service != "shop" || live.State != "recording" || live.Ended != nil {
		t.Errorf("the one that lives: %+v", live)
	}
	if int(dead.Pid) != a.Process.Pid || dead.Alive || dead.Obeyed || dead.Ended == nil || !strings.Contains(dead.State, "dead") && !strings.Contains(dead.State, "died") {
		t.Errorf("the one that was killed: %+v", dead)
	}
	if live.Held <= 0 || dead.Held <= 0 || v.Held != live.Held+dead.Held || v.Held > v.Limit || live.Reach <= 0 || dead.Reach < 0 || live.Reach > 60 {
		t.Errorf("held %d, %d and %d, reach %v and %v s", v.Held, live.Held, dead.Held, live.Reach, dead.Reach)
	}
	code, stdout, stderr := runTest(t, "", "status", filepath.Join(dir, "shop"))
	for deadline := time.Now().Add(time.Minute); strings.Contains(stdout, "2 alive") && time.Now().Before(deadline); { // as above
		code, stdout, stderr = runTest(t, "", "status", filepath.Join(dir, "shop"))
	}
	for _, want := range []string{filepath.Join(dir, "shop"), " of 2.0 MiB in use", "1 alive, 1 ended", live.Instance, dead.Instance, "recording", "REACH"} {
		if code != 0 || !strings.Contains(stdout, want) {
			t.Errorf("status %d, no %q in %s%s", code, want, stdout, stderr)
		}
	}
	listSessions(t, dir)
}

// listSessions makes status list the sessions in dir, where there is one, and where
// recorders put sessions by default.
func listSessions(t *testing.T, dir string) {
	t.Helper()
	if code, stdout, stderr := runTest(t, "", "status", "--dir", dir); code != 0 || strings.Count(stdout, "\n") != 2 || !strings.Contains(stdout, filepath.Join(dir, "shop")+"  recording") {
		t.Errorf("status %d: %s%s", code, stdout, stderr)
	}
	t.Setenv(recorder.EnvDir, dir)
	var all []session.State
	if _, stdout, stderr := runTest(t, "", "status", "--json"); json.Unmarshal([]byte(stdout), &all) != nil || len(all) != 1 || all[0].Session != filepath.Join(dir, "shop") || len(all[0].Processes) != 2 {
		t.Errorf("%s%s", stdout, stderr)
	}
	t.Setenv(recorder.EnvDir, filepath.Join(dir, "nowhere"))
	if code, stdout, stderr := runTest(t, "", "status"); code != 0 || stdout != "" || !strings.Contains(stderr, "no session in "+filepath.Join(dir, "nowhere")) {
		t.Errorf("status %d: %s%s", code, stdout, stderr)
	}
}

// A process that was killed, and whose exit nobody wrote, ended with its last commit, not
// when it opened its last chunk.
func TestStatusOfKilled(t *testing.T) {
	dir := t.TempDir()
	cmd, marked := serviceThat(t, dir, "late")
	end(cmd)
	p := status(t, "--dir", dir, "shop").Processes[0]
	nanos, err := strconv.ParseInt(marked, 10, 64)
	if err != nil || p.Ended == nil {
		t.Fatalf("%v, %+v", err, p)
	}
	const slack = 20 * time.Millisecond // of the clocks
	if at := time.Unix(0, nanos); p.Ended.Before(at.Add(-slack)) || p.Reach < (100*time.Millisecond-slack).Seconds() {
		t.Errorf("marked at %v, ended at %v after %v s", at, p.Ended, p.Reach)
	}
}

func TestCommands(t *testing.T) {
	dir := t.TempDir()
	service(t, dir)
	service(t, dir)
	for _, tt := range []struct {
		command string
		code    int
		says    string // standard error
		state   string
	}{
		{"pause", 0, "gprof-record: shop: 2 processes paused\n", "paused"},
		{"resume", 0, "gprof-record: shop: 2 processes recording\n", "recording"},
		{"stop", 0, "gprof-record: shop: 2 processes stopped\n", "stopped"},
		{"stop", 0, "gprof-record: shop: 2 processes stopped\n", "stopped"},
		{"pause", 1, "gprof-record start", "stopped"},
		{"resume", 1, "gprof-record start", "stopped"},
		{"start", 0, "gprof-record: shop: 2 processes recording\n", "recording"},
	} {
		code, stdout, stderr := runTest(t, "", tt.command, "--dir", dir, "shop")
		if code != tt.code || stdout != "" || !strings.Contains(stderr, tt.says) {
			t.Errorf("%s: status %d, stdout %q, stderr %q, want %d, %q", tt.command, code, stdout, stderr, tt.code, tt.says)
		}
		v := status(t, "--dir", dir, "shop")
		for _, p := range v.Processes {
			if v.State != tt.state || p.State != tt.state || !p.Obeyed {
				t.Errorf("after %s: session %s, process %+v", tt.command, v.State, p)
			}
		}
	}
}

// freeze stops a process as a debugger would, and waits until all its threads have
// stopped.
func freeze(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	var status syscall.WaitStatus
	for !status.Stopped() {
		if _, err := syscall.Wait4(cmd.Process.Pid, &status, syscall.WUNTRACED, nil); err != nil && err != syscall.EINTR {
			t.Fatal(err)
		}
	}
}

// Processes that do not answer are named; the command stays in force.
func TestNoAnswer(t *testing.T) {
	dir := t.TempDir()
	cmd := service(t, dir)
	freeze(t, cmd)
	code, _, stderr := runTest(t, "", "pause", "--dir", dir, "--timeout", "50ms", "shop")
	name := fmt.Sprintf("pid %d (instance %s)", cmd.Process.Pid, status(t, "--dir", dir, "shop").Processes[0].Instance)
	if code != console.Failed || !strings.Contains(stderr, "no answer within 50ms from "+name) {
		t.Errorf("status %d, %q, want the name of %s", code, stderr, name)
	}
	if p := status(t, "--dir", dir, "shop").Processes[0]; p.Obeyed || p.State != "paused" {
		t.Errorf("%+v", p)
	}
	if err := cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(time.Minute)
	for !status(t, "--dir", dir, "shop").Processes[0].Obeyed {
		if time.Now().After(deadline) {
			t.Fatal("it never obeys")
		}
	}
	end(cmd)
	if _, stdout, _ := runTest(t, "", "status", "--dir", dir, "shop"); !strings.Contains(stdout, "no process is running; those that start will be paused") {
		t.Errorf("status says %s", stdout)
	}
	code, _, stderr = runTest(t, "", "resume", "--dir", dir, "shop")
	if code != 0 || !strings.Contains(stderr, "no process is running; those that start will be recording") {
		t.Errorf("status %d, %q", code, stderr)
	}
}

func TestFindSession(t *testing.T) {
	dir := t.TempDir()
	at := filepath.Join(dir, "shop")
	end(service(t, dir))
	for _, tt := range []struct{ dirFlag, arg, env, cwd, want, err string }{
		{arg: at, want: at},
		{arg: "shop", dirFlag: dir, want: at},
		{arg: "shop", env: dir, want: at},
		{arg: "shop", cwd: dir, want: at},
		{arg: ".", cwd: at, want: at},
		{arg: "shop", env: filepath.Join(dir, "x"), err: "no session in " + filepath.Join(dir, "x", "shop")},
		{arg: dir, err: "it holds no recording"},
		{arg: filepath.Join(dir, "nobody"), err: "nothing has recorded there"},
		{arg: "", err: "service's name"},
	} {
		t.Setenv(recorder.EnvSession, filepath.Join(dir, "of somebody else"))
		t.Setenv(recorder.EnvDir, tt.env)
		cwd := tt.cwd
		if cwd == "" {
			cwd = t.TempDir()
		}
		t.Chdir(cwd)
		got, err := (&session.Arg{Dir: tt.dirFlag, Session: tt.arg}).Find()
		if got != tt.want || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%+v: %q, %v", tt, got, err)
		}
	}
}

// A session without a control page is shown; its processes can't be given commands.
func TestSessionWithoutPage(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "shop", "control"), 0o700); err != nil { // in the way of the page
		t.Fatal(err)
	}
	service(t, dir)
	if err := os.Remove(filepath.Join(dir, "shop", "control")); err != nil {
		t.Fatal(err)
	}
	v := status(t, "--dir", dir, "shop")
	if len(v.Processes) != 1 || !v.Processes[0].Alone || v.Limit != 0 {
		t.Errorf("%+v, %+v", v, v.Processes)
	}
	if code, _, stderr := runTest(t, "", "pause", "--dir", dir, "shop"); code != console.Failed || !strings.Contains(stderr, "no control page") {
		t.Errorf("status %d, %q", code, stderr)
	}
}

// The record of a command's exit has the position of its recording parent at that time.
func TestRunTellsTheParentsIndex(t *testing.T) {
	dir := t.TempDir()
	service(t, dir)
	at := filepath.Join(dir, "shop")
	parent := status(t, at).Processes[0].Instance
	t.Setenv(recorder.EnvSession, at)
	t.Setenv(recorder.EnvParent, parent)
	instance, err := strconv.ParseUint(parent, 16, 64)
	if err != nil {
		t.Fatal(err)
	}
	before, _ := chunksession.IndexNow(at, instance)
	for deadline := time.Now().Add(time.Minute); before <= 1 && time.Now().Before(deadline); { // written by its keeper
		before, _ = chunksession.IndexNow(at, instance)
	}
	if code, _, stderr := runTest(t, "die", "run", "--", os.Args[0]); code != 128+int(syscall.SIGKILL) {
		t.Fatalf("status %d: %s", code, stderr)
	}
	after, _ := chunksession.IndexNow(at, instance)
	for _, dir := range session.Processes(at) {
		p, err := chunks.OpenProcess(os.DirFS(at), filepath.Base(dir))
		if err != nil {
			t.Fatal(err)
		}
		if p.Instance == instance {
			continue
		}
		if x := p.Exit; x == nil || x.Reason != rawformat.ExitSignal || x.Parent != instance || x.ParentIndex < before || x.ParentIndex > after || before <= 1 {
			t.Errorf("exit %+v, want the parent's index from %d to %d", x, before, after)
		}
	}
}

// A session of another user is not called empty.
func TestSessionOfSomebodyElse(t *testing.T) {
	if os.Getuid() == 0 {
		t.Log("root may read everything")
		return
	}
	dir := filepath.Join(t.TempDir(), "shop")
	if err := os.Mkdir(dir, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := (&session.Arg{Session: dir}).Find(); err == nil || !strings.Contains(err.Error(), "not allowed") {
		t.Errorf("error %v", err)
	}
}
