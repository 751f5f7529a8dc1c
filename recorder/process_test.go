package recorder_test

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"gprof/chunks"
	"gprof/chunks/session"
	"gprof/rawformat"
	"gprof/recorder"
)

var acked = recorder.NewEvent2("acked", recorder.Int("n"), recorder.String("text"))

// killedChild makes markers and acknowledges each one, until it is killed.
func killedChild() {
	childRecorder(recorder.Options{Dir: os.Args[1], Limit: 16 << 20})
	var line []byte
	for n := 1; ; n++ {
		acked.Mark(n, "abc")
		line = strconv.AppendInt(line[:0], int64(n), 10)
		os.Stdout.Write(append(line, '\n'))
	}
}

// begunChild is killed when it has made one marker, directly after Start.
func begunChild() {
	childRecorder(recorder.Options{Dir: os.Args[1], Service: "begun", Keep: time.Hour})
	acked.Mark(1, "abc")
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Kill()
	}
	panic(err)
}

// A program that is killed directly after Start leaves a recording that can be read: with its markers, and with a meta that
// has at least what was known by then.
func TestKillAtOnce(t *testing.T) {
	whole := 0
	for range 20 {
		out, _ := child("begun", []string{t.TempDir()}).Output() // the error is that it was killed
		r := read(t, strings.TrimSpace(string(out)), chunks.Unproven, chunks.Stale)
		if r.kinds[rawformat.KindInstant] != 1 {
			t.Errorf("%d markers, want 1", r.kinds[rawformat.KindInstant])
		}
		for key, want := range map[string]string{rawformat.MetaService: "begun", rawformat.MetaKeep: "3600000000000", rawformat.MetaGo: runtime.Version()} {
			if got := r.meta(key); got != want {
				t.Errorf("meta %s is %q, want %q", key, got, want)
			}
		}
		for _, key := range []string{rawformat.MetaPid, rawformat.MetaStartMono, rawformat.MetaStartReal, rawformat.MetaTimeBase, rawformat.MetaClock, rawformat.MetaLimit} {
			if r.meta(key) == "" {
				t.Errorf("no meta %s", key)
			}
		}
		if r.meta(rawformat.MetaSelfTest+"cpu") != "" {
			whole++
		}
	}
	t.Logf("meta was complete in %d of 20", whole)
}

// After kill -9 every marker is there whose call has returned, and at most one more, which was
// being made.
func TestKill(t *testing.T) {
	for i := range 8 {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			t.Parallel()
			cmd := child("killed", []string{t.TempDir()})
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			lines := bufio.NewReader(out)
			dir := line(t, lines)
			n := 0
			for n < 500+i*997 {
				n, _ = strconv.Atoi(line(t, lines))
			}
			cmd.Process.Kill()
			for {
				s := line(t, lines)
				if s == "" {
					break
				}
				n, _ = strconv.Atoi(s)
			}
			cmd.Wait()
			checkKilled(t, dir, n)
		})
	}
}

func checkKilled(t *testing.T, dir string, acknowledged int) {
	if session.Alive(dir) {
		t.Error("the lock of a killed process is held")
	}
	r := read(t, dir, chunks.Unproven)
	found := r.of("acked")
	for i, e := range found {
		if e.args[0].Num != uint64(i+1) || string(e.args[1].Text) != "abc" {
			t.Fatalf("marker %d of %d is %v, %d were acknowledged, losses %v", i+1, len(found), e.args, acknowledged, r.losses())
		}
	}
	if len(found) < acknowledged || len(found) > acknowledged+1 {
		t.Fatalf("%d markers, %d were acknowledged, losses %v", len(found), acknowledged, r.losses())
	}
	if r.Exit != nil {
		t.Error("a killed process has an exit record")
	}
}

func panickingChild() {
	defer childRecorder(recorder.Options{Dir: os.Args[1], Limit: 2 << 20}).Stop()
	panic("on purpose")
}

// A Stop that runs because of a panic does not make the end an orderly one.
func TestPanic(t *testing.T) {
	cmd := child("panic", []string{t.TempDir()})
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err == nil || !strings.Contains(stderr.String(), "panic: on purpose\n") {
		t.Errorf("%v, stderr %q", err, &stderr)
	}
	x := read(t, strings.TrimSpace(string(out))).Exit
	if x == nil || x.Reason != rawformat.ExitPanic {
		t.Errorf("exit %+v", x)
	}
}

// parentChild starts a program that records, too.
func parentChild() {
	rec := childRecorder(recorder.Options{Dir: os.Args[1], Service: "parent", Limit: 2 << 20})
	cmd := child("recorded", nil, // it inherits what the recorder has put into our environment
		"GPROF_SESSION="+os.Getenv("GPROF_SESSION"), "GPROF_PARENT="+os.Getenv("GPROF_PARENT"))
	cmd.Stdout = os.Stdout
	if err := cmd.Run(); err != nil {
		panic(err)
	}
	fmt.Printf("%016x\n", rec.Instance())
	rec.Stop()
	fmt.Printf("%q %q\n", os.Getenv("GPROF_SESSION"), os.Getenv("GPROF_PARENT"))
}

func recordedChild() {
	childRecorder(recorder.Options{Limit: 2 << 20, Service: "child", Attrs: map[string]string{"role": "worker"}}).Stop()
}

func TestChildrenKnowTheirParent(t *testing.T) {
	out, err := child("parent", []string{t.TempDir()}).Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) != 4 {
		t.Fatalf("output %q", out)
	}
	parent, kid, instance := lines[0], lines[1], lines[2]
	if filepath.Dir(parent) != filepath.Dir(kid) {
		t.Errorf("sessions of parent and child: %s and %s", parent, kid)
	}
	if lines[3] != `"" ""` {
		t.Errorf("environment after Stop: %s", lines[3])
	}
	r := read(t, kid)
	for key, want := range map[string]string{rawformat.MetaParent: instance, rawformat.MetaService: "child", rawformat.MetaAttr + "role": "worker"} {
		if got := r.meta(key); got != want {
			t.Errorf("meta %s of the child is %q, want %q", key, got, want)
		}
	}
	if want, _ := strconv.ParseUint(instance, 16, 64); r.Exit == nil || r.Exit.Parent != want {
		t.Errorf("exit of the child: %+v", r.Exit)
	}
	if p := read(t, parent); p.meta(rawformat.MetaParent) != "" {
		t.Error("the parent has a parent")
	}
}

// meta returns the value of a key.
func (r *recording) meta(key string) string {
	for _, m := range r.Meta {
		if m.Key == key {
			return m.Value
		}
	}
	return ""
}

// resourceChild runs recorders and prints the resources that are left.
func resourceChild() {
	work := func() {
		rec, err := recorder.Start(recorder.Options{Dir: os.Args[1], Limit: 4 << 20, CPU: recorder.CPUPprof})
		if err != nil {
			panic(err)
		}
		for n := range 100_000 {
			acked.Mark(n, "")
		}
		if err := rec.Stop(); err != nil {
			panic(err)
		}
	}
	work() // so that resources which the runtime keeps from now on do not count
	before := resources()
	for range 5 {
		work()
	}
	deadline := time.Now().Add(time.Minute)
	for !resources().within(before) && time.Now().Before(deadline) {
		runtime.Gosched() // ended goroutines take a moment to disappear
	}
	after := resources()
	fmt.Println(after.within(before))
	fmt.Printf("before: %+v\nafter:  %+v\n", before, after)
}

// holding is what a process holds. There may be less of it later: of the first work, too, goroutines end a moment after it.
type holding struct{ goroutines, descriptors, files int }

func resources() holding {
	files, _ := os.ReadDir("/proc/self/fd")
	maps, _ := os.ReadFile("/proc/self/maps")
	return holding{runtime.NumGoroutine(), len(files), strings.Count(string(maps), "chunk-") + strings.Count(string(maps), "/control")}
}

// within reports whether h is no more than what was held before, and no file of a recording is mapped.
func (h holding) within(before holding) bool {
	return h.goroutines <= before.goroutines && h.descriptors <= before.descriptors && h.files == 0
}

func TestNothingIsLeft(t *testing.T) {
	out, err := child("resource", []string{t.TempDir()}).Output()
	if err != nil {
		t.Fatal(err)
	}
	if within, what, _ := strings.Cut(string(out), "\n"); within != "true" {
		t.Errorf("more is held than before:\n%s", what)
	}
}

// A program that calls Start prints the variables of the environment, once, if GPROF_HELP asks
// for it, even if nothing is to be recorded.
func TestStartHelps(t *testing.T) {
	for env, want := range map[string]int{"GPROF_HELP=1": 1, "GPROF_HELP=0": 0} {
		var stderr strings.Builder
		c := child("helped", nil, env, "GPROF=off")
		c.Stderr = &stderr
		if err := c.Run(); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(stderr.String(), "GPROF_LIMIT=SIZE"); n != want {
			t.Errorf("%s: printed %d times, want %d:\n%s", env, n, want, stderr.String())
		}
	}
}

func helpedChild() {
	for range 2 {
		if rec, err := recorder.Start(recorder.Options{}); rec != nil || err != nil {
			panic(err)
		}
	}
}
