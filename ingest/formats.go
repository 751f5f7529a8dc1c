package ingest

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"gprof/chunks"
	"gprof/ingest/archive"
	"gprof/ingest/chrometrace"
	"gprof/ingest/cpuprofile"
	"gprof/ingest/gecko"
	"gprof/ingest/gotrace"
	"gprof/ingest/otlp"
	"gprof/ingest/pack"
	"gprof/ingest/perf"
	"gprof/ingest/pprof"
)

// format is a kind of file that may be an input.
type format struct {
	name  string
	sniff func(head []byte) bool // head has archive.Head bytes, if the file has
	// ends are endings of such file names. They don't identify a file, but one so named that is
	// something else gives a warning.
	ends    []string
	alone   bool // read only if given by name
	archive bool // contains files
	front   bool // open reads it sequentially, maybe several times: it may stay compressed
	// Exactly one of them adds the contents to the search: open with random access, read
	// sequentially. A stream is stored for open.
	open func(*search, location) error
	read func(*search, location, io.Reader) error
}

// table is all kinds of input files.
type table []format

// formats is the table of built-in kinds, after additional ones.
func formats(joined []Format) (all table) {
	for _, f := range joined {
		all = append(all, format{name: f.Name, sniff: f.Sniff, ends: f.Ends, front: true, open: foreignOf(f.Name, f.Open)})
	}
	return append(all, table{
		{name: "chunk file", sniff: is(chunks.ChunkFile), alone: true, open: (*search).chunk},
		{name: "stack ring", sniff: is(chunks.StacksFile), alone: true, open: (*search).stacks},
		{name: "dictionary", sniff: is(chunks.DictFile), alone: true, open: noInput("dictionary: it holds only names; give the directory that it lies in")},
		{name: "meta file", sniff: is(chunks.MetaFile), alone: true, open: noInput("meta file: it holds no events; give the directory that it lies in")},
		{name: "exit file", sniff: is(chunks.ExitFile), alone: true, open: noInput("exit file: it holds no events; give the directory that it lies in")},
		{name: "control page", sniff: is(chunks.ControlFile), alone: true, open: noInput("control page: it holds no events; give the directory that it lies in")},
		{name: "packed session", sniff: isPacked, ends: []string{".gprof"}, archive: true, open: (*search).packed},
		{name: "tar", sniff: archive.IsTar, ends: []string{".tar"}, archive: true, open: (*search).tar, read: (*search).tarStream},
		{name: "zip", sniff: archive.IsZip, ends: []string{".zip"}, archive: true, open: (*search).zip},
		{name: "gzip", sniff: archive.IsGzip, ends: []string{".tar.gz", ".tgz"}, read: (*search).gzip},
		{name: "zstd", sniff: archive.IsZstd, ends: []string{".tar.zst", ".tzst"}, read: (*search).zstd},
		{name: "OTLP", sniff: otlp.Sniff, ends: []string{".otlp"}, front: true, open: foreignOf("OTLP", otlp.Open)},
		{name: "OTLP", sniff: otlp.SniffJSON, ends: []string{".otlp.json"}, front: true, open: foreignOf("OTLP", otlp.Open)},
		{name: geckoFormat, sniff: gecko.Sniff, open: (*search).gecko},
		{name: "V8 CPU profile", sniff: cpuprofile.Sniff, ends: []string{".cpuprofile"}, open: inPlaceOf("V8 CPU profile", cpuprofile.Open)},
		{name: "trace of events", sniff: chrometrace.Sniff, open: inPlaceOf("trace of events", chrometrace.Open)},
		{name: "JsonSlabs", sniff: gecko.IsSlabs, open: (*search).slabs, read: (*search).slabsStream},
		{name: goTraceFormat, sniff: gotrace.IsTrace, open: foreignOf(goTraceFormat, openGoTrace)},
		{name: pprofFormat, sniff: pprof.Sniff, ends: []string{".pb.gz", ".pprof"}, front: true, open: (*search).profile},
		{name: "perf.data", sniff: perf.Sniff, ends: []string{"perf.data"}, front: true, open: foreignOf("perf.data", perf.Open)},
		{name: "perf script", sniff: perf.SniffScript, front: true, open: foreignOf("perf script", perf.OpenScript)},
		{name: "perf report", sniff: perf.SniffReport, alone: true, open: noInput("is what perf report prints, sums without samples: give the perf.data, or what perf script prints of it")},
		{name: "JFR", sniff: isJFR, alone: true, open: noInput("is a recording of JDK Flight Recorder, which is not read: jfrconv of async-profiler makes a .pb.gz of it, or a .otlp")},
		{name: "old pprof", sniff: pprof.SniffText, alone: true, open: noInput("is a profile as text, as /debug/pprof gives it with debug=1: fetch it without debug=1, or make one of it with go tool pprof -proto")},
		{name: "old CPU profile", sniff: pprof.SniffCPU, alone: true, open: noInput("is a CPU profile in the form of before profile.proto, as gperftools write it: go tool pprof -proto PROGRAM FILE makes one of it that can be read")},
		{name: "goroutine dump", sniff: pprof.SniffDump, alone: true, open: noInput("is a text of goroutines, as /debug/pprof/goroutine gives it with debug=2, and no profile: fetch it without debug=2")},
	}...)
}

// sniff finds the format of a file by its head, nil if unknown.
func (t table) sniff(head []byte) *format {
	if i := slices.IndexFunc(t, func(f format) bool { return f.sniff(head) }); i >= 0 {
		return &t[i]
	}
	return nil
}

// promises reports whether a file of that name should be one of ours.
func (t table) promises(name string) bool {
	return slices.ContainsFunc(t, func(f format) bool {
		return slices.ContainsFunc(f.ends, func(end string) bool { return strings.HasSuffix(name, end) })
	})
}

func is(kind chunks.FileKind) func([]byte) bool {
	return func(head []byte) bool { return chunks.Sniff(head) == kind }
}

func isJFR(head []byte) bool { return bytes.HasPrefix(head, []byte("FLR\x00")) }

func isPacked(head []byte) bool { return bytes.HasPrefix(head, []byte(pack.Magic)) }

// noInput explains why a file of a known kind is no input.
func noInput(why string) func(*search, location) error {
	return func(*search, location) error { return noInputError(why) }
}

const errRingAlone = noInputError("stack ring: only chunks tell when its samples were taken; give the directory that it lies in")

type noInputError string

func (e noInputError) Error() string { return string(e) }

func (e noInputError) Is(target error) bool { return target == ErrNoInput }

// foreign is the error of an unknown file.
func foreign(head []byte) error {
	if len(head) == 0 {
		return fmt.Errorf("%w: it is empty", ErrForeign)
	}
	return fmt.Errorf("%w: it begins with %q", ErrForeign, head[:min(len(head), 8)])
}
