package chunks

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"gprof/rawformat"
)

// memberEnv makes the test binary a process of a session: its directory, the
// limit, and how many blocks of about 1 KB to write in a millisecond, in the end.
const memberEnv = "GPROF_TEST_MEMBER"

// clock is the time of a session, in ns since the Unix epoch.
type clock func() int64

func realClock() int64 { return time.Now().UnixNano() }

func (c clock) anchor() rawformat.Anchor {
	now := c()
	return rawformat.Anchor{TSC: uint64(now), Monotonic: uint64(now), Realtime: now}
}

// member is a process in a session, without the recorder: what it writes are
// numbered blocks.
type member struct {
	now  clock
	dir  string
	lock *os.File
	c    *Control
	s    *Slot
	w    *ringWriter
	n    int // blocks written
}

func newMember(session string, o ControlOptions, keep time.Duration, now clock) (*member, error) {
	m := &member{now: now}
	id := rand.Uint64() | 1
	m.dir = filepath.Join(session, fmt.Sprintf("%016x", id))
	err := os.MkdirAll(m.dir, 0o700)
	if err == nil {
		m.lock, err = Lock(m.dir)
	}
	if err == nil {
		m.c, err = OpenControl(session, o)
	}
	if err == nil {
		m.s, err = m.c.Join(Member{Instance: id, Pid: uint32(os.Getpid()), Keep: keep})
	}
	if err != nil {
		return nil, err
	}
	ring, err := OpenRing(m.dir, RingOptions{Instance: id, Pid: uint32(os.Getpid()), ChunkFile: testFile, Slot: m.s, MinSpare: 2, Anchor: now.anchor})
	if err != nil {
		return nil, err
	}
	m.w = &ringWriter{r: ring, id: 1}
	return m, m.writeMeta(rawformat.MetaService, "test")
}

// writeMeta writes a meta file with one record.
func (m *member) writeMeta(key, value string) error {
	h := rawformat.RecordHeader{Magic: rawformat.MagicMeta, Instance: m.s.member.Instance, Pid: uint32(os.Getpid())}
	return WriteRecords(filepath.Join(m.dir, metaName), h, metaBody(key, value))
}

// write writes that many numbered blocks.
func (m *member) write(blocks int) error {
	for range blocks {
		m.w.put = m.w.put[:0]
		if !m.w.log(fmt.Sprintf("%d %s", m.n, strings.Repeat("x", 1000))) {
			return errors.New("no chunk")
		}
		m.n++
	}
	return nil
}

func (m *member) tick() error {
	return errors.Join(m.w.r.Maintain(), m.s.Balance(time.Unix(0, m.now())))
}

// stop ends the recording as the recorder does.
func (m *member) stop() error {
	m.w.close()
	r := m.w.r
	x := &Exit{Reason: rawformat.ExitStopped, Realtime: m.now(), RangeStart: r.RangeStart(), RangeEnd: r.RangeEnd(), Discarded: uint64(r.Discarded())}
	h := rawformat.RecordHeader{Magic: rawformat.MagicExit, Instance: m.s.member.Instance, Pid: uint32(os.Getpid())}
	return errors.Join(r.Close(), WriteRecords(filepath.Join(m.dir, exitName), h, appendExit(nil, x)), m.s.Leave(), m.lock.Close(), m.c.Close())
}

// TestSessionMember is no test: it is the process that the others start.
func TestSessionMember(t *testing.T) {
	session, ok := os.LookupEnv(memberEnv)
	if !ok {
		return
	}
	limit, _ := strconv.ParseInt(os.Getenv(memberEnv+"_LIMIT"), 10, 64)
	rate, _ := strconv.Atoi(os.Getenv(memberEnv + "_RATE"))
	m, err := newMember(session, ControlOptions{Limit: limit}, time.Minute, realClock)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Printf("%016x\n", m.s.member.Instance)
	stop := make(chan struct{})
	go func() {
		io.Copy(io.Discard, os.Stdin)
		close(stop)
	}()
	tick := time.NewTicker(10 * time.Millisecond)
	for {
		select {
		case <-stop:
			if err := m.stop(); err != nil {
				t.Error(err)
			}
			fmt.Println(m.n)
			os.Exit(0)
		case <-tick.C:
		}
		if err := errors.Join(m.write(rate), m.tick()); err != nil {
			t.Fatal(err)
		}
	}
}

// child is a started member.
type child struct {
	*exec.Cmd
	in       io.Closer
	out      *bufio.Scanner
	instance uint64
	blocks   int // that it wrote, when it was stopped
}

// startMember starts a process of the session that writes rate blocks of 1 KB at
// each tick, by way of a command if one is given.
func startMember(t *testing.T, session string, limit int64, rate int, by ...string) *child {
	t.Helper()
	args := append(by, os.Args[0], "-test.run=^TestSessionMember$")
	c := &child{Cmd: exec.Command(args[0], args[1:]...)}
	c.Env = append(os.Environ(), memberEnv+"="+session, fmt.Sprintf("%s_LIMIT=%d", memberEnv, limit), fmt.Sprintf("%s_RATE=%d", memberEnv, rate))
	c.Stderr = os.Stderr
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	c.in, c.out = in, bufio.NewScanner(out)
	t.Cleanup(func() { c.Process.Kill() })
	if !c.out.Scan() {
		t.Fatalf("member did not start: %v", c.Wait())
	}
	if c.instance, err = strconv.ParseUint(c.out.Text(), 16, 64); err != nil {
		t.Fatal(err)
	}
	return c
}

// stop has the process end by itself.
func (c *child) stop(t *testing.T) {
	t.Helper()
	c.in.Close()
	for c.out.Scan() {
		if n, err := strconv.Atoi(c.out.Text()); err == nil {
			c.blocks = n
		}
	}
	if err := c.Wait(); err != nil {
		t.Errorf("member %016x: %v", c.instance, err)
	}
}

func (c *child) kill(t *testing.T) {
	t.Helper()
	if err := c.Process.Kill(); err != nil {
		t.Error(err)
	}
	if c.Wait() == nil {
		t.Error("it was not killed")
	}
}

func (c *child) dir(session string) string {
	return filepath.Join(session, fmt.Sprintf("%016x", c.instance))
}

// sessionBytes is the size of all files in a session but the control page.
func sessionBytes(session string) (sum int64) {
	filepath.WalkDir(session, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // it went meanwhile
		}
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() && d.Name() != controlName {
			sum += info.Size()
		}
		return nil
	})
	return sum
}

// wantWhole reads what a member left behind: consecutive blocks up to the last
// one, and nothing that is missing.
func wantWhole(t *testing.T, dir string, blocks int) (first int) {
	t.Helper()
	p, err := OpenProcess(os.DirFS(filepath.Dir(dir)), filepath.Base(dir))
	if err != nil {
		t.Error(err)
		return 0
	}
	got, problems := readAllBlocks(t, p)
	for _, pr := range problems {
		if pr.Class != Unproven {
			t.Errorf("%s: %+v", dir, pr)
		}
	}
	first, next := -1, 0
	for _, b := range got {
		c := rawformat.NewCursor([]byte(b.body), 0)
		if c.Uint("kind") != uint64(rawformat.KindLog) {
			continue
		}
		c.Sint("time")
		c.Uint("level")
		number, _, _ := strings.Cut(string(c.Text("text")), " ")
		n, err := strconv.Atoi(number)
		if err != nil {
			t.Fatalf("block %q", number)
		}
		if first < 0 {
			first, next = n, n
		}
		if n != next {
			t.Errorf("%s: block %d follows %d", dir, n, next-1)
		}
		next = n + 1
	}
	if blocks > 0 && next != blocks {
		t.Errorf("%s: blocks to %d of %d", dir, next, blocks)
	}
	return first
}

// Eight processes under one limit, two of them killed. The sum of their files
// stays under the limit and two chunks a process, and of the survivors nothing is
// missing from their range start on.
func TestSessionLimit(t *testing.T) {
	const processes, limit = 8, 4 << 20
	session := t.TempDir()
	var members []*child
	for i := range processes {
		members = append(members, startMember(t, session, limit, 1+3*i))
	}
	most, samples := int64(0), 0
	watch := func(d time.Duration) {
		for end := time.Now().Add(d); time.Now().Before(end); samples++ {
			most = max(most, sessionBytes(session))
		}
	}
	watch(700 * time.Millisecond)
	members[2].kill(t)
	members[7].kill(t)
	watch(700 * time.Millisecond)
	s, err := ReadSession(session)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range s.Slots {
		t.Logf("%016x kind %d alive %v held %d of it released %d, range %d to %d, guarded %d", x.Instance, x.Kind, x.Alive, x.Held, x.Released, x.Start, x.End, x.Guarded)
	}
	for i, m := range members {
		if i != 2 && i != 7 {
			m.stop(t)
			t.Logf("rate %d: blocks %d to %d", 1+3*i, wantWhole(t, m.dir(session), m.blocks), m.blocks)
		}
	}
	for _, i := range []int{2, 7} {
		wantWhole(t, members[i].dir(session), 0)
	}
	if bound := int64(limit + processes*2*testFile); most > bound || most < limit*3/4 {
		t.Errorf("%d bytes at most in %d samples, want %d", most, samples, bound)
	}
	t.Logf("%d bytes at most in %d samples, limit %d", most, samples, limit)
}
