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
)

// Options say what to record, and where. The zero value works: what is not set
// comes from the environment, see [Settings], else is a default.
//
// Options go before the environment, but for GPROF_SESSION, which goes before
// Dir, and GPROF_LIMIT, which goes before Limit. These are what gprof-record
// sets: where a recording lies and what it may take is the operator's to say.
// Attrs of both are put together.
type Options struct {
	// Dir is the directory in which sessions lie. Default: /dev/shm/gprof if
	// there is room for the limit, else gprof in $XDG_STATE_HOME or
	// ~/.local/state. [DirInMemory] is this process' memory. What lies in /dev/shm counts as memory and is gone after
	// a reboot; it outlives the process. GPROF_SESSION goes before all of
	// this: gprof-record sets it, and so does a recording parent, so that its
	// children's recordings lie beside its own.
	Dir string

	// Service is what this program is called; it names the session. Default:
	// the executable's name.
	Service string

	// Version is that of the program. Default: what Go's build info says.
	Version string

	// Attrs say more about this process, such as its region. They are added to
	// those of the environment.
	Attrs map[string]string

	// Limit is how many bytes the session may take: all its processes together,
	// with what those left behind that have ended. Who states it sets it for
	// all. Default: the limit that the session has, else 64 MiB, or less where
	// room is scarce: a quarter of what is free, and a sixteenth of the memory
	// cgroup's limit. GPROF_LIMIT goes before it.
	Limit int64

	// ChunkSize is the size of a chunk file in bytes. It is rounded to what
	// the format allows, and smaller chunks are used when the limit is small.
	// Default: 256 KiB.
	ChunkSize int

	// Keep is how much of its end a process leaves behind that was killed: the
	// session's other processes and the restarted program take other room
	// first, as long as half the limit suffices. Default: 60 s. Negative:
	// nothing is protected.
	Keep time.Duration

	// GroupAccess lets the group of the session's directory read, record and
	// control: directories are made with mode 2770 and files with 0660, whatever
	// the umask is, those above the session with 2750 where they are missing.
	// It is for sidecars that run as another user. Default: directories are
	// 0700, files 0600.
	GroupAccess bool

	// CPU is how CPU samples are taken. Default: [CPUSignal].
	CPU CPUMode

	// SampleHz is how often a busy thread is sampled in a second of its CPU time,
	// at most 10,000. The kernel's tick limits it, too; meta says what came of
	// it. Default: 100.
	SampleHz int

	// StackDepth is how many calls of a CPU sample's stack are recorded, from the
	// innermost one: 16 to 512. Of a deeper one the goroutine's outermost functions
	// are recorded, too, and between them stands the frame (truncated). Go itself
	// limits other stacks: those of heap samples and waits to 32 calls, those of
	// CPUPprof to 64; those of markers have 64. Default: 128.
	StackDepth int

	// CounterHz is how often counters are sampled in a second, at most 10.
	// Default: 10. Negative: never.
	CounterHz int

	// HeapEvery is how often it is recorded where memory of the heap was allocated
	// and freed, by the samples that the runtime takes of each
	// runtime.MemProfileRate bytes: by default one in 512 KiB. There is nothing to
	// record before a garbage collection, and it shows what was until the one
	// before. Default: 10 s. Negative: never.
	HeapEvery time.Duration

	// WaitHz is how often in a second it is recorded where goroutines wait, and for
	// what, at most 10. Each time the world is stopped twice for some microseconds,
	// and each goroutine costs about one. Of more than 500 goroutines it is done the
	// less often, so that 5,000 are looked at in a second; of more than 20,000 it is
	// not. Default: never.
	WaitHz int

	// Features, unless 0, is all that is recorded; each feature has the rate that
	// another option says, else its default. 0 is everything but what is off by
	// default and that no option switches on. What is in Without is not recorded,
	// whatever else is said.
	Features, Without Features

	// Tracks says which tracks are recorded, by their names (see [NewTrack]), in
	// which a star stands for anything: the last one that fits counts, and those
	// that begin with a minus say what is not: "worker *", "-worker 3". With only
	// such the rest is recorded. Markers aimed at other tracks cost as much as
	// without a recorder, CPU samples of goroutines there are not recorded. What is
	// on no track is recorded always, and so are markers before Start.
	Tracks []string

	// TraceBehind is how much of Go's execution trace is kept in memory all the
	// time, at most an eighth of the limit and 16 MiB, so that [Recorder.Trace] has
	// the past, too. It goes on while recording is paused. It costs some percent of
	// a busy program, and its own flight recorder finds the place taken. Default:
	// nothing, or 5 s where Features names the trace.
	TraceBehind time.Duration

	// Dump is a directory into which Stop copies the recording: as a session of the
	// same name, which nobody's limit counts, for whoever asks for it to take away.
	// A program that is killed, crashes or calls os.Exit copies nothing, for nothing
	// of ours runs then: its recording lies in the session as ever. gprof-record
	// run --pack copies it from outside, whatever becomes of the program.
	Dump string

	// AfterRound is called when CPU samples have been taken from the threads'
	// rings, and counters and all else looked at: about ten times a second, as long
	// as recording is not paused. It has a goroutine of its own: while it is busy
	// rounds are missed, and its panics are caught, see [Stats]. It must not call
	// Stop.
	AfterRound func(Stats)
}

// CPUMode is how CPU samples are taken.
type CPUMode int

const (
	// CPUSignal takes samples by a signal of its own, each with its time, thread,
	// goroutine and track. The program's own CPU profiles go on beside it. Where
	// its self-tests fail, or on other systems than Linux (amd64, arm64), no samples
	// are taken; meta says why.
	CPUSignal CPUMode = iota
	// CPUOff takes no samples.
	CPUOff
	// CPUAny is CPUSignal, and where that does not work CPUPprof.
	CPUAny
	// CPUPprof runs runtime/pprof's CPU profile in windows of a second. The
	// time of a sample is known to the window. While it runs the program can't
	// start a CPU profile of its own; when the program has one running, windows
	// are skipped and counted.
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

// ErrNoRoom means that there is not even room for a small recording, and no
// limit was asked for.
var ErrNoRoom = errors.New("no room to record")

// plan is what options, environment and defaults come to.
type plan struct {
	Options
	session   string // directory
	asked     bool   // for the limit
	parent    uint64 // instance, 0 none
	ignored   []string
	traceable bool // on demand
	id        identity
	memory    bool // see [DirInMemory]
}

// plan settles what is open.
func (o Options) plan() (*plan, error) {
	env, err := readSettings()
	if err != nil {
		return nil, err
	}
	if env.off {
		return nil, ErrOff
	}
	p := o.with(env)
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
	p.CounterHz = min(cmp.Or(p.CounterHz, defaultCounterHz), defaultCounterHz)
	p.SampleHz = min(max(1, cmp.Or(p.SampleHz, defaultSampleHz)), maxSampleHz)
	p.StackDepth = min(max(minDepth, cmp.Or(p.StackDepth, defaultDepth)), rawformat.MaxReturns)
	p.WaitHz = min(max(0, p.WaitHz), keeper.MaxWaitHz)
	p.HeapEvery = max(0, cmp.Or(p.HeapEvery, defaultHeapEvery))
	p.settleFeatures()
	p.Keep = max(0, cmp.Or(p.Keep, defaultKeep))
	p.ChunkSize = roundChunk(cmp.Or(p.ChunkSize, defaultChunkSize))
	return p
}

// or takes from the environment's d what o leaves open, and the limit in any
// case: how much a machine has to spare is not the program's to say.
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
		CounterHz: cmp.Or(o.CounterHz, d.CounterHz), HeapEvery: cmp.Or(o.HeapEvery, d.HeapEvery), WaitHz: cmp.Or(o.WaitHz, d.WaitHz),
		TraceBehind: cmp.Or(o.TraceBehind, d.TraceBehind), Dump: cmp.Or(o.Dump, d.Dump), AfterRound: o.AfterRound,
		Features: cmp.Or(o.Features, d.Features), Without: o.Without | d.Without, Tracks: slices.Concat(o.Tracks, d.Tracks),
	}
}

// settle chooses the session's directory and the limit, which depend on each
// other: how much there may be depends on where it lies.
func (p *plan) settle() error {
	if p.session == "" {
		dir, name := p.Dir, sanitize(p.id.service)
		if dir == "" {
			var err error
			if dir, err = defaultDir(name, p.Limit); err != nil {
				return err
			}
		}
		p.session = filepath.Join(dir, name)
	}
	if p.memory { // the session has a name alone
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

// Session is the session's directory that Start would use with these options.
// What is malformed in the environment, or switches recording off, is for Start
// to tell: it is passed over here. The error is that there is no home directory, or that
// it would be recorded in memory.
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
