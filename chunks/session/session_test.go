package session_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"gprof/chunks"
	"gprof/chunks/folder"
	"gprof/chunks/internal/chunktest"
	"gprof/chunks/ring"
	"gprof/chunks/session"
	"gprof/rawformat"
)

// memberEnv makes the test binary a process of a session: it holds the directory. With
// suffixes it holds the limit, and how many blocks of about 1 KB to write at each tick.
const memberEnv = "GPROF_TEST_MEMBER"

// clock is the time of a session, in ns since the Unix epoch.
type clock func() int64

func realClock() int64 { return time.Now().UnixNano() }

const (
	testFile     = rawformat.ChunkAlign
	testCapacity = testFile - rawformat.HeadSize - rawformat.TrailerSize
)

type writer = chunktest.Writer[*ring.Chunk, *ring.Ring]

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// openTestControl opens the control page of a session, and closes it in the end.
func openTestControl(t testing.TB, root string, o session.Options) *session.Control {
	t.Helper()
	c, err := session.Open(root, o)
	must(t, err)
	t.Cleanup(func() { c.Close() })
	return c
}

// member is a process in a session without the recorder. It writes numbered blocks.
type member struct {
	id   uint64
	now  clock
	back uint64 // how far the wall clock was set back, in ns
	dir  string
	lock *os.File
	c    *session.Control
	s    *session.Slot
	w    *writer
	n    int // blocks written

	parent *member
}

func newMember(root string, o session.Options, keep time.Duration, now clock) (*member, error) {
	return newMemberOn(root, o, keep, now, 2, func(dir string) folder.Folder { return folder.Dir(dir) })
}

// anchor reads the clocks: the monotonic ones go on when the wall clock is set back.
func (m *member) anchor() rawformat.Anchor {
	now := m.now()
	return rawformat.Anchor{TSC: uint64(now) + m.back, Monotonic: uint64(now) + m.back, Realtime: now}
}

// newMemberOn is newMember with a number of spare chunks, and with chunk files in another
// Folder.
func newMemberOn(root string, o session.Options, keep time.Duration, now clock, spare int, disk func(dir string) folder.Folder) (*member, error) {
	m := &member{id: rand.Uint64() | 1, now: now}
	m.dir = filepath.Join(root, fmt.Sprintf("%016x", m.id))
	err := os.Mkdir(m.dir, 0o700)
	if info, statErr := os.Stat(root); err == nil && statErr == nil && info.Mode()&folder.GroupWrites != 0 {
		err = os.Chmod(m.dir, os.ModeSetgid|0o770)
	}
	if err == nil {
		m.lock, err = session.Lock(m.dir)
	}
	if err == nil {
		m.c, err = session.Open(root, o)
	}
	if err == nil {
		m.s, err = m.c.Join(session.Member{Instance: m.id, Pid: uint32(os.Getpid()), Keep: keep})
	}
	if err != nil {
		return nil, err
	}
	r, err := ring.Open(disk(m.dir), ring.Options{Instance: m.id, Pid: uint32(os.Getpid()), ChunkFile: testFile, Slot: m.s, MinSpare: spare, Anchor: m.anchor})
	if err != nil {
		return nil, err
	}
	m.w = &writer{Ring: r, ID: 1}
	return m, m.writeMeta(rawformat.MetaService, "test")
}

// writeMeta writes a meta file with one record.
func (m *member) writeMeta(key, value string) error {
	h := rawformat.RecordHeader{Magic: rawformat.MagicMeta, Instance: m.id, Pid: uint32(os.Getpid())}
	return chunks.WriteRecords(folder.Dir(m.dir), chunks.MetaName, h, chunktest.MetaBody(key, value))
}

// write writes that many numbered blocks.
func (m *member) write(blocks int) error {
	for range blocks {
		m.w.Put = m.w.Put[:0]
		if !m.w.Log(fmt.Sprintf("%d %s", m.n, strings.Repeat("x", 1000))) {
			return errors.New("no chunk")
		}
		m.n++
	}
	return nil
}

func (m *member) tick() error {
	return errors.Join(m.w.Ring.Maintain(), m.s.Balance(time.Unix(0, m.now())))
}

// stop ends the recording as the recorder does.
func (m *member) stop() error {
	m.w.Close()
	r := m.w.Ring
	x := &chunks.Exit{Reason: rawformat.ExitStopped, Realtime: m.now(), RangeStart: r.RangeStart(), RangeEnd: r.RangeEnd(), Discarded: uint64(r.Discarded())}
	if m.parent != nil {
		x.Parent, x.ParentIndex = m.parent.id, m.parent.w.Ring.RangeEnd()
	}
	h := rawformat.RecordHeader{Instance: m.id, Pid: uint32(os.Getpid())}
	return errors.Join(r.Close(), x.Write(folder.Dir(m.dir), h), m.s.Leave(), m.lock.Close(), m.c.Close())
}

// TestSessionMember is not a test but the process that the others start.
func TestSessionMember(t *testing.T) {
	root, ok := os.LookupEnv(memberEnv)
	if !ok {
		return
	}
	limit, _ := strconv.ParseInt(os.Getenv(memberEnv+"_LIMIT"), 10, 64)
	rate, _ := strconv.Atoi(os.Getenv(memberEnv + "_RATE"))
	m, err := newMember(root, session.Options{Limit: limit}, time.Minute, realClock)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Printf("%016x\n", m.id)
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
		if what, generation := m.c.State(); what == rawformat.CommandStop {
			m.s.Obeyed(generation)
			continue
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
func startMember(t *testing.T, root string, limit int64, rate int, by ...string) *child {
	t.Helper()
	program := os.Args[0]
	if n := len(by); n > 0 && by[n-1] == "-" { // one that others may run, too
		program = filepath.Join(filepath.Dir(root), "member")
		by = by[:n-1]
	}
	args := append(slices.Clone(by), program, "-test.run=^TestSessionMember$")
	c := &child{Cmd: exec.Command(args[0], args[1:]...)}
	c.Env = append(os.Environ(), memberEnv+"="+root, fmt.Sprintf("%s_LIMIT=%d", memberEnv, limit), fmt.Sprintf("%s_RATE=%d", memberEnv, rate))
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

// stop makes the process end by itself.
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

func (c *child) dir(root string) string {
	return filepath.Join(root, fmt.Sprintf("%016x", c.instance))
}

// sessionBytes is the size of all files in a session but the control page.
func sessionBytes(root string) (sum int64) {
	filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // it went meanwhile
		}
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() && d.Name() != chunks.ControlName {
			sum += info.Size()
		}
		return nil
	})
	return sum
}

// wantWhole checks that a member left consecutive blocks up to its last one, with nothing
// missing. It returns the first one.
func wantWhole(t *testing.T, dir string, blocks int) (first int) {
	t.Helper()
	got := numbersIn(t, dir)
	if len(got) == 0 {
		if blocks > 0 {
			t.Errorf("%s: no block of %d", dir, blocks)
		}
		return -1
	}
	for i, n := range got[1:] {
		if n != got[i]+1 {
			t.Errorf("%s: block %d follows %d", dir, n, got[i])
		}
	}
	if last := got[len(got)-1]; blocks > 0 && last != blocks-1 {
		t.Errorf("%s: blocks to %d of %d", dir, last+1, blocks)
	}
	return got[0]
}

// blocksIn reads an instance directory as it is now.
func blocksIn(t *testing.T, dir string) ([]chunktest.Block, []chunks.Problem) {
	t.Helper()
	p, err := chunks.OpenProcess(os.DirFS(filepath.Dir(dir)), filepath.Base(dir))
	if err != nil {
		t.Error(err)
		return nil, nil
	}
	return chunktest.ReadAll(t, p)
}

// numbersIn are the numbers of a member's blocks, none of which is damaged.
func numbersIn(t *testing.T, dir string) (numbers []int) {
	t.Helper()
	got, problems := blocksIn(t, dir)
	for range 20 { // others, who live, may have made room meanwhile
		if !slices.ContainsFunc(problems, func(pr chunks.Problem) bool { return pr.Class == chunks.Stale }) {
			break
		}
		got, problems = blocksIn(t, dir)
	}
	for _, pr := range problems {
		if pr.Class != chunks.Unproven {
			t.Errorf("%s: %+v", dir, pr)
		}
	}
	for _, b := range got {
		c := rawformat.NewCursor([]byte(b.Body), 0)
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
		numbers = append(numbers, n)
	}
	return numbers
}

// Eight processes share a limit, and two of them are killed. The sum of their files stays
// under the limit plus two chunks for each process, and of the survivors nothing is
// missing from their range start on.
func TestSessionLimit(t *testing.T) { testEight(t, t.TempDir()) }

// The same in eight containers, as it were: each process has a pid namespace and
// mounts of its own, and is number 1 there.
func TestSessionNamespaces(t *testing.T) {
	by := []string{"unshare", "--pid", "--mount", "--fork", "--kill-child"}
	if os.Getuid() != 0 {
		by = append(by, "--user", "--map-root-user")
	}
	if out, err := exec.Command(by[0], append(by[1:], "true")...).CombinedOutput(); err != nil {
		t.Logf("no namespaces can be made here: %v %s", err, out)
		return
	}
	root := t.TempDir()
	testEight(t, root, by...)
	s, err := session.Read(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range s.Slots {
		if x.Pid != 1 {
			t.Errorf("pid %d, want 1: they were no namespaces", x.Pid)
		}
	}
}

func testEight(t *testing.T, root string, by ...string) {
	const processes, limit = 8, 4 << 20
	var members []*child
	for i := range processes {
		members = append(members, startMember(t, root, limit, 1+3*i, by...))
	}
	most, samples := int64(0), 0
	watch := func(done func(*session.Status) bool) {
		for deadline := time.Now().Add(time.Minute); ; samples++ {
			most = max(most, sessionBytes(root))
			s, err := session.Read(root)
			if err != nil || time.Now().After(deadline) {
				t.Fatalf("%+v, %v", s, err)
			}
			if done(s) {
				return
			}
		}
	}
	// Busy ones went round the limit, several times.
	watch(func(s *session.Status) bool { return highest(s) > 30*testFile && s.Sum() > limit*9/10 })
	members[2].kill(t)
	members[7].kill(t)
	before := members[6].slot(t, root).End
	watch(func(s *session.Status) bool {
		return count(s, rawformat.SlotCrashed) == 2 && members[6].slot(t, root).End > before+limit
	})
	// Files of a process that has ended go first when others need room.
	generation := commandStop(t, root)
	watch(func(s *session.Status) bool { return obeyed(s, generation) == processes-2 })
	for i, m := range members {
		if i != 2 && i != 7 {
			m.stop(t)
			wantWhole(t, m.dir(root), m.blocks)
		}
	}
	for _, i := range []int{2, 7} {
		wantWhole(t, members[i].dir(root), 0)
	}
	if bound := int64(limit + processes*2*testFile); most > bound || most < limit*3/4 {
		t.Errorf("%d bytes at most in %d samples, want %d", most, samples, bound)
	}
	t.Logf("%d bytes at most in %d samples, limit %d", most, samples, limit)
}

// commandStop tells all members to write no more.
func commandStop(t *testing.T, root string) (generation uint64) {
	t.Helper()
	c, err := session.Open(root, session.Options{Existing: true})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if generation, err = c.Command(rawformat.CommandStop); err != nil {
		t.Fatal(err)
	}
	return generation
}

// obeyed is how many living processes have obeyed a command.
func obeyed(s *session.Status, generation uint64) (n int) {
	for _, x := range s.Slots {
		if x.Kind == rawformat.SlotLive && x.Obeyed >= generation {
			n++
		}
	}
	return n
}

// Processes are killed at any moment, also while they look after other dead ones, and new
// ones start. The bound holds all the time, nothing is lost silently, and in the end the
// account is right.
func TestSessionKills(t *testing.T) {
	const processes, kills, limit = 5, 16, 3 << 20
	root := t.TempDir()
	random := rand.New(rand.NewPCG(1, 2))
	var members []*child
	for range processes {
		members = append(members, startMember(t, root, limit, 5+random.IntN(60)))
	}
	most := int64(0)
	for range kills {
		i := random.IntN(len(members))
		for end := members[i].slot(t, root).End + uint64(random.IntN(limit/2)); members[i].slot(t, root).End < end; {
			most = max(most, sessionBytes(root))
		}
		members[i].kill(t)
		members[i] = startMember(t, root, limit, 5+random.IntN(60))
	}
	for _, m := range members {
		m.kill(t)
	}
	if bound := int64(limit + (processes+1)*2*testFile); most > bound {
		t.Errorf("%d bytes at most, want %d", most, bound)
	}
	last := startTestMember(t, root, session.Options{}, realClock)
	for deadline := time.Now().Add(time.Minute); ; {
		must(t, last.tick())
		s, err := session.Read(root)
		must(t, err)
		if count(s, rawformat.SlotLive) == 1 && s.Sum() <= limit && len(phantoms(root, s)) == 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%+v; %v", s, phantoms(root, s))
		}
	}
	s, err := session.Read(root)
	must(t, err)
	for _, x := range s.Slots {
		if x.Kind != rawformat.SlotLive {
			wantWhole(t, filepath.Join(root, fmt.Sprintf("%016x", x.Instance)), 0)
		}
	}
	dirs, err := filepath.Glob(filepath.Join(root, "????????????????"))
	dirs = slices.DeleteFunc(dirs, session.IsTomb)
	if err != nil || len(dirs) != len(s.Slots) {
		t.Errorf("%d directories, %d slots, %v", len(dirs), len(s.Slots), err)
	}
}

// phantoms are the dead processes whose slots do not say what they hold, because a process
// that removed some of it was killed meanwhile, and none has looked since.
func phantoms(root string, s *session.Status) (all []string) {
	for _, x := range s.Slots {
		dir := filepath.Join(root, fmt.Sprintf("%016x", x.Instance))
		if held := sessionBytes(dir); x.Kind != rawformat.SlotLive && held != x.Held {
			all = append(all, fmt.Sprintf("%016x holds %d bytes, its slot says %d", x.Instance, held, x.Held))
		}
	}
	return all
}

// Processes of different users share a session through their group, whatever their umask
// is: one looks after what another left.
func TestSessionGroup(t *testing.T) {
	if os.Getuid() != 0 {
		t.Log("only root can become somebody else")
		return
	}
	const group, limit = 3000, 2 << 20
	home := t.TempDir()
	root := filepath.Join(home, "session")
	must(t, os.Mkdir(root, 0o700))
	must(t, errors.Join(os.Chown(root, 1001, group), os.Chmod(root, os.ModeSetgid|0o770)))
	must(t, errors.Join(os.Chmod(home, 0o755), os.Chmod(filepath.Dir(home), 0o755)))
	program, err := os.ReadFile(os.Args[0])
	must(t, err)
	must(t, os.WriteFile(filepath.Join(home, "member"), program, 0o755))
	start := func(user, rate int) *child {
		return startMember(t, root, limit, rate, "setpriv", "--reuid", strconv.Itoa(user), "--regid", strconv.Itoa(group), "--clear-groups",
			"sh", "-c", `umask 077; exec "$@"`, "sh", "-")
	}
	wait := func(what string, done func(*session.Status) bool) {
		t.Helper()
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
			s, err := session.Read(root)
			if err != nil || time.Now().After(deadline) {
				t.Fatalf("%s: %+v, %v", what, s, err)
			}
			if done(s) {
				return
			}
		}
	}
	ended := start(1001, 5)
	wait("the first one records", func(*session.Status) bool { return ended.slot(t, root).Released > 5*testFile })
	ended.stop(t)
	killed := start(1001, 5)
	wait("the next one records", func(*session.Status) bool { return killed.slot(t, root).Released > 5*testFile })
	killed.kill(t)
	second := start(1002, 30)
	wait("somebody else finds out", func(s *session.Status) bool { return count(s, rawformat.SlotCrashed) == 1 })
	wait("and makes room", func(s *session.Status) bool { return standing(t, root, ended.instance) == nil })
	third := start(1001, 1)
	second.stop(t)
	third.stop(t)
	wantWhole(t, second.dir(root), second.blocks)
	wantWhole(t, third.dir(root), third.blocks)
	wantWhole(t, killed.dir(root), 0)
	filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		must(t, err)
		info, err := d.Info()
		must(t, err)
		want := os.FileMode(0o660)
		if d.IsDir() {
			want = os.ModeDir | os.ModeSetgid | 0o770
		}
		if info.Mode() != want {
			t.Errorf("%s: mode %v, want %v", path, info.Mode(), want)
		}
		return nil
	})
}

// highest is the highest hand-out mark.
func highest(s *session.Status) (index uint64) {
	for _, x := range s.Slots {
		index = max(index, x.End)
	}
	return index
}

func count(s *session.Status, kind rawformat.SlotKind) (n int) {
	for _, x := range s.Slots {
		if x.Kind == kind {
			n++
		}
	}
	return n
}

func (c *child) slot(t *testing.T, root string) *session.Standing {
	t.Helper()
	s := standing(t, root, c.instance)
	if s == nil {
		t.Fatalf("no slot of %016x", c.instance)
	}
	return s
}

// startTestMember is a member in this process, which counts as dead when its lock is
// closed.
func startTestMember(t testing.TB, root string, o session.Options, now clock) *member {
	t.Helper()
	m, err := newMember(root, o, time.Minute, now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.lock.Close() })
	return m
}

// The last process to leave brings the session under its limit, since nobody may come after it.
func TestLeaveMakesRoom(t *testing.T) {
	root, h := t.TempDir(), newHandClock()
	first := startTestMember(t, root, session.Options{Limit: 1 << 20}, h.now)
	ticks(t, h, 10, 40, first)
	must(t, first.stop())
	last := startTestMember(t, root, session.Options{}, h.now)
	ticks(t, h, 10, 20, last)
	held := func() int64 {
		s, err := session.Read(root)
		must(t, err)
		return s.Sum()
	}
	limit := held() - 6*testFile
	must(t, last.c.SetLimit(limit))
	must(t, last.stop())
	if n := held(); n > limit || n < limit/2 {
		t.Errorf("%d bytes of %d", n, limit)
	}
}

// While a session holds more than its limit, empty chunks go before recorded ones, also those of a process that has nothing else.
func TestSparesGoFirst(t *testing.T) {
	root, h := t.TempDir(), newHandClock()
	o := session.Options{Limit: 64 * testFile}
	busy, other := startTestMember(t, root, o, h.now), startTestMember(t, root, o, h.now)
	ticks(t, h, 12, testFile/1000, other)
	ticks(t, h, 1, 12*testFile/1000, busy) // more chunks at once than it had: it makes many
	for range 20 {
		must(t, busy.w.Ring.GiveUp(math.MaxInt64)) // others have asked for all that it recorded
	}
	ticks(t, h, 1, 0, busy)
	if held := busy.w.Ring.Held(); held < 16*testFile {
		t.Fatalf("%d bytes of spare chunks", held)
	}
	must(t, busy.c.SetLimit(24*testFile))
	for range 30 {
		ticks(t, h, 1, 0, busy, other)
	}
	if held, given := busy.w.Ring.Held()+other.w.Ring.Held(), other.w.Ring.GivenUp(); held > 24*testFile || given > 0 {
		t.Errorf("%d and %d bytes, want at most %d; %d recorded chunks were given up", busy.w.Ring.Held(), other.w.Ring.Held(), 24*testFile, given)
	}
	must(t, busy.stop())
	must(t, other.stop())
}
