package main

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"gprof/chunks/session"
	"gprof/cmd/internal/human"
	"gprof/cmd/internal/launch"
	"gprof/recorder"
	"gprof/recorder/attach"
)

// sampleFlags are the flags of the commands that sample processes from outside.
type sampleFlags struct {
	Rate       int  `short:"r" default:"1000" placeholder:"HZ" help:"Samples in a second of CPU time of each thread (default: 1000)."`
	NoOffCPU   bool `name:"no-off-cpu" help:"Leave out when and where threads are off the processor."`
	NoChildren bool `help:"Leave out the processes that are begun meanwhile."`

	CallGraph callGraphFlag `name:"call-graph" placeholder:"fp|dwarf[,SIZE]" help:"How callers are found: by frame pointers, or also by .eh_frame, in copies of the stack of up to SIZE (default: fp; dwarf: 16KiB)."`
}

// callGraphFlag is how many bytes of stacks are copied; 0: frame pointers alone are followed.
type callGraphFlag int

// UnmarshalText reads the flag, which is like that of perf record.
func (f *callGraphFlag) UnmarshalText(text []byte) error {
	way, size, sized := strings.Cut(string(text), ",")
	switch {
	case way == "fp" && !sized:
		*f = 0
		return nil
	case way == "dwarf" && !sized:
		*f = attach.DefaultStackBytes
		return nil
	case way != "dwarf":
		return fmt.Errorf("call graph %q: want fp, or dwarf, or dwarf and a size, such as dwarf,32KiB", text)
	}
	n, err := recorder.ParseSize(size)
	if err == nil && (n < 1 || n > attach.MaxStackBytes) {
		err = attach.ErrStackBytes
	}
	*f = callGraphFlag(min(n, attach.MaxStackBytes))
	return err
}

type attachCmd struct {
	Pid      []int         `short:"p" required:"" placeholder:"PID" help:"Process to sample; several may be given."`
	Tree     bool          `help:"Sample also the processes that these have begun before, and those of those."`
	Duration time.Duration `placeholder:"DURATION" help:"How long to sample, such as 10s (default: until the processes end, or Ctrl-C)."`
	Dir      string        `short:"d" placeholder:"DIR" help:"Directory in which the session is made (default: where the recorder would)."`
	Limit    sizeFlag      `short:"l" placeholder:"SIZE" help:"Bytes that the session may hold, such as 64MiB (default: 64MiB)."`
	Pack     packFlag      `short:"o" placeholder:"FILE.gprof" help:"Pack what was recorded into this file."`
	sampleFlags
}

// Help is the end of attach --help.
func (*attachCmd) Help() string {
	return `Samples run into a ring of files: when it is full the oldest go. What is in it survives, whoever is killed. Ctrl-C ends the sampling; the processes run on.

It records what each thread runs, and when and where it leaves the processor. Stacks are found by frame pointers: Go programs have them, C needs -fno-omit-frame-pointer, or --call-graph dwarf here, which costs more.

Examples:

  gprof-record attach -p 4711
  gprof-record attach -p $(pgrep -o -x nginx) --tree --duration 30s --dir /tmp/rec
  gprof-convert /tmp/rec/nginx --symbols /usr/sbin/nginx -o nginx.json.gz
  gprof-record attach -p 4711 --call-graph dwarf
  gprof-record attach -p 4711 --rate 100 --no-off-cpu -o quiet.gprof`
}

// Run samples until the processes end, or until it is interrupted.
func (c *attachCmd) Run(s *tool) error {
	options, err := c.options(c.Dir, program(c.Pid[0]), c.Limit)
	if err != nil {
		return err
	}
	options.Tree = c.Tree
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, launch.Ending()...)
	defer signal.Stop(signals)
	sampler, err := attach.Start(c.Pid, options)
	if err != nil {
		return err
	}
	s.note(sampler)
	s.Say(fmt.Sprintf("sampling %s; Ctrl-C ends it", pids(c.Pid)))
	var enough <-chan time.Time
	if c.Duration > 0 {
		enough = time.After(c.Duration)
	}
	select {
	case <-sampler.Done():
	case <-signals:
	case <-enough:
	}
	signal.Stop(signals) // a second one ends the process
	return s.finish(sampler, ending{session: options.Session, pack: c.Pack})
}

// options are those of a sampler for a session of that service.
func (f *sampleFlags) options(dir, service string, limit sizeFlag) (o attach.Options, err error) {
	if f.Rate < 1 {
		return o, fmt.Errorf("--rate %d: %w", f.Rate, attach.ErrRate)
	}
	os.Unsetenv(recorder.EnvSession) // meant for programs that record themselves
	session, err := recorder.Options{Dir: dir, Service: service}.Session()
	return attach.Options{Session: session, Limit: int64(limit), Hz: f.Rate, NoOffCPU: f.NoOffCPU, NoChildren: f.NoChildren, StackBytes: int(f.CallGraph)}, err
}

// program is the name of a process' program, its pid if that is unknown.
func program(pid int) string {
	if exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid)); err == nil {
		return strings.TrimSuffix(filepath.Base(exe), " (deleted)")
	}
	return fmt.Sprintf("pid-%d", pid)
}

func pids(all []int) string {
	return "pid " + strings.Trim(strings.ReplaceAll(fmt.Sprint(all), " ", ", "), "[]")
}

// hint prints how to get a permission that was refused.
func (s *tool) hint(err error) {
	var r *attach.Refusal
	if errors.As(err, &r) {
		for _, hint := range r.Hints {
			s.Hint(hint)
		}
	}
}

// note prints what is not available.
func (s *tool) note(sampler *attach.Sampler) {
	for _, n := range sampler.Notes() {
		s.Warn(n)
		s.hint(n)
	}
}

// ending is what to do at the end of the sampling.
type ending struct {
	session string
	pack    packFlag     // the file to pack into, "" none
	command *session.End // how our command ended, nil if there was none
}

// finish ends the sampling and prints its result.
func (s *tool) finish(sampler *attach.Sampler, e ending) error {
	sum, err := sampler.Stop()
	for _, why := range sum.Unwritten {
		s.Warn(fmt.Errorf("not recorded: %s", why))
	}
	if sum.Lost > 0 {
		s.Warn(fmt.Errorf("%d records were lost: more came than could be read", sum.Lost))
		s.Hint("a lower --rate, or --no-off-cpu")
	}
	if len(sum.Dirs) == 0 {
		s.Warn(errors.New("nothing was recorded: the processes neither ran nor waited while they were sampled"))
		return err
	}
	if e.command != nil {
		for _, dir := range sum.Dirs {
			err = errors.Join(err, session.WriteExit(dir, *e.command))
		}
	}
	s.Say(fmt.Sprintf("recorded %s and %s of %s in %s", human.Plural(sum.Samples, "sample"), human.Plural(sum.Waits, "wait"), human.Plural(len(sum.Dirs), "process"), e.session))
	s.Hint(fmt.Sprintf("gprof-convert %s%s -o profile.json.gz", shellWord(e.session), symbols(sum.Programs)))
	if e.pack != "" {
		if err := s.pack(string(e.pack), e.session, sum.Dirs); err != nil {
			s.Warn(fmt.Errorf("nothing is packed: %v", err))
		}
	}
	return err
}

// maxSymbols is the most programs that a hint names; gprof-convert info names all.
const maxSymbols = 3

// symbols are the flags by which functions of programs get names.
func symbols(programs []string) (flags string) {
	for _, p := range programs[:min(len(programs), maxSymbols)] {
		flags += " --symbols " + shellWord(p)
	}
	return flags
}

// shellWord quotes a path for a shell, because people paste hints.
func shellWord(path string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == filepath.Separator || strings.ContainsRune("._-+:@%,", r)
	}
	if path != "" && strings.IndexFunc(path, func(r rune) bool { return !plain(r) }) < 0 {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}
