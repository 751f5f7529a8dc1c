package recorder

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"gprof/rawformat"
	"gprof/recorder/internal/keeper"
	"gprof/recorder/internal/rt"
)

// Options say what to record, and where. The zero value works: options that are not set
// come from the environment, see [Settings], or have defaults.
//
// Options override the environment, except that GPROF_SESSION overrides Dir and GPROF_LIMIT
// overrides Limit: gprof-record sets these two, because the operator decides where a
// recording lies and how much room it may take. Attrs of both are merged, as Tracks, Without
// and Triggers are.
type Options struct {
	// Dir is the directory in which sessions lie. Default: /dev/shm/gprof if it has room
	// for the limit, else gprof in $XDG_STATE_HOME or ~/.local/state. Files in /dev/shm
	// count as memory; they outlive the process, but not a reboot. [DirInMemory] is the
	// memory of this process. GPROF_SESSION overrides all of this: gprof-record sets it,
	// and so does a parent process that records, so that the recordings of its children lie
	// beside its own.
	Dir string

	// Service is the name of this program; it names the session. Default: the name of the
	// executable.
	Service string

	// Version is the version of the program. Default: that of Go's build info.
	Version string

	// Attrs describe this process further, for example its region. They are added to those
	// of the environment, and override them.
	Attrs map[string]string

	// Limit is how many bytes the session may take, with all its processes and with what
	// ended processes have left behind. A process that sets it sets it for all. Default:
	// the limit that the session has, else 64 MiB, or less where room is scarce: at most a
	// quarter of the free space and a sixteenth of the memory cgroup's limit. GPROF_LIMIT
	// overrides it.
	Limit int64

	// ChunkSize is the size of a chunk file in bytes. It is rounded to a size that the
	// format allows, and reduced if the limit is small. Default: 256 KiB.
	ChunkSize int

	// Keep is how much of the end of its recording is protected after a process was killed:
	// the session's other processes, and the restarted program, first take room elsewhere,
	// as long as half of the limit suffices them. Default: 60 s. Negative: nothing is
	// protected.
	Keep time.Duration

	// GroupAccess lets the group of the session's directory read, record and control.
	// Directories get mode 2770 and files 0660, whatever the umask is; directories above
	// the session that are missing get 2750. It is for sidecars that run as another user.
	// Default: directories have mode 0700, files 0600.
	GroupAccess bool

	// CPU is how CPU samples are taken. Default: [CPUSignal].
	CPU CPUMode

	// SampleHz is how often a busy thread is sampled per second of its CPU time, at most
	// 10,000. The kernel's tick limits it, too; meta has the resulting rate. Default: 100.
	SampleHz int

	// StackDepth is how many calls of a CPU sample's stack are recorded, from the innermost
	// one outwards: 16 to 512. If a stack is deeper, the goroutine's outermost functions
	// are recorded, too, with the frame (truncated) in between. It applies to CPU samples
	// by signals only: Go limits stacks of heap samples and waits to 32 calls and those of
	// CPUPprof to 64; stacks of markers have 64. Default: 128.
	StackDepth int

	// CounterHz is how often counters are read per second, at most 10. Default: 10.
	// Negative: never.
	CounterHz int

	// HeapEvery is how often the recorder writes where memory of the heap was allocated and
	// freed, as sampled by the runtime: one sample in each runtime.MemProfileRate bytes, by
	// default 512 KiB. There is nothing to write before the first garbage collection. After
	// a collection the values are those at the collection before it. Default: 10 s.
	// Negative: never.
	HeapEvery time.Duration

	// WaitHz is how often per second the recorder writes where goroutines wait, and for
	// what, at most 10. Each time it stops the world twice, for some microseconds, and each
	// goroutine costs about one microsecond. With more than 500 goroutines it looks less
	// often, so that it looks at 5,000 a second; with more than 20,000 it does not look at
	// all. Default: never.
	WaitHz int

	// WallHz is how many rounds over all goroutines the recorder makes in a second, at most
	// 1,000, so that those that wait have rows, too, at regular times. It reads the process'
	// own memory and stops nothing. Looking takes at most 0.15 % of a processor, 0.5 % with
	// more than 2,000 goroutines; where that is too little for all goroutines in each round,
	// the next one goes on with the others. Waking the process 100 times a second takes
	// more, 0.4 %; so while no goroutine has moved for a second, one round in eight is made,
	// and its rows stand for eight. Meanwhile WaitHz has no effect, which says the same.
	// Where rounds can't be made, which a log and [Stats] say, goroutines are looked at as
	// WaitHz does it, 10 times a second. [Recorder.SampleWall] switches it. Default: never.
	WallHz int

	// Features, unless 0, are the only kinds of data recorded, each at the rate that its
	// option sets, or its default rate. 0 means everything except waits and traces, which
	// their own options switch on. Kinds in Without are not recorded, whatever other
	// options say.
	Features, Without Features

	// Tracks says which tracks are recorded (see [NewTrack]): "worker" those with that in
	// their name, in any case; "worker *" those whose whole name fits, where * stands for
	// any text and ? for one character; "=worker 3" the one of exactly that name; "pid:12"
	// all, in that process. A minus before any of these excludes: "worker", "-=worker 3".
	// The last that fits a name decides. If none does, the track is recorded only if all
	// exclude. A marker aimed at a track that is not recorded costs as much as one without
	// a recorder; CPU samples and waits of goroutines there, and their markers that are not
	// aimed, are not recorded.
	//
	// Goroutines on no track are on the row of the function in which they began, such as
	// main.serve, and heap samples on that of their stack: Tracks decides about these names
	// likewise. A marker that is left out so costs some tens of nanoseconds. Data of the
	// process as a whole, such as counters, is always recorded, and so are markers before
	// Start.
	Tracks []string

	// TraceBehind is how much of Go's execution trace is kept in memory all the time, at
	// most an eighth of the limit and 16 MiB, so that [Recorder.Trace] has the past, too.
	// It goes on while recording is paused. It costs some percent of a busy program, and
	// the program can't start a flight recorder of its own meanwhile. Default: nothing, or
	// 5 s if Features names the trace.
	TraceBehind time.Duration

	// Dump is a directory into which Stop copies the recording, as a session of the same
	// name. The copy counts against no limit; whoever asks for it takes it away. A program
	// that is killed, crashes or calls os.Exit copies nothing, because it does not run
	// Stop; its recording is still in the session. gprof-record run --pack copies from
	// outside, however the program ends.
	Dump string

	// Triggers keep what led to something, before the ring discards it; see [Trigger]. Those of
	// the environment, GPROF_TRIGGERS, come on top. There may be 32.
	Triggers []Trigger

	// AfterRound is called after each round in which samples were drained and counters and
	// all else were read: about ten times a second, as long as recording is not paused. It
	// runs in a goroutine of its own: rounds that end while it is busy are missed, and its
	// panics are caught, see [Stats]. It must not call Stop.
	AfterRound func(Stats)
}

// CPUMode is how CPU samples are taken.
type CPUMode int

const (
	// CPUSignal takes samples by a signal of its own, each with its time, thread, goroutine
	// and track. The program's own CPU profiles work beside it. If its self-tests fail, and
	// on systems other than Linux (amd64, arm64), no samples are taken, and meta says why.
	CPUSignal CPUMode = iota
	// CPUOff takes no samples.
	CPUOff
	// CPUAny is CPUSignal, or CPUPprof where that does not work.
	CPUAny
	// CPUPprof runs runtime/pprof's CPU profile in windows of a second. For a sample only
	// the window is known, not the time. Meanwhile the program can't start a CPU profile of
	// its own; while it has one running, windows are skipped and counted.
	CPUPprof
)

const (
	defaultLimit     = 64 << 20
	defaultChunkSize = 256 << 10
	defaultCounterHz = 10
	defaultSampleHz  = 100
	defaultDepth     = 128
	minDepth         = 16
	maxSampleHz      = 10000
	defaultKeep      = 60 * time.Second
	defaultHeapEvery = 10 * time.Second
)

// ErrNoRoom means that there is no room even for a small recording, and that no limit was
// asked for.
var ErrNoRoom = errors.New("no room to record")

// plan is the result of options, environment and defaults.
type plan struct {
	Options
	session   string // directory
	asked     bool   // the limit was asked for
	parent    uint64 // instance of the parent process, 0: none
	ignored   []string
	bounded   []string // options that asked for more than there can be
	traceable bool     // windows of the execution trace may be taken
	id        identity
	memory    bool // see [DirInMemory]
	rules     []keeper.Trigger
	begun     [][]byte // what meta said at first
	sampled   bool     // and that this was how CPU samples are taken
}

// plan fills in everything that o leaves open.
func (o Options) plan() (*plan, error) {
	env, err := readSettings()
	if err != nil {
		return nil, err
	}
	rt.Avoid(env.portable)
	p := o.with(env)
	if p.rules, err = rulesOf(p.Triggers); err != nil {
		return nil, err
	}
	if err := checkFiles(); err != nil && !p.memory {
		return nil, err
	}
	if err := p.settle(); err != nil {
		return nil, err
	}
	if !p.asked && p.Limit < keeper.SmallestLimit {
		return nil, fmt.Errorf("%w: %s has room for %d bytes, want %d: it is full, or nothing can be written there", ErrNoRoom, p.session, p.Limit, keeper.SmallestLimit)
	}
	return p, nil
}

func (o Options) with(env *settings) *plan {
	p := &plan{Options: o.or(env.Options), session: env.session, parent: env.parent, ignored: env.ignored}
	p.asked = p.Limit > 0
	p.memory = p.session == "" && p.Dir == DirInMemory
	p.id = identify(&p.Options)
	p.CounterHz = p.most("CounterHz", cmp.Or(p.CounterHz, defaultCounterHz), defaultCounterHz)
	p.SampleHz = max(1, p.most("SampleHz", cmp.Or(p.SampleHz, defaultSampleHz), maxSampleHz))
	p.StackDepth = min(max(minDepth, cmp.Or(p.StackDepth, defaultDepth)), rawformat.MaxReturns)
	p.WaitHz = max(0, p.most("WaitHz", p.WaitHz, keeper.MaxWaitHz))
	p.WallHz = max(0, p.most("WallHz", p.WallHz, keeper.MaxWallHz))
	p.HeapEvery = max(0, cmp.Or(p.HeapEvery, defaultHeapEvery))
	p.settleFeatures()
	p.Keep = max(0, cmp.Or(p.Keep, defaultKeep))
	p.ChunkSize = roundChunk(cmp.Or(p.ChunkSize, defaultChunkSize))
	return p
}

// most bounds an option, and notes that it was bounded.
func (p *plan) most(option string, asked, most int) int {
	if asked > most {
		p.bounded = append(p.bounded, fmt.Sprintf("%s is %d, the most, not %d", option, most, asked))
	}
	return min(asked, most)
}

// or takes from the environment's d what o leaves open, and the limit in any case: the
// program can't know how much a machine has to spare.
func (o Options) or(d Options) Options {
	attrs := map[string]string{}
	for _, m := range []map[string]string{d.Attrs, o.Attrs} {
		for k, v := range m {
			attrs[k] = v
		}
	}
	return Options{
		Dir: cmp.Or(o.Dir, d.Dir), Service: cmp.Or(o.Service, d.Service), Version: cmp.Or(o.Version, d.Version), Attrs: attrs,
		Limit: cmp.Or(d.Limit, o.Limit), Keep: cmp.Or(o.Keep, d.Keep), GroupAccess: o.GroupAccess || d.GroupAccess, ChunkSize: cmp.Or(o.ChunkSize, d.ChunkSize), CPU: cmp.Or(o.CPU, d.CPU), SampleHz: cmp.Or(o.SampleHz, d.SampleHz), StackDepth: cmp.Or(o.StackDepth, d.StackDepth),
		CounterHz: cmp.Or(o.CounterHz, d.CounterHz), HeapEvery: cmp.Or(o.HeapEvery, d.HeapEvery), WaitHz: cmp.Or(o.WaitHz, d.WaitHz), WallHz: cmp.Or(o.WallHz, d.WallHz),
		TraceBehind: cmp.Or(o.TraceBehind, d.TraceBehind), Dump: cmp.Or(o.Dump, d.Dump), AfterRound: o.AfterRound,
		Features: cmp.Or(o.Features, d.Features), Without: o.Without | d.Without, Tracks: slices.Concat(o.Tracks, d.Tracks), Triggers: slices.Concat(o.Triggers, d.Triggers),
	}
}

// settle chooses the session's directory and the limit, which depend on each other: the
// default limit depends on the directory's file system.
func (p *plan) settle() error {
	if p.session == "" {
		dir, name := p.Dir, sanitize(p.id.service)
		if dir == "" {
			var err error
			if dir, err = defaultDir(name, p.Limit); err != nil {
				return fmt.Errorf("no place to record: %w: set Options.Dir or %s", err, EnvDir)
			}
		}
		p.session = filepath.Join(dir, name)
	}
	if p.memory { // the session is only a name
		p.Limit = cmp.Or(max(0, p.Limit), affordable())
		return nil
	}
	session, err := filepath.Abs(p.session)
	if err != nil {
		return err
	}
	p.session = session
	if p.Limit <= 0 {
		p.Limit = cmp.Or(sessionLimit(p.session), limitFor(p.session))
	}
	return nil
}

// Session is the session's directory that Start would use with these options. It ignores
// malformed settings of the environment, and whether recording is switched off; Start
// reports these. The error is that there is no home directory, or that the options ask for
// [DirInMemory].
func (o Options) Session() (string, error) {
	env, _ := readSettings() // see above
	p := o.with(env)
	if p.memory {
		return "", fmt.Errorf("%s: a recording in memory has no directory: fetch it by the program's debug handler, or give another directory", DirInMemory)
	}
	if err := p.settle(); err != nil {
		return "", err
	}
	return p.session, nil
}

// String is the name of the mode in GPROF_CPU and in meta.
func (m CPUMode) String() string {
	switch m {
	case CPUSignal:
		return "signal"
	case CPUAny:
		return "any"
	case CPUPprof:
		return "pprof"
	}
	return "off"
}
