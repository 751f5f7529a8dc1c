package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/pprof"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/rogpeppe/go-internal/txtar"

	"gprof/chunks"
	"gprof/chunks/folder"
	"gprof/chunks/session"
	"gprof/cmd/gprof-convert/app"
	"gprof/fixtures"
	"gprof/rawformat"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"gprof-convert": main, "xdg-open": browser})
}

// run runs the command in this process.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return app.Run(app.Extensions{}, args, stdin, stdout, stderr)
}

// Each script in testdata/script is a story of one user: what they type, and
// what they must see. A command that does not end is stopped shortly before go test would
// give up, and the script fails.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"build":    build,
			"record":   record,
			"records":  records,
			"crash":    crash,
			"hold":     hold,
			"reap":     reap,
			"bury":     bury,
			"dumps":    dumps,
			"names":    names,
			"private":  private,
			"hostile":  hostile,
			"fleet":    fleet,
			"requests": requests,
			"await":    await,
			"empty":    empty,
			"damage":   damage,
			"cut":      cut,
			"parked":   parked,
		},
	})
}

// record SESSION INSTANCE PID EVENTS [PARENT] makes a recording by hand: markers
// and samples of a service named shop.
func record(ts *testscript.TestScript, neg bool, args []string) {
	var more []chunks.Meta
	if len(args) > 4 {
		more = append(more, chunks.Meta{Key: rawformat.MetaParent, Value: fmt.Sprintf("%016x", number(ts, args[4]))})
	}
	ts.Check(begin(ts, args, more...).Close())
}

// records SESSION COUNT makes that many, from instance 1 on.
func records(ts *testscript.TestScript, neg bool, args []string) {
	for i := range number(ts, args[1]) {
		record(ts, neg, []string{args[0], fmt.Sprint(i + 1), fmt.Sprint(i + 100), "20"})
	}
}

// build SESSION FIXTURE writes a recording that lies as text in another
// package's testdata.
func build(ts *testscript.TestScript, neg bool, args []string) {
	ar, err := txtar.ParseFile(args[1])
	ts.Check(err)
	ts.Check(fixtures.Build(ts.MkAbs(args[0]), ar))
}

// crash SESSION INSTANCE PID EVENTS LIMIT USED makes the recording of a process
// that was killed when it used that much of its memory. Some of it is sealed.
func crash(ts *testscript.TestScript, neg bool, args []string) {
	r := begin(ts, args, chunks.Meta{Key: rawformat.MetaMemory, Value: args[4]})
	ts.Check(r.Define(fmt.Sprintf(`def-counter id=1 name=%q category="Memory" description="" unit=3 mode=0`, rawformat.CounterGroupMemory)))
	ts.Check(r.Lines(fmt.Sprintf("counter time=+0 counter=1 value=%d number=0", number(ts, args[5])), "instant event=1 stack=0 time=+900000000 args=(7)"))
	ts.Check(r.Maintain())
}

// hold SESSION/INSTANCE makes a process live as long as the script.
func hold(ts *testscript.TestScript, neg bool, args []string) {
	lock, err := session.Lock(ts.MkAbs(args[0]))
	ts.Check(err)
	ts.Defer(func() { lock.Close() })
}

// dumps DIR N makes that many sessions of one process each: DIR/zone-Z/dump-NNN.
func dumps(ts *testscript.TestScript, neg bool, args []string) {
	for i := range number(ts, args[1]) {
		session := fmt.Sprintf("%s/zone-%d/dump-%03d", args[0], i%3, i)
		record(ts, neg, []string{session, fmt.Sprint(i + 1), fmt.Sprint(100 + i), fmt.Sprint(5 + i%7)})
	}
}

// names SESSION INSTANCE N makes a recording of one sample, of functions whose
// names are N MiB long in all.
func names(ts *testscript.TestScript, neg bool, args []string) {
	r, err := fixtures.New(ts.MkAbs(args[0]), fixtures.Options{Instance: number(ts, args[1])})
	ts.Check(err)
	ts.Check(r.Define(`def-module id=1 path="/bin/shop" build="abc" start=4194304 end=8388608 offset=0`))
	n := number(ts, args[2])
	for i := uint64(1); i <= n; i++ {
		ts.Check(r.Define(fmt.Sprintf(`def-string id=%d text="%d%s"`, i, i, strings.Repeat("x", rawformat.MaxText-8)),
			fmt.Sprintf(`def-frame id=%d module=1 offset=%d`, i, 16*i), fmt.Sprintf(`def-symbol frame=%d depth=0 function=%d file=0 line=1`, i, i),
			fmt.Sprintf(`def-stack id=%d parent=%d frame=%d`, i, i-1, i)))
	}
	ts.Check(r.Lines(fmt.Sprintf(`sample time=+0 thread=1 goroutine=0 track=0 stack=%d weight=1 cpu=1001 window=0`, n+1)))
	ts.Check(r.Close())
}

// private SESSION INSTANCE makes a recording that holds the name of anna, and of
// her machine, wherever a recording may hold one.
func private(ts *testscript.TestScript, neg bool, args []string) {
	r := begin(ts, []string{args[0], args[1], "7", "3"}, chunks.Meta{Key: rawformat.MetaExe, Value: "/home/anna/shop"},
		chunks.Meta{Key: rawformat.MetaArg, Value: "--user=anna"}, chunks.Meta{Key: rawformat.MetaAttr + "owner", Value: "anna"},
		chunks.Meta{Key: rawformat.MetaSelfTest + "session", Value: "anna has another one"})
	ts.Check(r.Define(`def-track id=1 name="work of anna"`,
		`def-counter id=1 name="queue of anna" category="anna" description="of anna" unit=0 mode=0`,
		`def-string id=4 text="anna"`, `def-string id=5 text="main.read"`, `def-string id=6 text="/home/anna/src/read.go"`,
		`def-label id=4 category=0 name="for anna"`, `def-frame id=5 module=1 offset=64`, `def-symbol frame=5 depth=0 function=5 file=6 line=1`,
		`def-stack id=4 parent=0 frame=4`, `def-stack id=5 parent=4 frame=5`,
		`def-event id=2 category=0 name="request" display=3 chart="" tooltip="" table=""`,
		`def-field event=2 position=0 name="file" label="" wire=3 format=9 privacy=1 flags=0`,
		`def-field event=2 position=1 name="from" label="" wire=3 format=10 privacy=2 flags=0`,
		`def-field event=2 position=2 name="user" label="" wire=1 format=11 privacy=3 flags=0`,
		`def-field event=2 position=3 name="token" label="" wire=3 format=2 privacy=4 flags=0`,
		`def-event id=3 category=0 name="note" display=3 chart="" tooltip="" table=""`,
		`def-field event=3 position=0 name="text" label="" wire=3 format=2 privacy=0 flags=0`))
	ts.Check(r.Lines(`context goroutine=7 track=1 root=0`,
		`instant event=2 stack=0 time=+10 args=("/home/anna/x" "https://anna.example/y" 4u "anna's token")`,
		`instant event=3 stack=0 time=+10 args=("anna was here")`,
		`instant event=99 stack=0 time=+10 args=("anna, undefined")`,
		`sample time=+0 thread=1 goroutine=7 track=0 stack=6 weight=1 cpu=1001 window=0`,
		`counter time=+5 counter=1 value=+1 number=0`,
		`page time=+10 tab=1 window=2 embedder=0 private=1 url="https://anna.example/"`,
		`log time=+10 level=1 text="cannot open /home/anna"`))
	ts.Check(r.Close())
}

// hostile SESSION INSTANCE makes a recording whose names would steer a terminal,
// and look like lines of ours.
func hostile(ts *testscript.TestScript, neg bool, args []string) {
	const bad = "\x1b[2J\nfake line\t\u009b31m\u202e\u200b\xff"
	r := begin(ts, []string{args[0], args[1], "7", "3"}, chunks.Meta{Key: rawformat.MetaService, Value: "service" + bad},
		chunks.Meta{Key: rawformat.MetaArg, Value: "arg" + bad}, chunks.Meta{Key: rawformat.MetaSelfTest + "test" + bad, Value: bad},
		chunks.Meta{Key: rawformat.MetaAttr + "attr" + bad, Value: bad})
	ts.Check(r.Define(fmt.Sprintf("def-track id=1 name=%q", "track"+bad), fmt.Sprintf("def-string id=4 text=%q", "function"+bad),
		fmt.Sprintf("def-string id=5 text=%q", "/file"+bad), fmt.Sprintf("def-category id=1 name=%q color=%q sub=%q", "category"+bad, "grey", "part"+bad),
		fmt.Sprintf(`def-module id=2 path=%q build=%q start=8388608 end=9437184 offset=0`, "/module"+bad, "build"+bad),
		`def-frame id=4 module=2 offset=64`, `def-symbol frame=4 depth=0 function=4 file=5 line=1`, `def-frame id=5 module=2 offset=80`,
		`def-stack id=4 parent=0 frame=5`, `def-stack id=5 parent=4 frame=4`,
		fmt.Sprintf(`def-event id=2 category=1 name=%q display=3 chart="" tooltip="" table=""`, "event"+bad)))
	ts.Check(r.Lines(`context goroutine=7 track=1 root=0`, `interval event=2 stack=0 time=+10 duration=1000 args=()`,
		`sample time=+0 thread=1 goroutine=7 track=0 stack=6 weight=1 cpu=1001 window=0`))
	ts.Check(r.Close())
}

// fleet SESSION COUNT SLOWER makes that many processes, each a little different,
// in which main.work and the interval "job" take that many hundredths of what is
// usual.
func fleet(ts *testscript.TestScript, neg bool, args []string) {
	slower := number(ts, args[2])
	for i := range number(ts, args[1]) {
		r := begin(ts, []string{args[0], fmt.Sprint(i + 1), fmt.Sprint(i + 101), "0"})
		ts.Check(r.Define(`def-event id=2 category=0 name="job" display=3 chart="" tooltip="" table=""`))
		for j := range uint64(40) {
			ts.Check(r.Lines(fmt.Sprintf(`sample time=+20000000 thread=1 goroutine=0 track=0 stack=3 weight=%d cpu=%d window=0`, slower+i%3, 1e4*(slower+i%3)+1),
				`sample time=+0 thread=1 goroutine=0 track=0 stack=4 weight=200 cpu=2000001 window=0`,
				fmt.Sprintf(`interval event=2 stack=0 time=+0 duration=%d args=()`, (100+j+i%4)*1000*slower)))
			r.Advance(20e6)
		}
		ts.Check(r.Close())
	}
}

// requests SESSION INSTANCE makes a process with 3,000 intervals "request", a millisecond each, on
// goroutines whose states are told as by an execution trace. One in fifty waits for a lock.
func requests(ts *testscript.TestScript, neg bool, args []string) {
	r := begin(ts, []string{args[0], args[1], args[1], "0"})
	ts.Check(r.Define(`def-label id=4 category=0 name="waiting: sync"`, `def-stack id=4 parent=2 frame=4`,
		`def-event id=2 category=0 name="request" display=3 chart="" tooltip="" table=""`,
		`def-field event=2 position=0 name="route" label="" wire=3 format=9 privacy=1 flags=0`,
		`def-event id=3 category=0 name="goroutine state" display=3 chart="" tooltip="" table=""`,
		`def-field event=3 position=0 name="state" label="" wire=3 format=2 privacy=0 flags=0`,
		`def-field event=3 position=1 name="reason" label="" wire=3 format=2 privacy=0 flags=0`))
	for i := range 3000 {
		route, stack, state, wait := "/list", 0, `"running" ""`, 900_000
		if i%50 == 0 {
			route, stack, state, wait = "/export", 5, `"waiting" "sync"`, 4_000_000
		}
		ran, waited := 100_000+i%7*1000, wait+i%11*1000
		who := fmt.Sprintf(`context goroutine=%d track=0 root=0`, 1+i%5) // which each page says anew
		ts.Check(r.Lines(who, fmt.Sprintf(`interval event=3 stack=0 time=+%d duration=%d args=("running" "")`, ran, ran)))
		r.Advance(uint64(ran))
		ts.Check(r.Lines(who, fmt.Sprintf(`interval event=3 stack=%d time=+%d duration=%d args=(%s)`, stack, waited, waited, state),
			who, fmt.Sprintf(`interval event=2 stack=0 time=+0 duration=%d args=("%s")`, ran+waited, route)))
		r.Advance(uint64(waited))
	}
	ts.Check(r.Close())
}

// reap SESSION/INSTANCE PID SIGNAL writes how a process ended.
func reap(ts *testscript.TestScript, neg bool, args []string) {
	ts.Check(session.WriteExit(ts.MkAbs(args[0]), session.End{Pid: uint32(number(ts, args[1])), Signal: int(number(ts, args[2]))}))
}

// bury SESSION/INSTANCE writes what others of a session write of a process that
// they found dead a second after its start.
func bury(ts *testscript.TestScript, neg bool, args []string) {
	dir := ts.MkAbs(args[0])
	p, err := chunks.OpenProcess(os.DirFS(filepath.Dir(dir)), filepath.Base(dir))
	ts.Check(err)
	body := rawformat.AppendUint([]byte{byte(rawformat.KindExit)}, 0)
	body = rawformat.AppendSint(body, fixtures.Realtime+1e9)
	body = rawformat.AppendUint(body, uint64(rawformat.ExitUnknown))
	body = rawformat.AppendFixed(rawformat.AppendSint(body, 0), 0)
	body = append(body, 0, 1, 1, 0) // the parent's index, range start and end, discarded
	body = rawformat.AppendText(body, "")
	h := rawformat.RecordHeader{Magic: rawformat.MagicExit, Version: rawformat.Version, Instance: p.Instance, Pid: p.Pid}
	ts.Check(chunks.WriteRecords(folder.Dir(dir), "exit", h, body))
}

// begin makes a recording: SESSION INSTANCE PID EVENTS.
func begin(ts *testscript.TestScript, args []string, more ...chunks.Meta) *fixtures.Recording {
	instance, pid, events := number(ts, args[1]), number(ts, args[2]), number(ts, args[3])
	meta := []chunks.Meta{{Key: rawformat.MetaService, Value: "shop"}, {Key: rawformat.MetaVersion, Value: "1.2"}, {Key: rawformat.MetaHost, Value: "shop-7f9c"}}
	r, err := fixtures.New(ts.MkAbs(args[0]), fixtures.Options{Instance: instance, Pid: uint32(pid), Start: 1e9 + instance*1e6, Realtime: fixtures.Realtime + int64(instance)*1e6, Meta: append(meta, more...)})
	ts.Check(err)
	ts.Check(r.Define(
		`def-string id=1 text="main.main"`, `def-string id=2 text="main.work"`, `def-string id=3 text="/src/main.go"`,
		`def-module id=1 path="/bin/shop" build="abc" start=4194304 end=8388608 offset=0`,
		`def-frame id=1 module=1 offset=16`, `def-frame id=2 module=1 offset=32`, `def-frame id=3 module=1 offset=48`,
		`def-symbol frame=1 depth=0 function=1 file=3 line=1`, `def-symbol frame=2 depth=0 function=2 file=3 line=2`,
		`def-stack id=1 parent=0 frame=1`, `def-stack id=2 parent=1 frame=2`, `def-stack id=3 parent=2 frame=3`,
		`def-event id=1 category=0 name="order" display=3 chart="" tooltip="" table=""`,
		`def-field event=1 position=0 name="n" label="" wire=0 format=0 privacy=0 flags=0`))
	for i := range events {
		ts.Check(r.Lines(fmt.Sprintf("instant event=1 stack=0 time=+1000 args=(%d)", i),
			`sample time=+0 thread=1 goroutine=0 track=0 stack=4 weight=1 cpu=1001 window=0`))
		r.Advance(1000)
	}
	return r
}

// damage FILE OFFSET flips one bit.
func damage(ts *testscript.TestScript, neg bool, args []string) {
	name, data := file(ts, args[0])
	data[number(ts, args[1])] ^= 0x10
	ts.Check(os.WriteFile(name, data, 0o600))
}

// cut FILE SIZE cuts a file short.
func cut(ts *testscript.TestScript, neg bool, args []string) {
	name, data := file(ts, args[0])
	ts.Check(os.WriteFile(name, data[:number(ts, args[1])], 0o600))
}

// parked FILE writes a profile of the goroutines of the test.
func parked(ts *testscript.TestScript, neg bool, args []string) {
	f, err := os.Create(ts.MkAbs(args[0]))
	ts.Check(err)
	ts.Check(errors.Join(pprof.Lookup("goroutine").WriteTo(f, 0), f.Close()))
}

func file(ts *testscript.TestScript, arg string) (name string, data []byte) {
	name = ts.MkAbs(arg)
	data, err := os.ReadFile(name)
	ts.Check(err)
	return name, data
}

func number(ts *testscript.TestScript, s string) uint64 {
	n, err := strconv.ParseUint(s, 0, 64)
	ts.Check(err)
	return n
}
