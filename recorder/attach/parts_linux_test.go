package attach

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"gprof/chunks"
	"gprof/chunks/session"
	"gprof/rawformat"
	"gprof/rawformat/buildid"
	"gprof/rawformat/kallsyms"
	"gprof/rawformat/perfevent"
	"gprof/recorder/internal/modules"
)

// A program that was replaced while it ran is known by its own build, not by that of what
// has its path by now.
func TestReplacedProgram(t *testing.T) {
	exe := filepath.Join(t.TempDir(), "program")
	want := copyProgram(t, "sleep", exe)
	cmd := exec.Command(exe, "600")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	if err := os.Remove(exe); err != nil {
		t.Fatal(err)
	}
	if other := copyProgram(t, "true", exe); other == want {
		t.Fatal("both programs are of one build")
	}
	b := builds{known: map[file]string{}}
	var all []modules.Module
	i := -1
	for deadline := time.Now().Add(time.Minute); i < 0 && time.Now().Before(deadline); { // it is mapped some time after it has started
		all = b.mapped(int32(cmd.Process.Pid))
		i = slices.IndexFunc(all, func(m modules.Module) bool { return m.Path == exe })
	}
	if i < 0 || all[i].Build != want {
		t.Errorf("of build %s the mappings are %+v", want, all)
	}
	p := process{pid: int32(cmd.Process.Pid)}
	if p.look(); p.program() != exe {
		t.Errorf("the program is %s, want %s", p.program(), exe)
	}
}

// copyProgram copies a program of the system, and returns its build id.
func copyProgram(t *testing.T, name, to string) string {
	t.Helper()
	from, err := exec.LookPath(name)
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, b, 0o700); err != nil {
		t.Fatal(err)
	}
	f, err := elf.NewFile(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	id, err := buildid.Of(f)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func TestKernelNames(t *testing.T) {
	const text = 0xffffffff81000000
	list, err := kallsyms.Read(strings.NewReader("ffffffff81000000 T _text\nffffffff81000100 t do_it\n"))
	if err != nil {
		t.Fatal(err)
	}
	k := kernel{read: true, list: list}
	for offset, want := range map[uint64]string{0: "_text", 0xff: "_text", 0x100: "do_it", 1 << 20: "do_it"} {
		if got := k.name(offset); got != want {
			t.Errorf("%#x is %q, want %q", offset, got, want)
		}
	}
	if f := k.place(text + 5); f != (frame{kernelModule, 5}) {
		t.Errorf("%+v", f)
	}
	if f := k.place(text - 5); f != (frame{noModule, text - 5}) {
		t.Errorf("below the text: %+v", f)
	}
	hidden := kernel{read: true}
	if hidden.tells() || hidden.name(5) != "" || hidden.place(text).module != kernelModule {
		t.Errorf("%+v", hidden)
	}
}

// put adds a record to a ring as the kernel does.
func (b *buffer) put(h perfevent.Head, body []byte) {
	head := binary.LittleEndian.AppendUint32(nil, h.Kind)
	head = binary.LittleEndian.AppendUint16(head, h.Misc)
	for _, c := range append(binary.LittleEndian.AppendUint16(head, uint16(h.Size)), body...) {
		b.ring[b.page.Data_head%uint64(len(b.ring))] = c
		b.page.Data_head++
	}
}

func TestBufferWraps(t *testing.T) {
	b := buffer{page: &unix.PerfEventMmapPage{}, ring: make([]byte, 64)}
	b.page.Data_head, b.page.Data_tail = 1<<40+8, 1<<40+8
	for i := range 20 {
		body := []byte(strings.Repeat(string(rune('a'+i)), 16))
		b.put(perfevent.Head{Kind: uint32(i), Size: 24}, body)
		n := 0
		lost := b.read(func(h perfevent.Head, got []byte) {
			if n++; h.Kind != uint32(i) || string(got) != string(body) {
				t.Errorf("%d: %+v %q", i, h, got)
			}
		})
		if n != 1 || lost != 0 {
			t.Fatalf("%d records, %d lost", n, lost)
		}
	}
	b.put(perfevent.Head{Size: 3}, nil) // smaller than its head
	if lost := b.read(func(perfevent.Head, []byte) { t.Error("a record") }); lost != 1 || b.page.Data_tail != b.page.Data_head {
		t.Errorf("%d lost", lost)
	}
}

func TestBatchOrders(t *testing.T) {
	var b batch
	add := func(times ...uint64) {
		for _, at := range times {
			b.add(perfevent.Head{Kind: perfevent.KindSwitch}, binary.LittleEndian.AppendUint64(nil, at))
		}
	}
	var got []uint64
	take := func(it *item, body []byte) { got = append(got, it.time, binary.LittleEndian.Uint64(body)) }
	add(10, 30, 50, 20, 40)
	b.each(30, take)
	add(45, 35)
	b.each(45, take)
	b.each(100, take)
	if want := []uint64{10, 10, 20, 20, 30, 30, 35, 35, 40, 40, 45, 45, 50, 50}; !slices.Equal(got, want) {
		t.Errorf("%d", got)
	}
	if len(b.all) != 0 || len(b.bytes) != 0 {
		t.Errorf("%+v is left", b)
	}
}

// Not even the kernel's records are trusted blindly.
func FuzzTake(f *testing.F) {
	body := binary.LittleEndian.AppendUint64(nil, 7<<32|7)
	f.Add(uint32(perfevent.KindComm), uint16(perfevent.MiscExec), append(body, "name\x00"...))
	f.Add(uint32(perfevent.KindFork), uint16(0), append(body, body...))
	sample := binary.LittleEndian.AppendUint64(append(make([]byte, 8), body...), 1000)
	for _, v := range append([]uint64{1000, 0, 2, 1, 1, 1, 1, 1, 1, 64}, 64, 0x1010, 0, 0, 0, 0, 0, 0, 0, 0, 16, 80, 0x1010, 16) {
		sample = binary.LittleEndian.AppendUint64(sample, v)
	}
	f.Add(uint32(perfevent.KindSample), uint16(perfevent.MiscUser), sample)
	f.Fuzz(func(t *testing.T, kind uint32, misc uint16, body []byte) {
		p := &process{follow: newFollower(), modules: []modules.Module{{Start: 0x1000, End: 0x2000}}, pid: 7, refused: true, threads: map[int32]*thread{}, kernel: &kernel{read: true}, builds: &builds{known: map[file]string{}}, places: map[uint64]frame{}}
		s := &Sampler{processes: map[int32]*process{7: p}, events: &events{layout: perfevent.Layout{
			Sample: perfevent.SampleIP | perfevent.SampleTID | perfevent.SampleTime | perfevent.SamplePeriod | perfevent.SampleChain | perfevent.SampleUserRegs | perfevent.SampleUserStack,
			Flags:  perfevent.FlagIDAll, UserRegs: wantedRegisters()}}}
		head := perfevent.Head{Kind: kind, Misc: misc, Size: perfevent.HeadSize + len(body)}
		s.batch.add(head, body)
		s.batch.each(1<<64-1, s.take)
		if len(s.processes) > 2 {
			t.Errorf("%d processes", len(s.processes))
		}
	})
}

// newRecording begins that of a process in a session of a limit.
func newRecording(t *testing.T, limit int64) (p *process, r *recording, dir string) {
	t.Helper()
	dir = t.TempDir()
	control, err := session.Open(dir, session.Options{Limit: limit})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { control.Close() })
	s := &Sampler{o: Options{Session: dir, Hz: DefaultHz}, control: control, events: &events{}}
	p = &process{pid: 7, exe: "/bin/x", threads: map[int32]*thread{}, kernel: &kernel{read: true}, places: map[uint64]frame{}}
	if r, err = s.record(p); err != nil {
		t.Fatal(err)
	}
	return p, r, dir
}

// A dictionary that has outgrown its bound is replaced by another one, and removed when no chunk names it; stacks continue to be
// written.
func TestGenerations(t *testing.T) {
	p, r, session := newRecording(t, 4*chunkFile)
	for i := range 40_000 {
		r.makeRoom()
		at := anchor().Monotonic
		r.writer.busy(at, busyState{thread: 7, period: 1e6, track: r.track(p, 7)}, r.intern(p, []frame{{noModule, uint64(i)}}))
		if i%1000 == 0 {
			r.upkeep(time.Now())
		}
	}
	if r.writer.generation < 3 || r.lost[rawformat.LostDictionary] > 0 {
		t.Errorf("generation %d, %d stacks lost", r.writer.generation, r.lost[rawformat.LostDictionary])
	}
	if dicts, _ := filepath.Glob(filepath.Join(r.dir, "dict-*")); len(dicts) >= int(r.writer.generation) {
		t.Errorf("%d dictionaries of %d generations are left", len(dicts), r.writer.generation)
	}
	if err := r.end(session, rawformat.ExitStopped, ""); err != nil {
		t.Fatal(err)
	}
	found, err := chunks.OpenProcess(os.DirFS(r.dir), ".")
	if err != nil || len(found.Problems) > 0 || found.Exit == nil {
		t.Errorf("%v, %+v", err, found)
	}
}

// Each page begins with a sync block, wherever the blocks before it end. Otherwise all blocks in it would be lost.
func TestPagesBegin(t *testing.T) {
	p, r, session := newRecording(t, 16*chunkFile)
	at := anchor().Monotonic
	const samples = 10_000
	for i := range samples {
		at += uint64(i % 1000 * 1000)
		r.writer.busy(at, busyState{thread: uint64(i % 300), period: 1e6 << (i % 7), track: r.track(p, int32(i%2))}, 0)
	}
	if err := r.end(session, rawformat.ExitStopped, ""); err != nil {
		t.Fatal(err)
	}
	found, err := chunks.OpenProcess(os.DirFS(r.dir), ".")
	if err != nil || len(found.Problems) > 0 {
		t.Fatalf("%v, %v", err, found.Problems)
	}
	read := 0
	blocks := found.Blocks(func(pr chunks.Problem) { t.Errorf("%+v", pr) })
	for blocks.Next() {
		if blocks.Block().Kind == rawformat.KindBusy {
			read++
		}
	}
	if blocks.Err() != nil || read != samples {
		t.Errorf("%d of %d samples, %v", read, samples, blocks.Err())
	}
}

// The program of a process is known from its first mapping, and before that from /proc, as long as the process lives.
func TestProgram(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := (&process{pid: int32(os.Getpid()), threads: map[int32]*thread{}}).exec("main")
	if p.program() != exe || !slices.Equal(p.argv, os.Args) {
		t.Errorf("%q runs with %q, not %q with %q", p.program(), p.argv, exe, os.Args)
	}
	p.isMapped(modules.Module{Path: "/bin/y", End: 1})
	if p.program() != "/bin/y" {
		t.Errorf("the program that was mapped is %q", p.program())
	}
	gone := (&process{pid: math.MaxInt32, threads: map[int32]*thread{}}).exec("gone")
	if gone.base() != "gone" {
		t.Errorf("one that ended is called %q", gone.base())
	}
}
