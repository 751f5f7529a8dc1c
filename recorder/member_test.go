package recorder_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"gprof/chunks"
	"gprof/chunks/session"
	"gprof/rawformat"
	"gprof/recorder"
)

// payload makes a marker of a member take about markerSize bytes.
var payload = strings.Repeat("x", markerSize-10)

const markerSize = 64

// memberChild is a process of a session that does what its standard input says. It answers each
// line with the number of its last marker and whether it is recording.
func memberChild() {
	rec, err := recorder.Start(recorder.Options{Dir: os.Args[1], Service: "s", ChunkSize: 64 << 10, CounterHz: -1})
	if err != nil {
		fmt.Println("error", err)
		return
	}
	fmt.Println(rec.Dir())
	n := 0
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		what, arg, _ := strings.Cut(lines.Text(), " ")
		switch what {
		case "mark":
			for many, _ := strconv.Atoi(arg); many > 0; many-- {
				n++
				acked.Mark(n, payload)
				if n%500 == 0 { // otherwise it would write everything before the keeper could make room for it
					time.Sleep(time.Millisecond)
				}
			}
		case "insist": // each marker until it is recorded; one if no number is given
			many, _ := strconv.Atoi(arg)
			for range max(1, many) {
				n++
				insist(rec, func() { acked.Mark(n, payload) })
			}
		case "pause":
			rec.Pause()
		case "resume":
			rec.Resume()
		}
		fmt.Println(n, rec.Recording())
	}
	if err := rec.Stop(); err != nil {
		fmt.Println("error", err)
	}
}

// insist makes a marker until it is recorded: on a busy machine there may be no room for a moment.
func insist(rec *recorder.Recorder, mark func()) {
	lost := func() uint64 { d := rec.Drops(); return d.NoChunk + d.Busy + d.Dictionary }
	for before := lost(); ; before = lost() {
		if mark(); lost() == before {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// member is a process that runs memberChild.
type member struct {
	t   *testing.T
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
	dir string
}

// startMember starts a member that records into dir/s.
func startMember(t *testing.T, dir string, env ...string) *member {
	t.Helper()
	return runMember(t, child("member", []string{dir}, env...))
}

func runMember(t *testing.T, cmd *exec.Cmd) *member {
	t.Helper()
	m := &member{t: t, cmd: cmd}
	in, err := m.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := m.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := m.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.kill() })
	m.in, m.out = in, bufio.NewReader(out)
	m.dir = line(t, m.out)
	if !filepath.IsAbs(m.dir) {
		t.Fatalf("start: %s", m.dir)
	}
	return m
}

// do sends a line to the member and returns its answer.
func (m *member) do(what string) string {
	m.t.Helper()
	if _, err := io.WriteString(m.in, what+"\n"); err != nil {
		m.t.Fatal(err)
	}
	return line(m.t, m.out)
}

// stop has the member end by itself.
func (m *member) stop() {
	m.t.Helper()
	m.in.Close()
	if s := line(m.t, m.out); s != "" {
		m.t.Errorf("stop: %s", s)
	}
	m.cmd.Wait()
}

// kill kills the member, which may have ended.
func (m *member) kill() {
	m.cmd.Process.Kill()
	m.cmd.Wait()
}

func (m *member) instance() uint64 {
	id, err := strconv.ParseUint(filepath.Base(m.dir), 16, 64)
	if err != nil {
		m.t.Fatal(err)
	}
	return id
}

// numbers returns the numbers of the markers that a process recorded.
func numbers(t *testing.T, dir string) (found []int) {
	t.Helper()
	for _, e := range read(t, dir, chunks.Unproven, chunks.Stale).of("acked") {
		found = append(found, int(e.args[0].Num))
	}
	return found
}

// await waits until f returns true.
func await(t *testing.T, what string, f func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !f(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain: %s", what)
		}
	}
}

// tell gives all processes of a session a command, and waits until they have carried it out.
func tell(t *testing.T, in string, what rawformat.Command) {
	t.Helper()
	c, err := session.Open(in, session.Options{Existing: true})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	generation, err := c.Command(what)
	if err != nil {
		t.Fatal(err)
	}
	await(t, what.String()+" is obeyed", func() bool {
		for _, s := range readSession(t, in).Slots {
			if s.Alive && s.Obeyed < generation {
				return false
			}
		}
		return true
	})
}

func readSession(t *testing.T, in string) *session.Status {
	t.Helper()
	s, err := session.Read(in)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
