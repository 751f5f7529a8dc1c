//go:build unix

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"gprof/chunks"
	"gprof/fixtures"
	"gprof/rawformat"
)

// largeSession is a recording that takes a while.
func largeSession(t *testing.T) string {
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
	for range 400_000 {
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

// A conversion that is interrupted, whenever that is, leaves the output whole
// or not there, and nothing else; it ends by the signal.
func TestInterrupt(t *testing.T) {
	session := largeSession(t)
	interrupted := 0
	for i, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT, syscall.SIGINT, syscall.SIGINT, syscall.SIGINT} {
		dir := t.TempDir()
		cmd := exec.Command("gprof-convert", session, "-o", filepath.Join(dir, "out.json.gz"), "--losses", filepath.Join(dir, "losses.json"), "--mem", "16M")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if i < 3 { // as soon as there is something to leave behind
			for len(files(t, dir)) == 0 {
				time.Sleep(time.Millisecond)
			}
		} else {
			time.Sleep(time.Duration(i) * 20 * time.Millisecond)
		}
		cmd.Process.Signal(sig)
		err := cmd.Wait()
		left := fmt.Sprint(files(t, dir))
		status := cmd.ProcessState.Sys().(syscall.WaitStatus)
		switch {
		case err == nil && left == "[losses.json out.json.gz]":
		case err != nil && status.Signaled() && status.Signal() == sig && (left == "[]" || left == "[out.json.gz]"):
			interrupted++
		default:
			t.Errorf("attempt %d, %v: ended with %v and left %s", i, sig, err, left)
		}
	}
	if interrupted == 0 {
		t.Error("no interrupt came in time")
	}
}

// What waits for somebody else can be interrupted, too.
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
