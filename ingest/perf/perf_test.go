package perf_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"gprof/ingest/internal/damage"
	"gprof/ingest/internal/naming"
	"gprof/ingest/perf"
	"gprof/stream"
	"gprof/stream/streamtest"
)

// foreign is what both kinds of files are.
type foreign interface {
	Processes() []stream.Process
	Source(*stream.Tables, []stream.ProcessID, stream.Time) stream.Source
}

func opener(data []byte) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }
}

// sourceOf gives all processes of a file.
func sourceOf(f foreign) stream.Source {
	t := &stream.Tables{}
	var ids []stream.ProcessID
	for i, p := range f.Processes() {
		t.Processes = append(t.Processes, p)
		ids = append(ids, stream.ProcessID(i+1))
	}
	return f.Source(t, ids, 0)
}

func open(data []byte) (stream.Source, error) {
	f, err := perf.Open(opener(data))
	if f == nil {
		return nil, err
	}
	return sourceOf(f), err
}

// openFollowed opens a file whose copied stacks are followed by frame pointers.
func openFollowed(data []byte) (stream.Source, error) {
	f, err := perf.Open(opener(data))
	if f == nil {
		return nil, err
	}
	f.FollowBy(func(string) naming.CallFrames { return naming.CallFrames{Given: true} })
	return sourceOf(f), err
}

func openScript(data []byte) (stream.Source, error) {
	f, err := perf.OpenScript(opener(data))
	if f == nil {
		return nil, err
	}
	return sourceOf(f), err
}

func TestConformance(t *testing.T) {
	t.Run("plain", func(t *testing.T) { streamtest.TestFile(t, file(records()...), open) })
	t.Run("compressed", func(t *testing.T) {
		all := records()
		streamtest.TestFile(t, file(append(all[:3:3], packed(all[3:]...)...)...), open)
	})
}

// text is all that a source gives, in order of time.
func text(t *testing.T, src stream.Source, err error) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := stream.Copy(streamtest.Validate(streamtest.NewText(&out)), src, stream.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func has(t *testing.T, got string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(got, w) {
			t.Errorf("%q is not in\n%s", w, got)
		}
	}
}

func TestEvents(t *testing.T) {
	src, err := open(file(records()...))
	got := text(t, src, err)
	has(t, got,
		"Pid:10 OutPid:10 Name:sh Service:", "Pid:20 OutPid:20 Name:pro gram ", "Pid:99 OutPid:99 Name:unnamed program ",
		"Host:box Exe:/bin/program", "CPU:perf cpu-clock:u, page-faults", "Clock:{By:perf's reading of the real time",
		"Start:1700000000000001000 End:1700000000000008970", // born and ended
		"Interval:2004008",
		"Name:pro gram 21 Main:false Root:true", "Name:pro gram 21 (waiting) Main",
		// Offsets in files; kernel addresses from the beginning of its text.
		"{Build:abababababababababababababababababababab Path: Name:program}", "{Build:cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd Path: Name:[kernel.kallsyms]}",
		"Offset:12304", "Offset:12336", "Offset:66", "Offset:80", "Path:/bin/sh", "{Name:Kernel Color:orange}",
		"1700000000000000000 #", "weight 1 cpu 500", "weight 1 cpu 700",
		"value 3000 number 1", "value 400 number 1", "waiting: off CPU", "waiting: preempted",
		"Name:page-faults Category:perf Description:count", "value 3 number 0",
		"Reason:dropped What:records Where:by the kernel Count:17", "the kernel throttled so many times Count:1",
	)
	if n := strings.Count(got, "weight 1"); n != 5 {
		t.Errorf("%d samples, want 5, in\n%s", n, got)
	}
	// The child of a fork runs its parent's code until it has some of its own.
	if strings.Count(got, "Offset:16 ") != 1 || strings.Count(got, "Offset:32 ") != 1 {
		t.Errorf("want both processes in /bin/sh:\n%s", got)
	}
}

// A chain that is as long as the kernel makes them begins with (truncated); where the
// event asked for longer ones it is whole.
func TestDeepChains(t *testing.T) {
	chain := make([]uint64, 128)
	for i := range chain {
		chain[i] = 0x401010
	}
	chain[0] = markUser
	all := append(records(), sampled(clockID, program, program, 9965, 500, chain...))
	src, err := open(file(all...))
	has(t, text(t, src, err), "(truncated)", "What:deep stacks Where: Count:1")
	src, err = open(file(append(records(), sampled(clockID, program, program, 9965, 500, chain[:127]...))...))
	if got := text(t, src, err); strings.Contains(got, "(truncated)") {
		t.Errorf("a chain of 126 calls is cut:\n%s", got)
	}
}

// The stack of a sample does not depend on those before it, which may share some of its addresses, in other modes or
// when other code was mapped there.
func TestStacksAlone(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	before := records()[:3]
	for i := range uint64(40) {
		before = append(before, mapped(shell, 1000+250*i, 0x1000, 0x1000, i%3<<12, 0, "/bin/sh"),
			record(1, 1, wire(nil).u32(1<<32-1, 0).u64(kernelText, 0x1000, 0).text(fmt.Sprintf("[module%d]", i%3)).with(0, 0, 1125+250*i)))
	}
	stacks := func(samples ...wire) map[stream.Time]string {
		src, err := open(file(append(slices.Clip(before), samples...)...))
		if err != nil {
			t.Fatal(err)
		}
		all, tables := map[stream.Time]string{}, src.Tables()
		for b := new(stream.Batch); src.Next(b) == nil; {
			for i, id := range b.Stack {
				for all[b.Time[i]] = ""; id != 0; {
					parent, frame := tables.Stacks.At(id)
					f := tables.Frames.At(frame)
					if f.Module != 0 {
						all[b.Time[i]] += tables.Modules.At(f.Module).Name
					}
					all[b.Time[i]] += fmt.Sprintf("+%x %s%s\n", f.Offset, tables.Strings.At(f.Function), tables.Categories.At(f.Category).Name)
					id = parent
				}
			}
		}
		return all
	}
	var samples []wire
	for i := range uint64(400) {
		chain := []uint64{markUser}
		for range random.IntN(5) + 250*random.IntN(2) {
			chain = append(chain, []uint64{0x1010, kernelText + 0x10, markKernel, markUser}[random.IntN(4)])
		}
		chain = append(chain, []uint64{markUser, markKernel}[i/16%2], []uint64{0x1010, kernelText + 0x10}[i/16%2]) // of some in turn the same code calls all else
		samples = append(samples, sampled(clockID, shell, shell+uint32(i%2), 1000+25*i, 500, chain...))
	}
	together, alone := stacks(samples...), map[stream.Time]string{}
	for i := range samples {
		maps.Copy(alone, stacks(samples[i]))
	}
	for at := range alone {
		if alone[at] != together[at] {
			t.Errorf("at %d:\n%swant\n%s", at, together[at], alone[at])
		}
	}
	if len(together) != len(samples) || len(alone) != len(samples) {
		t.Errorf("%d and %d samples, want %d", len(together), len(alone), len(samples))
	}
}

// A thread that has not come back has waited up to the end, unless its process has
// ended. Threads that have ended do not wait.
func TestOpenWaits(t *testing.T) {
	all := append(records(), switched(1<<13, shell, shell, 9600), switched(1<<13, shell, 1<<32-1, 9650), switched(1<<13, program, program, 9980),
		switched(1<<13, 99, 99, 10_600))
	src, err := open(file(all...))
	got := text(t, src, err)
	has(t, got, "Pid:10 OutPid:10 Name:sh", "End:1700000000000009600", "1700000000000009600 #")
	if strings.Count(got, "value 1000 number 1") != 1 || strings.Count(got, " number 1\n") != 3 {
		t.Errorf("want one wait of 1000 until 10600:\n%s", got)
	}
}

// Samples of a thread that has ended are its process's. Samples of no known process are
// counted.
func TestEndedThreads(t *testing.T) {
	const nobody = 1<<32 - 1
	all := append(records(), sampled(clockID, shell, nobody, 9980, 500, 0x1010), sampled(clockID, nobody, nobody, 9990, 500, 0x1010))
	src, err := open(file(all...))
	got := text(t, src, err)
	has(t, got, "What:samples Where: Count:1")
	if n := strings.Count(got, "weight 1"); n != 6 {
		t.Errorf("%d samples, want 6, in\n%s", n, got)
	}
}

// The same rows come of a file, of a pipe, and of either compressed.
func TestWays(t *testing.T) {
	all := records()
	rows := func(data []byte) string {
		src, err := open(data)
		var kept []string
		for line := range strings.Lines(text(t, src, err)) {
			if strings.HasPrefix(line, "  ") || strings.HasPrefix(line, "track") {
				kept = append(kept, line)
			}
		}
		return strings.Join(kept, "")
	}
	want := rows(file(all...))
	if got := rows(file(packed(all...)...)); got != want {
		t.Errorf("compressed:\n%s\nwant\n%s", got, want)
	}
	plain := rows(piped(all...)) // which tells neither real time nor build ids
	if len(plain) == 0 || strings.Count(plain, "\n") != strings.Count(want, "\n") || !strings.Contains(plain, "1000 #") {
		t.Errorf("piped:\n%s\nwant, but for the times,\n%s", plain, want)
	}
	if got := rows(piped(packed(all...)...)); got != plain {
		t.Errorf("piped and compressed:\n%s\nwant\n%s", got, plain)
	}
}

// Compressed data is read up to where it is damaged, as by a record that was cut,
// or by messages of perf record that went into the same pipe.
func TestPackedAndTorn(t *testing.T) {
	whole, err := open(piped(packed(records()...)...))
	want := strings.Count(text(t, whole, err), "weight 1")
	for _, behind := range []string{"\x51", "[ perf record: Woken up 1 times to write data ]\n"} {
		src, err := open(append(piped(packed(records()...)...), behind...))
		if !errors.Is(err, damage.ErrTorn) {
			t.Errorf("behind it %q: error %v, want %v", behind, err, damage.ErrTorn)
		}
		got := text(t, src, nil)
		if n := strings.Count(got, "weight 1"); n != want || want == 0 {
			t.Errorf("behind it %q: %d samples, want %d, in\n%s", behind, n, want, got)
		}
		has(t, got, fmt.Sprintf("Reason:%v What:records Where:offset", stream.ReasonTorn))
	}
}

// A command line that is recorded repeatedly does not become longer, and names
// of events, which may be long, are in memory once for all processes.
func TestLongTexts(t *testing.T) {
	command := wire(nil).u64(11).u32(2).counted("perf").counted(strings.Repeat("x", 30<<10))
	events := wire(nil).u64(12).u32(1, 64)
	events = append(append(events, attr(1, 0)...), wire(nil).u32(0).counted(strings.Repeat("e", 30<<10))...)
	all := append([]wire{record(80, 0, command), record(80, 0, command), record(80, 0, events)}, records()...)
	f, err := perf.Open(opener(piped(all...)))
	if err != nil {
		t.Fatal(err)
	}
	p := f.Processes()
	if len(p) < 2 || len(p[0].CPU) < 30<<10 || unsafe.StringData(p[0].CPU) != unsafe.StringData(p[1].CPU) {
		t.Errorf("%d processes, events of %d bytes, not shared", len(p), len(p[0].CPU))
	}
	if want := (stream.Attr{Key: "perf command", Value: "perf " + strings.Repeat("x", 30<<10)}); !slices.Contains(p[0].Attrs, want) {
		t.Errorf("attributes %.200v", p[0].Attrs)
	}
}

// Programs name what is in them, with what was inlined.
func TestNames(t *testing.T) {
	f, err := perf.Open(opener(file(records()...)))
	if err != nil {
		t.Fatal(err)
	}
	var asked []uint64
	f.NameBy(func(build string, offset uint64, add func(function, file string, line, start int32)) {
		if strings.HasPrefix(build, "ab") {
			asked = append(asked, offset)
			add("outer", "a.cc", 7, 1)
			add("runtime.mallocgc", "b.go", 8, 2)
		}
	})
	got := text(t, sourceOf(f), nil)
	has(t, got, "outer", "runtime.mallocgc", "Depth:1", "{Name:Go runtime: Memory Color:orange}")
	for _, offset := range asked {
		if offset != 0x3010 && offset != 0x302f && offset != 0x3099 { // of the call, where it returns to 0x3030
			t.Errorf("asked for %#x", offset)
		}
	}
}

// Code that a process generated, in memory of no file, is looked up by process and address.
func TestMadeCode(t *testing.T) {
	all := append(records(), mapped(shell, 0, 0x5000, 0x1000, 0x5000, 0, "//anon"), mapped(program, 3500, 0x5000, 0x1000, 0x5000, 0, "//anon"),
		sampled(clockID, shell, shell, 1500, 500, markUser, 0x5010, 0x5020), sampled(clockID, program, program, 4000, 500, 0x5010), sampled(clockID, shell, shell, 1600, 500, 0x9000))
	f, err := perf.Open(opener(file(all...)))
	if err != nil {
		t.Fatal(err)
	}
	f.NameBy(func(build string, address uint64, add func(function, file string, line, start int32)) {
		if strings.HasPrefix(build, "process ") {
			add(fmt.Sprintf("%s made %#x", build, address), "", 0, 0)
		}
	})
	got := text(t, sourceOf(f), nil)
	has(t, got, "process 10 made 0x5010", "process 20 made 0x5010", "process 10 made 0x501f", "process 10 made 0x9000")
	if strings.Contains(got, "process 99 made 0x5010") || strings.Contains(got, "process 10 made 0x1010") {
		t.Errorf("code of a file, or of another process, in\n%s", got)
	}
}

// The list of a kernel names its modules, if it is of the boot that was recorded,
// and says that the name is of the very module that was mapped there.
func TestKernelModules(t *testing.T) {
	const netfilter, sound = 0xffffffffc0100000, 0xffffffffc0200000
	kernel := func(at uint64, name string) wire {
		return record(1, 1, wire(nil).u32(1<<32-1, 0).u64(at, 0x10000, 0).text(name).with(0, 0, 0))
	}
	all := append([]wire{kernel(netfilter, "/lib/modules/6.1/kernel/net/nf-tables.ko.xz"), kernel(sound, "[snd]")}, records()...)
	all = append(all, sampled(clockID, shell, shell, 1500, 500, markKernel, netfilter+0x40, sound+0x50))
	f, err := perf.Open(opener(file(all...)))
	if err != nil {
		t.Fatal(err)
	}
	f.NameBy(func(build string, offset uint64, add func(function, file string, line, start int32)) {
		switch {
		case build != strings.Repeat("cd", 20)+"@ffffffff81000000":
		case offset == netfilter+0x40-kernelText:
			add("nft_do_chain [nf_tables]", "", 0, 0)
		case offset == sound+0x4f-kernelText: // of the call
			add("elsewhere [nf_tables]", "", 0, 0)
		default:
			t.Errorf("asked for %#x", offset)
		}
	})
	got := text(t, sourceOf(f), nil)
	has(t, got, `nft_do_chain`, "Name:[snd]")
	if strings.Contains(got, "[nf_tables]") || strings.Contains(got, "elsewhere") {
		t.Errorf("a name of another module in\n%s", got)
	}
}

// Records that have no place are counted, but not those that perf only needs for itself.
func TestSkipped(t *testing.T) {
	all := append(records(), record(11, 0, wire(nil).u64(0, 0, 0)), record(12, 0, wire(nil).u64(0)), record(17, 0, wire(nil).u64(0, 0)),
		record(76, 0, wire(nil).u64(0)), record(201, 0, nil), record(1<<20, 0, nil), record(1<<21, 0, nil))
	src, err := open(file(all...))
	got := text(t, src, err)
	has(t, got, "Where:of hardware tracing Count:2", "of perf stat, which counts and samples nothing Count:1", "Where:of kind 201 Count:1", "Where:of kind 255 Count:2")
	if strings.Contains(got, "of kind 17") {
		t.Error("what takes nothing away is counted")
	}
}

// A process that is not asked for gives nothing, and a file names its processes by
// its content.
func TestSome(t *testing.T) {
	data := file(records()...)
	f, err := perf.Open(opener(data))
	if err != nil {
		t.Fatal(err)
	}
	all := f.Processes()
	tables := &stream.Tables{Processes: all[1:2:2]}
	tables.Processes[0].Parent = 0
	var count stream.Count
	if err := stream.Copy(streamtest.Validate(&count), f.Source(tables, []stream.ProcessID{0, 1, 0}, 0), stream.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	again, err := perf.Open(opener(data[:len(data)-1]))
	if again == nil || !errors.Is(err, damage.ErrTorn) {
		t.Fatal(err)
	}
	for i, p := range again.Processes() {
		if p.Instance != all[i].Instance {
			t.Errorf("process %d of a file that was cut is another", i)
		}
	}
}

func TestForeign(t *testing.T) {
	for text, want := range map[string]error{
		"PERFILE":                       damage.ErrTorn,
		"no such file at all":           perf.ErrMagic,
		"2ELIFREP" + "xxxxxxxxxxxxxxxx": perf.ErrVersion,
	} {
		if f, err := perf.Open(opener([]byte(text))); f != nil || !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", text, err, want)
		}
	}
	if f, err := perf.OpenScript(opener([]byte("nothing\nof that kind\n"))); f != nil || err == nil {
		t.Error("a text without samples is read")
	}
}

const printedText = `# ========
# captured on    : Sun Nov 22 00:33:01 2026
# hostname : box
# nrcpus online : 2
# cmdline : perf record -g
# reference time: 2023-11-14 22:13:20.000000 = 1700000000.000000 (TOD) = 0.000001000 (monotonic)
# ========
#
pro gram    20/20    0.000002: PERF_RECORD_COMM exec: pro gram:20/20
pro gram    20/21    [001] 0.000003:        500 cpu-clock:u:
	ffffffff81000042 do_fault+0x12 ([kernel.kallsyms])
	          401010 add(int, unsigned long)+0x10 (/bin/program)
	          401010 sum (inlined)
	          402000 [unknown] ([unknown])
	          403000 main+0x30 (/bin/my (old) program)
  main.c:33

pro gram    20/20    [000] 0.000004:          1 page-faults:     401099 add(int, unsigned long)+0x99 (/bin/program)
      sh    10/10    0.000005:        700 cpu-clock:u:
	    1010 run+0x0 (/bin/sh)

swapper     0/0     [001] 0.000006:          1 sched:sched_switch: prev_comm=swapper/1 prev_pid=0 prev_state=R ==> next_comm=sh next_pid=10
`

func TestScript(t *testing.T) {
	if !perf.SniffScript([]byte(printedText)[:512]) || perf.SniffScript([]byte("some text\nwith lines\n")) || perf.SniffScript([]byte("# a shell script\necho: 1\n")) {
		t.Error("not known by its beginning")
	}
	src, err := openScript([]byte(printedText))
	got := text(t, src, err)
	has(t, got, "Pid:20 OutPid:20 Name:pro gram", "Pid:10 OutPid:10 Name:sh", "Pid:0 OutPid:0 Name:swapper", "Host:box", "CPUs:2", "{Key:perf command Value:perf record -g}",
		"Name:pro gram 21 Main:false", "1700000000000002000 #1", "cpu 500", "cpu 700", "value 1 number 0",
		"do_fault", "add(int, unsigned long)", "sum", "Depth:1", "Name:my (old) program", "Name:sched:sched_switch Category:perf")
	golang, err := openScript([]byte("svc 7/7 0.000005: cycles: \n\t1010 runtime.mallocgc+0x0 (/bin/svc)\n\t1020 net/http.(*conn).serve+0x1 (/bin/svc)\n\t7777 memcpy.part.0+0x1 (/lib/libc.so)\n"))
	has(t, text(t, golang, err), "{Name:Go runtime: Memory Color:orange}", "{Name:Standard library Color:green}", "{Name:User Color:yellow}")
	has(t, got, "string 4 main.c", "Function:3 File:4 Line:33") // -F srcline
	if strings.Contains(got, "+0x") || strings.Contains(got, "ledger") {
		t.Errorf("offsets or losses in\n%s", got)
	}
	streamtest.TestSource(t, func(t *testing.T) stream.Source {
		src, err := openScript([]byte(printedText))
		if err != nil {
			t.Fatal(err)
		}
		return src
	})
}

// If a script names no processes, each thread is one, and Lacks says so.
func TestScriptOfThreads(t *testing.T) {
	f, err := perf.OpenScript(opener([]byte("sh 10 0.000005: cycles: \n\t1010 run+0x0 (/bin/sh)\n\nsh 11 0.000006: cycles: \n\t1010 run+0x0 (/bin/sh)\n\nodd line\n")))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(f.Processes()); n != 2 || !strings.Contains(f.Lacks(), "-F +pid") {
		t.Errorf("%d processes, lacks %s", n, f.Lacks())
	}
	has(t, text(t, sourceOf(f), nil), "weight 1 cpu -1", "value 1 number 0", "What:lines")
}

// A text may begin with other records than samples, and may lack the event. Records that
// have no place are counted.
func TestScriptLines(t *testing.T) {
	const lines = "sh 10 0.000001: PERF_RECORD_MMAP2 10/10: [0x1000(0x1000) @ 0 00:00 0 0]: r-xp /bin/sh\n" +
		"sh 10/10 [000] 0.000002: PERF_RECORD_SWITCH OUT preempt\nsh 10/10 [000] 0.000003: PERF_RECORD_SWITCH IN\nsh 10/10 0.000004: PERF_RECORD_LOST lost 12\n" +
		"sh 10/10 0.000005: \n\t1010 run+0x0 (/bin/sh)\n\n"
	if !perf.SniffScript([]byte(lines)) || perf.SniffScript([]byte("at 10:00 PERF_RECORD_MMAP\n")) {
		t.Error("not known by its beginning")
	}
	f, err := perf.OpenScript(opener([]byte(lines)))
	if err != nil || !strings.Contains(f.Lacks(), "-F +event") {
		t.Fatalf("%v, lacks %v", err, f.Lacks())
	}
	has(t, text(t, sourceOf(f), nil), "weight 1 cpu -1", "What:switches Where:of threads, in text: the perf.data has them, too Count:2", "Where:by the kernel Count:12")
}

func FuzzData(f *testing.F) {
	f.Add(file(records()...))
	f.Add(file(packed(records()...)...))
	f.Add(piped(records()...))
	f.Add(file(sampled(clockID, shell, 1<<32-1, 1000, 500, 0x1010)))
	f.Fuzz(func(t *testing.T, data []byte) {
		readAll(t, data, open)
		readAll(t, data, openFollowed)
	})
}

func FuzzScript(f *testing.F) {
	f.Add([]byte(printedText))
	f.Add([]byte("\n\tffffffff81000042 do_fault\n\n\n\t          401010 f (inlined)\n\t          401010 main (/bin/x)\n  a.cc:3 (inlined)\n"))
	f.Add([]byte("sh 1/1 cycles:             401010 f(int) (/bin/x (deleted))\nsh \n\t          401010\n"))
	f.Fuzz(func(t *testing.T, data []byte) { readAll(t, data, openScript) })
}

func readAll(t testing.TB, data []byte, open streamtest.OpenFile) {
	src, _ := open(data)
	if src == nil {
		return
	}
	err := stream.Copy(streamtest.Validate(stream.Discard), src, stream.CopyOptions{})
	if errors.Is(err, streamtest.ErrInvalid) || errors.Is(err, stream.ErrBatch) || errors.Is(err, stream.ErrUndefined) {
		t.Fatal(err)
	}
}
