package recorder

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"text/tabwriter"
	"time"

	"gprof/chunks/folder"
	"gprof/rawformat"
	"gprof/recorder/internal/rt"
)

// Variables of the environment that other programs of this project set.
const (
	EnvSwitch  = "GPROF"         // "on" makes package auto record, "off" keeps Start from recording
	EnvDisable = "GPROF_DISABLE" // the same as "off", whatever else is set
	EnvSession = "GPROF_SESSION"
	EnvDir     = "GPROF_DIR"
	EnvLimit   = "GPROF_LIMIT"
	EnvParent  = "GPROF_PARENT"
	EnvHelp    = "GPROF_HELP"
)

// settings are the settings of the environment.
type settings struct {
	Options
	session  string
	parent   uint64
	portable rt.Tricks // that are avoided
	ignored  []string  // malformed parts of variables that are not ours, and so no error
}

// environmentTable drives reading and help. Later lines add to earlier ones or override
// them.
var environmentTable = []struct {
	name, value, help string
	set               func(*settings, string) error
}{
	{EnvSwitch, "on|off", "on: programs that import gprof/recorder/auto record; off: none does", (*settings).setSwitch},
	{EnvDisable, "1", "no program records anything: no signal, no file and no thread of the recorder", func(*settings, string) error { return nil }},
	{"GPROF_PORTABLE", "1|NAME,...", "only what Go promises is used, or in place of some tricks: " + rt.TrickNames(), func(s *settings, v string) (err error) { s.portable, err = rt.ParseTricks(v); return }},
	{EnvSession, "DIR", "directory of the session; goes before what the program says", func(s *settings, v string) error { s.session = v; return nil }},
	{EnvDir, "DIR", "directory in which sessions lie, if the program doesn't say; " + DirInMemory + " records in memory, for the debug handler and GPROF_DUMP", func(s *settings, v string) error { s.Dir = v; return nil }},
	{EnvLimit, "SIZE", "bytes that the processes of a session may record together: 64MiB, 10M, 1g, 4096; goes before what the program says", func(s *settings, v string) (err error) { s.Limit, err = ParseSize(v); return }},
	{"GPROF_KEEP", "DURATION", "what is kept of the end of a process that was killed: 60s, 5m; 0 nothing", (*settings).setKeep},
	{"GPROF_GROUP_ACCESS", "on|off", "on: the group may read, record and control, too: directories 2770, files 0660", func(s *settings, v string) (err error) { s.GroupAccess, err = ParseSwitch(v); return }},
	{"GPROF_CHUNK", "SIZE", "bytes of a chunk file", (*settings).setChunk},
	{"GPROF_CPU", "signal|off|any|pprof", "how CPU samples are taken", (*settings).setCPU},
	{"GPROF_SAMPLE_HZ", "N", "how often a busy thread is sampled in a second", (*settings).setSampleHz},
	{"GPROF_STACK_DEPTH", "N", "how many calls of a CPU sample's stack are recorded: 16 to 512", (*settings).setDepth},
	{"GPROF_COUNTER_HZ", "N", "how often counters are sampled in a second; -1 never", func(s *settings, v string) (err error) { s.CounterHz, err = strconv.Atoi(v); return }},
	{"GPROF_HEAP", "DURATION|off", "how often allocations of the heap are recorded: 10s", (*settings).setHeap},
	{"GPROF_WAIT_HZ", "N", "how often it is recorded in a second where goroutines wait, at most 10; 0 never", func(s *settings, v string) (err error) { s.WaitHz, err = strconv.Atoi(v); return }},
	{"GPROF_WALL_HZ", "N", "how many rounds over all goroutines there are in a second, to see who waits, at most 1000; 0 none", func(s *settings, v string) (err error) { s.WallHz, err = strconv.Atoi(v); return }},
	{"GPROF_FEATURES", "NAME,-NAME,...", "which kinds of data are recorded, or not: " + strings.Join(FeatureNames(), ", "), (*settings).setFeatures},
	{"GPROF_TRACKS", "NAME,-NAME,...", "which tracks are recorded, or not, by parts of their names; * stands for anything, =NAME is exactly that one, pid:N all of a process", func(s *settings, v string) error { s.Tracks = splitList(v); return nil }},
	{"GPROF_TRACE", "DURATION", "how much of Go's execution trace is kept in memory, for windows on demand: 5s; 0 nothing", (*settings).setTrace},
	{"GPROF_TRIGGERS", "RULE;...", "what is kept when something happens: cpu>80% for 5s: snapshot; goroutines>10000: mark; http.request>2s: snapshot all 10s, trace every 5m", (*settings).setTriggers},
	{"GPROF_DUMP", "DIR", "directory into which the recording is copied when it is stopped", func(s *settings, v string) error { s.Dump = v; return nil }},
	{"OTEL_RESOURCE_ATTRIBUTES", "K=V,...", "service.name, service.version and attributes; malformed pairs are passed over", (*settings).setResource},
	{"GPROF_ATTRS", "K=V,...", "attributes of the process", (*settings).setAttrs},
	{"OTEL_SERVICE_NAME", "NAME", "name of the service", (*settings).setService},
	{"GPROF_SERVICE", "NAME", "name of the service", (*settings).setService},
	{"GPROF_VERSION", "VERSION", "version of the service", func(s *settings, v string) error { s.Version = v; return nil }},
	{EnvParent, "INSTANCE", "set by the recorder of the parent process", (*settings).setParent},
	{EnvHelp, "1", "programs that embed the recorder print this list when they start it", func(*settings, string) error { return nil }},
}

// off says which variable keeps the program from recording, whatever else is set; "" none. Any
// value of GPROF_DISABLE counts that does not say no.
func off() (by string) {
	if on, err := ParseSwitch(os.Getenv(EnvDisable)); on || err != nil {
		return EnvDisable
	}
	if v := os.Getenv(EnvSwitch); v != "" {
		if on, err := ParseSwitch(v); err == nil && !on {
			return EnvSwitch + "=" + v
		}
	}
	return ""
}

// told is true once [tellOff] has said something.
var told atomic.Bool

// tellOff says, once per process, that an operator keeps the program from recording.
func tellOff(w io.Writer, by string) {
	if !told.Swap(true) {
		fmt.Fprintf(w, "gprof: switched off by %s\n", by)
	}
}

// readSettings reads the environment. An empty variable counts as not set. The error is
// that of the first malformed variable; the others are read nevertheless.
func readSettings() (s *settings, first error) {
	s = &settings{}
	for _, e := range environmentTable {
		v := os.Getenv(e.name)
		if v == "" {
			continue
		}
		if err := e.set(s, v); err != nil && first == nil {
			first = fmt.Errorf("environment: %s=%s: %w", e.name, v, err)
		}
	}
	return s, first
}

// helped is true once the list was printed.
var helped atomic.Bool

// Help writes the list of environment variables if GPROF_HELP asks for it, once per
// process. [Start] and package auto call it, even if nothing is to be recorded, so the list
// also shows that a program embeds the recorder.
func Help(w io.Writer) {
	if on, _ := ParseSwitch(os.Getenv(EnvHelp)); !on || helped.Swap(true) { // a malformed value is ignored
		return
	}
	fmt.Fprintln(w, "gprof: what can be set in the environment:")
	Settings(w) // nobody would read an error
}

// Settings writes the list of environment variables that the recorder reads.
func Settings(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, e := range environmentTable {
		fmt.Fprintf(t, "%s=%s\t%s\n", e.name, e.value, e.help) // Flush returns the error
	}
	return t.Flush()
}

func (s *settings) setSwitch(v string) error {
	_, err := ParseSwitch(v) // see off
	return err
}

// ParseSwitch reads on, 1, true or yes, and off, 0, false or no, in any case. An empty text
// is off. The error names no variable.
func ParseSwitch(v string) (on bool, err error) {
	switch strings.ToLower(v) {
	case "on", "1", "true", "yes":
		return true, nil
	case "", "off", "0", "false", "no":
		return false, nil
	}
	return false, errors.New("want on or off")
}

func (s *settings) setKeep(v string) error {
	d, err := time.ParseDuration(v)
	if err != nil || d < 0 {
		return errors.New("want a duration such as 60s or 5m, or 0")
	}
	if s.Keep = d; d == 0 {
		s.Keep = -1 // 0 in Options would mean the default
	}
	return nil
}

func (s *settings) setChunk(v string) error {
	n, err := ParseSize(v)
	s.ChunkSize = int(min(n, 1<<30))
	return err
}

func (s *settings) setCPU(v string) error {
	switch v {
	case "signal":
		s.CPU = CPUSignal
	case "off":
		s.CPU = CPUOff
	case "any":
		s.CPU = CPUAny
	case "pprof":
		s.CPU = CPUPprof
	default:
		return errors.New("want signal, off, any or pprof")
	}
	return nil
}

func (s *settings) setSampleHz(v string) (err error) {
	if s.SampleHz, err = strconv.Atoi(v); err == nil && s.SampleHz < 1 {
		return errors.New("want a number above 0")
	}
	return err
}

func (s *settings) setDepth(v string) (err error) {
	if s.StackDepth, err = strconv.Atoi(v); err != nil || s.StackDepth < minDepth || s.StackDepth > rawformat.MaxReturns {
		return fmt.Errorf("want a number from %d to %d", minDepth, rawformat.MaxReturns)
	}
	return nil
}

func (s *settings) setHeap(v string) error {
	if v == "off" || v == "-1" {
		s.HeapEvery = -1
		return nil
	}
	d, err := time.ParseDuration(v)
	if err != nil || d <= 0 {
		return errors.New("want a duration such as 10s, or off")
	}
	s.HeapEvery = d
	return nil
}

func (s *settings) setFeatures(v string) (err error) {
	s.Features, s.Without, err = ParseFeatures(v)
	return err
}

func (s *settings) setTrace(v string) error {
	d, err := time.ParseDuration(v)
	if err != nil || d < 0 {
		return errors.New("want a duration such as 5s, or 0")
	}
	s.TraceBehind = d
	return nil
}

// splitList splits a list at commas and trims blanks.
func splitList(v string) (list []string) {
	for one := range strings.SplitSeq(v, ",") {
		if one = strings.TrimSpace(one); one != "" {
			list = append(list, one)
		}
	}
	return list
}

func (s *settings) setService(v string) error { s.Service = v; return nil }

// setResource reads OpenTelemetry's list, whose values are percent-encoded. The variable is
// not ours, so malformed pairs are skipped.
func (s *settings) setResource(v string) error {
	for pair := range strings.SplitSeq(v, ",") {
		if err := s.setAttr(pair); err != nil {
			s.ignored = append(s.ignored, fmt.Sprintf("OTEL_RESOURCE_ATTRIBUTES: %v", err))
		}
	}
	s.Service, s.Version = s.Attrs["service.name"], s.Attrs["service.version"]
	delete(s.Attrs, "service.name")
	delete(s.Attrs, "service.version")
	return nil
}

func (s *settings) setAttrs(v string) error {
	for pair := range strings.SplitSeq(v, ",") {
		if err := s.setAttr(pair); err != nil {
			return err
		}
	}
	return nil
}

// setAttr reads a pair; blanks only are no pair.
func (s *settings) setAttr(pair string) error {
	if strings.TrimSpace(pair) == "" {
		return nil
	}
	key, value, ok := strings.Cut(pair, "=")
	if key = strings.TrimSpace(key); !ok || key == "" {
		return fmt.Errorf("%q: want key=value", pair)
	}
	plain, err := url.PathUnescape(strings.TrimSpace(value))
	if err != nil {
		return err
	}
	if s.Attrs == nil {
		s.Attrs = map[string]string{}
	}
	s.Attrs[key] = plain
	return nil
}

// setParent reads the instance. Later versions may put more behind a colon.
func (s *settings) setParent(v string) (err error) {
	v, _, _ = strings.Cut(v, ":")
	s.parent, err = strconv.ParseUint(v, 16, 64)
	return err
}

// ParseSize reads a number of bytes: digits and an optional unit K, M or G, also written as
// KB or KiB, in any case. Units are powers of 1,024.
func ParseSize(s string) (int64, error) {
	unit := strings.TrimLeft(s, "0123456789")
	n, err := strconv.ParseInt(strings.TrimSuffix(s, unit), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("size %q: want a number and KiB, MiB or GiB", s)
	}
	shift, ok := map[string]int{"": 0, "b": 0, "k": 10, "m": 20, "g": 30}[strings.TrimSuffix(strings.TrimSuffix(strings.ToLower(unit), "b"), "i")]
	if !ok || n > 1<<62>>shift {
		return 0, fmt.Errorf("size %q: want a number and KiB, MiB or GiB", s)
	}
	return n << shift, nil
}

// environment is what the recorder tells the processes that this one starts.
type environment struct {
	parent uint64             // instance of this process' parent
	before map[string]*string // the previous values; nil: not set
}

// export puts session and instance into the environment.
func (e *environment) export(session string, instance, parent uint64) {
	e.parent = parent
	e.before = map[string]*string{}
	for name, value := range map[string]string{EnvSession: session, EnvParent: folder.InstanceName(instance)} {
		if old, ok := os.LookupEnv(name); ok {
			e.before[name] = &old
		} else {
			e.before[name] = nil
		}
		os.Setenv(name, value) // it fails for malformed names only
	}
}

// restore restores the previous values.
func (e *environment) restore() {
	for name, old := range e.before {
		if old == nil {
			os.Unsetenv(name)
		} else {
			os.Setenv(name, *old)
		}
	}
}
