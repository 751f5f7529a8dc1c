//go:build unix

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"gprof/chunks"
	"gprof/cmd/internal/console"
	"gprof/fixtures"
	"gprof/rawformat"
)

// largeSession is a recording that takes a while.
func largeSession(t *testing.T) string { return sessionOf(t, 400_000) }

// sessionOf is a recording of that many markers.
func sessionOf(t *testing.T, markers int) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "session")
	r, err := fixtures.New(dir, fixtures.Options{Instance: 1, Pid: 1, Limit: 64 << 20, Meta: []chunks.Meta{{Key: rawformat.MetaService, Value: "shop"}}})
	if err != nil {
		t.Fatal(err)
	}
	lines := []string{`def-string id=1 text="main.main"`, `def-event id=1 category=0 name="order" display=3 chart="" tooltip="" table=""`,
		`def-field event=1 position=0 name="n" label="" wire=0 format=0 privacy=0 flags=0`}
	if err := r.Define(lines...); err != nil {
		t.Fatal(err)
	}
	body := rawformat.AppendSint([]byte{byte(rawformat.KindInstant), 1, 0}, 1000)
	body = rawformat.AppendArgs(body, []rawformat.Arg{rawformat.Int(7)})
	for range markers {
		if err := r.Put(body); err != nil {
			t.Fatal(err)
		}
		r.Advance(1000)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

func files(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// A conversion that is interrupted, whenever that is, leaves its outputs whole
// or not there, all of them, and nothing else; it ends by the signal.
func TestInterrupt(t *testing.T) {
	session := largeSession(t)
	interrupted := 0
	for i, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT, syscall.SIGINT, syscall.SIGINT, syscall.SIGINT} {
		dir := t.TempDir()
		cmd := exec.Command("gprof-convert", session, "-o", filepath.Join(dir, "out.json.gz"), "-o", filepath.Join(dir, "out.svg"), "-o", "parquet="+filepath.Join(dir, "tables"),
			"--losses", filepath.Join(dir, "losses.json"), "--mem", "16M")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if i < 3 { // as soon as there is something to leave behind
			waitFor(t, func() bool { return len(files(t, dir)) > 0 })
		} else {
			time.Sleep(time.Duration(i) * 20 * time.Millisecond) // any moment will do
		}
		cmd.Process.Signal(sig)
		err := cmd.Wait()
		left := fmt.Sprint(files(t, dir))
		status := cmd.ProcessState.Sys().(syscall.WaitStatus)
		switch {
		case err == nil && left == "[losses.json out.json.gz out.svg tables]":
		case err != nil && status.Signaled() && status.Signal() == sig && left == "[]":
			interrupted++
		default:
			t.Errorf("attempt %d, %v: ended with %v and left %s", i, sig, err, left)
		}
	}
	if interrupted == 0 {
		t.Error("no interrupt came in time")
	}
}

// A directory of tables is not there, or as it was before, when what was to be
// written into it was interrupted.
func TestInterruptDirectory(t *testing.T) {
	session, small := largeSession(t), sessionOf(t, 10)
	for _, before := range []bool{false, true} {
		dir := t.TempDir()
		tables := filepath.Join(dir, "tables")
		want := "[]"
		if before {
			want = "[tables]"
			if out, err := exec.Command("gprof-convert", small, "-o", "parquet="+tables).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
		}
		n := len(tree(t, dir))
		r, w, err := os.Pipe() // nobody reads, so that it does not end before it is interrupted
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		cmd := exec.Command("gprof-convert", session, "-o", "parquet="+tables, "-o", "gecko=-")
		cmd.Stdout = w
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		w.Close()
		waitFor(t, func() bool { return len(tree(t, dir)) > n+3 }) // it writes
		cmd.Process.Signal(os.Interrupt)
		err = cmd.Wait()
		if !cmd.ProcessState.Sys().(syscall.WaitStatus).Signaled() {
			t.Fatalf("ended with %v before it was interrupted", err)
		}
		if left := fmt.Sprint(files(t, dir)); left != want || len(tree(t, dir)) != n {
			t.Errorf("left %v, want %s and %d files in all", tree(t, dir), want, n)
		}
	}
}

// tree lists all that is below a directory and can be seen.
func tree(t *testing.T, dir string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // it has just gone
		}
		names = append(names, path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// A command that waits for its reader can be interrupted, too.
func TestInterruptBlocked(t *testing.T) {
	session := largeSession(t)
	r, w, err := os.Pipe() // nobody reads
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	cmd := exec.Command("gprof-convert", session, "-f", "gecko", "-o", "-")
	cmd.Stdout = w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	if _, err := io.ReadFull(r, make([]byte, 100)); err != nil { // it writes
		t.Fatal(err)
	}
	cmd.Process.Signal(os.Interrupt)
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || !exit.Sys().(syscall.WaitStatus).Signaled() {
		t.Errorf("ended with %v", err)
	}
}

// A command that a script's shell began with signals ignored ends by those that
// somebody sends to it, except for a hangup, which nohup keeps from it.
func TestInterruptIgnored(t *testing.T) {
	session := largeSession(t)
	for sig, want := range map[syscall.Signal]int{syscall.SIGINT: 130, syscall.SIGTERM: 143, syscall.SIGHUP: console.OK} {
		dir := t.TempDir()
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		cmd := exec.Command("sh", "-c", `trap "" INT TERM HUP; exec gprof-convert "$@"`, "sh", session, "-o", filepath.Join(dir, "out.svg"), "-o", "gecko=-")
		cmd.Stdout = w
		ended := start(t, cmd)
		w.Close()
		if _, err := io.ReadFull(r, make([]byte, 100)); err != nil { // it writes
			t.Fatal(err)
		}
		cmd.Process.Signal(sig)
		if want == console.OK {
			if _, err := io.Copy(io.Discard, r); err != nil {
				t.Fatal(err)
			}
		}
		select {
		case <-ended:
		case <-time.After(time.Minute):
			cmd.Process.Kill()
			t.Fatalf("%v did not end it", sig)
		}
		status := cmd.ProcessState.Sys().(syscall.WaitStatus)
		code := status.ExitStatus()
		if status.Signaled() {
			code = 128 + int(status.Signal())
		}
		if left := len(files(t, dir)); code != want || (left == 1) != (want == console.OK) {
			t.Errorf("%v: ended with %d, want %d, and left %d files", sig, code, want, left)
		}
	}
}

// Help that nobody reads, as behind head, ends the command without a word.
func TestHelpIsUnread(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	defer w.Close()
	for _, flag := range []string{"--help", "--version"} {
		cmd := exec.Command("gprof-convert", flag)
		var stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = w, &stderr
		if err := cmd.Run(); err == nil || stderr.Len() > 0 {
			t.Errorf("%s: ended with %v and said %s", flag, err, &stderr)
		}
	}
}

// A batch that was interrupted, or killed, goes on where it stopped, and ends
// with the outputs of an uninterrupted one.
func TestInterruptBatch(t *testing.T) {
	const copies = 40 // more than are done before the signal comes
	in, session := t.TempDir(), os.DirFS(sessionOf(t, 20_000))
	for i := range copies {
		if err := os.CopyFS(filepath.Join(in, fmt.Sprint("dump-", i)), session); err != nil {
			t.Fatal(err)
		}
	}
	out := t.TempDir()
	for _, sig := range []os.Signal{os.Interrupt, os.Kill} {
		begun := len(outputs(t, out))
		cmd := exec.Command("gprof-convert", "batch", in, "-o", out, "--jobs", "1")
		ended := start(t, cmd)
		waitFor(t, func() bool { return len(outputs(t, out)) > begun }) // one is done
		cmd.Process.Signal(sig)
		if err := <-ended; err == nil {
			t.Fatalf("%v came too late", sig)
		}
		if names := files(t, out); sig == os.Interrupt && len(names) != len(outputs(t, out))+1 {
			t.Errorf("besides outputs and the journal there are others: %v", names)
		}
	}
	done := len(outputs(t, out))
	text, err := exec.Command("gprof-convert", "batch", in, "-o", out).CombinedOutput()
	if want := fmt.Sprintf(" %d of %d ", copies, copies); err != nil || bytes.Contains(text, []byte(want)) {
		t.Errorf("nothing of %d outputs was kept: %s%v", done, text, err)
	}
	want, err := os.ReadFile(outputs(t, out)[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range outputs(t, out) {
		if got, err := os.ReadFile(name); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes, want %d (%v)", name, len(got), len(want), err)
		}
	}
	if n := len(outputs(t, out)); n != copies {
		t.Errorf("%d outputs", n)
	}
}

// An interrupted unpack leaves the whole session, or nothing.
func TestInterruptUnpack(t *testing.T) {
	dir := t.TempDir()
	packed, out := filepath.Join(dir, "shop.gprof"), filepath.Join(dir, "shop")
	if text, err := exec.Command("gprof-convert", "pack", largeSession(t), "-o", packed).CombinedOutput(); err != nil {
		t.Fatalf("%s%v", text, err)
	}
	for i := range 4 {
		cmd := exec.Command("gprof-convert", "unpack", packed, "-o", out)
		ended := start(t, cmd)
		waitFor(t, func() bool { return len(files(t, dir)) > 1 }) // it has begun
		time.Sleep(time.Duration(i) * 5 * time.Millisecond)       // any moment will do
		cmd.Process.Signal(os.Interrupt)
		err := <-ended
		switch left := fmt.Sprint(files(t, dir)); {
		case err != nil && left == "[shop.gprof]":
		case left == "[shop shop.gprof]":
			if text, err := exec.Command("gprof-convert", "verify", out).CombinedOutput(); err != nil {
				t.Errorf("%s%v", text, err)
			}
			os.RemoveAll(out)
		default:
			t.Errorf("attempt %d ended with %v and left %s", i, err, left)
		}
	}
}

// start starts a command; its end is sent.
func start(t *testing.T, cmd *exec.Cmd) (ended <-chan error) {
	t.Helper()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c := make(chan error, 1)
	go func() { c <- cmd.Wait() }()
	return c
}

// waitFor waits for something that must come.
func waitFor(t *testing.T, come func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !come(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("waited for a minute in vain")
		}
	}
}

// outputs are the finished ones.
func outputs(t *testing.T, dir string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "dump-*.gz"))
	if err != nil {
		t.Fatal(err)
	}
	return names
}
