// Package convert is the table of formats that events are written in.
package convert

import (
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"time"

	"gprof/convert/arrow"
	"gprof/convert/chrometrace"
	"gprof/convert/firefox"
	"gprof/convert/folded"
	"gprof/convert/gecko"
	"gprof/convert/html"
	"gprof/convert/internal/pipeline"
	"gprof/convert/internal/tables"
	"gprof/convert/otlp"
	"gprof/convert/parquet"
	"gprof/convert/perfetto"
	"gprof/convert/pgo"
	"gprof/convert/png"
	"gprof/convert/pprof"
	"gprof/convert/speedscope"
	"gprof/convert/svg"
	"gprof/stream"
	"gprof/stream/filter"
)

// ErrFormat is the error of a name that says no format.
var ErrFormat = errors.New("unknown output format")

// Format is one way to write events.
type Format struct {
	Name       string        // as in an option
	Text       string        // what it is and who reads it
	Extensions []string      // of file names, with the dot, without compression
	Sums       bool          // knows Options.Buckets and Options.Sum
	Summed     bool          // is a sum as Options.Sum makes, in any case
	Weighs     bool          // knows Options.Weights
	Kinds      []stream.Kind // that it has a place for; nil: all
	Else       bool          // of a profile without samples it is of what else there is at stacks
	Adds       bool          // adds up the samples of all processes
	Zeros      bool          // keeps samples all of whose values are 0
	Binary     bool          // not fit for a terminal
	Packed     bool          // compressed also if nothing says so: its readers expect it
	Stamp      string        // of a format that is a directory of files: the one that says so; else ""
	StampText  string        // what it holds; what has another must not be added to
	OneRun     bool          // a directory holds the files of one run; else others may be added
	Last       string        // how names of files begin that say what is complete: they must come last

	// Open is for formats that join the table from outside: it returns a Sink that
	// writes to w, which it neither closes nor compresses for itself.
	Open func(w io.Writer, o Options) stream.Sink

	open   func(w *pipeline.Writer, o Options) stream.Sink
	openIn func(dir Directory, o tables.Options) stream.Sink // of a directory
}

// Directory is where the files of a format go that is a directory.
type Directory interface {
	// Create begins a file; its name has slashes. Several are open at a time.
	Create(name string) (io.WriteCloser, error)
}

// Places are the kinds of rows of which it has a place for some at least; nil: all.
func (f *Format) Places() []stream.Kind {
	if f.Else {
		return withStacks
	}
	return f.Kinds
}

// Table is formats in the order of help texts. An extension is of one format only.
type Table []Format

// withStacks are the kinds of rows that can be summed up at stacks.
var withStacks = []stream.Kind{stream.Samples, stream.Waits, stream.Measurements, stream.Allocations}

var formats = Table{
	{
		Name: "firefox",
		Text: "Firefox Profiler's own format, in which it shows most",
		// .json is the format that opens best in Firefox Profiler: another one
		// may take it over. The longer name stays with this one.
		Extensions: []string{".firefox.json", jsonExtension},
		open:       func(w *pipeline.Writer, o Options) stream.Sink { return firefox.New(w, o.SpillDir, o.Extent) },
	},
	{
		Name:       "gecko",
		Text:       "Gecko profile, as Firefox itself records it, for tools that read that",
		Extensions: []string{".gecko.json"},
		open:       func(w *pipeline.Writer, o Options) stream.Sink { return gecko.New(w, o.SpillDir) },
	},
	{
		Name:       "pprof",
		Text:       "samples for go tool pprof and go build -pgo; always compressed",
		Extensions: []string{".pb", ".pprof"},
		Sums:       true,
		Adds:       true,
		Zeros:      true,
		Kinds:      withStacks,
		Binary:     true,
		Packed:     true,
		open: func(w *pipeline.Writer, o Options) stream.Sink {
			return pprof.New(w, pprof.Options{Every: stream.Time(o.Buckets), Sum: o.Sum})
		},
	},
	{
		Name:       "pgo",
		Text:       "calls and their weights for go build -pgo alone, 2 MiB at most; always compressed",
		Extensions: []string{".pgo"},
		Adds:       true,
		Summed:     true,
		Kinds:      []stream.Kind{stream.Samples},
		Binary:     true,
		Packed:     true,
		Weighs:     true,
		open:       func(w *pipeline.Writer, o Options) stream.Sink { return pgo.New(w, pgo.Options{Weights: o.Weights}) },
	},
	{
		Name:       "otlp",
		Text:       "samples with their times for OpenTelemetry's collector, as Protocol Buffers",
		Extensions: []string{".otlp"},
		Zeros:      true,
		Kinds:      withStacks,
		Binary:     true,
		open: func(w *pipeline.Writer, o Options) stream.Sink {
			return otlp.New(w, otlp.Options{SpillDir: o.SpillDir})
		},
	},
	{
		Name:       "otlp-json",
		Text:       "the same as JSON",
		Extensions: []string{".otlp.json"},
		Zeros:      true,
		Kinds:      withStacks,
		open: func(w *pipeline.Writer, o Options) stream.Sink {
			return otlp.New(w, otlp.Options{SpillDir: o.SpillDir, JSON: true})
		},
	},
	{
		Name:       "perfetto",
		Text:       "trace for Perfetto's timeline and its SQL",
		Extensions: []string{".pftrace", ".perfetto-trace"},
		Binary:     true,
		open:       func(w *pipeline.Writer, o Options) stream.Sink { return perfetto.New(w, o.SpillDir) },
	},
	{
		Name:       "chrometrace",
		Text:       "Chrome's trace events as JSON, for tools that read them",
		Extensions: []string{".trace.json", ".chrometrace.json"},
		open:       func(w *pipeline.Writer, o Options) stream.Sink { return chrometrace.New(w, o.SpillDir) },
	},
	{
		Name:       "folded",
		Text:       "samples as folded stacks for flamegraph.pl and inferno",
		Extensions: []string{".folded", ".collapsed"},
		Adds:       true,
		Kinds:      []stream.Kind{stream.Samples},
		Else:       true,
		open:       func(w *pipeline.Writer, o Options) stream.Sink { return folded.New(w, o.SpillDir) },
	},
	{
		Name:       "speedscope",
		Text:       "speedscope's own format: samples, waits and heap, a profile for each track",
		Extensions: []string{".speedscope.json"},
		Kinds:      withStacks,
		open:       func(w *pipeline.Writer, o Options) stream.Sink { return speedscope.New(w, o.SpillDir) },
	},
	{
		Name:       "html",
		Text:       "page with an interactive flame graph, for any browser",
		Extensions: []string{".html"},
		Adds:       true,
		open:       func(w *pipeline.Writer, _ Options) stream.Sink { return html.New(w) },
	},
	{
		Name:       "svg",
		Text:       "picture of the flame graph, 1600 pixels wide",
		Extensions: []string{".svg"},
		Adds:       true,
		Kinds:      []stream.Kind{stream.Samples},
		Else:       true,
		open:       func(w *pipeline.Writer, _ Options) stream.Sink { return svg.New(w) },
	},
	{
		Name:       "png",
		Text:       "the same picture as pixels, for chats and tickets",
		Extensions: []string{".png"},
		Adds:       true,
		Kinds:      []stream.Kind{stream.Samples},
		Else:       true,
		Binary:     true,
		open:       func(w *pipeline.Writer, _ Options) stream.Sink { return png.New(w) },
	},
	{
		Name:       "parquet",
		Text:       "directory of tables for DuckDB, Spark and pandas; one that is there gets more rows",
		Extensions: []string{".parquet"},
		Binary:     true,
		Stamp:      tables.Stamp,
		StampText:  tables.StampText(parquet.Extension),
		Last:       tables.Last,
		openIn:     func(dir Directory, o tables.Options) stream.Sink { return parquet.New(dir, o) },
	},
	{
		Name:       "arrow",
		Text:       "directory of tables for pandas, polars and DuckDB, a file each that can be mapped",
		Extensions: []string{".arrow"},
		Binary:     true,
		Stamp:      tables.Stamp,
		StampText:  tables.StampText(arrow.Extension),
		OneRun:     true,
		openIn:     func(dir Directory, o tables.Options) stream.Sink { return arrow.New(dir, o) },
	},
}

// gzipExtension follows that of a format.
const gzipExtension = ".gz"

// jsonExtension is shared by the formats of many tools.
const jsonExtension = ".json"

// Formats returns the formats of this package.
func Formats() Table { return slices.Clone(formats) }

// With returns the table with more formats, each of which needs Open, and a name and
// extensions of its own.
func (t Table) With(more ...Format) (Table, error) {
	all := slices.Clone(t)
	for _, f := range more {
		if f.Name == "" || f.Open == nil || len(f.Extensions) == 0 {
			return nil, fmt.Errorf("output format %q: it needs a name, an extension and Open", f.Name)
		}
		for _, o := range all {
			if o.Name == f.Name || slices.ContainsFunc(o.Extensions, func(e string) bool { return slices.Contains(f.Extensions, e) }) {
				return nil, fmt.Errorf("output format %q: %s has that name already, or one of its extensions", f.Name, o.Name)
			}
		}
		all = append(all, f)
	}
	return all, nil
}

// Compression is how the columns of a format that is a directory are compressed.
type Compression = tables.Compression

// ParseCompression returns the compression of that name; "" is zstd. The error
// says which names there are.
func ParseCompression(name string) (Compression, error) { return tables.ParseCompression(name) }

// Options are the choices of an output.
type Options struct {
	Gzip  bool
	Level int // of compression, 1 to 9; 0 is what is quick for each kind of text
	Jobs  int // cores that format and compress; 0 is 1. The output is the same for any number

	// Of a Sums format:

	Buckets time.Duration // samples are by time, too, in steps of so much; 0 are not. Not with Sum
	Sum     bool          // samples are of all processes, tracks and goroutines together

	Weights []Weight // of a format that Weighs: how much services count; see [pgo.Options]

	// Of Firefox Profiler's own format: says where the functions of programs that are here lie; nil: none is.
	Extent firefox.Extent

	// Of a format that is a directory:

	Compression Compression // see Gzip for others
	Among       string      // of one input among others of a directory that Prepare began: its name there

	SpillDir string // for temporary files, "" for the system's place
	Cores    Cores  // shared by outputs that are written at a time; nil: each has Jobs of its own
}

// Weight is how much some services count in a profile.
type Weight = pgo.Weight

// Cores are shared by outputs that are written at a time.
type Cores = pipeline.Cores

// ShareCores gives each of n outputs its part of jobs cores. One alone needs no
// part: it has them all.
func ShareCores(jobs, n int) (each int, all Cores) {
	if n <= 1 {
		return jobs, nil
	}
	// One more than its part, so that it goes on while others have nothing to do.
	return min(jobs, jobs/n+1), pipeline.NewCores(jobs)
}

// ByName is [Table.ByName] of the formats of this package.
func ByName(file string) (Format, Options, error) { return formats.ByName(file) }

// ByFormat is [Table.ByFormat] of the formats of this package.
func ByFormat(name string) (Format, Options, error) { return formats.ByFormat(name) }

// ByName returns the format of a file by the end of its name, and whether it is
// to be compressed. A name that ends with a slash is a directory. The error is
// [ErrFormat].
func (t Table) ByName(file string) (Format, Options, error) {
	name, compressed := strings.CutSuffix(file, gzipExtension)
	var best Format
	extension := "" // the longest that the name ends with
	for _, f := range t {
		if f.Directory() && strings.HasSuffix(file, "/") {
			return f, Options{}, nil
		}
		for _, e := range f.Extensions {
			if strings.HasSuffix(name, e) && len(e) > len(extension) && !(compressed && f.Directory()) {
				best, extension = f, e
			}
		}
	}
	if extension == "" {
		return Format{}, Options{}, fmt.Errorf("%w: file name %q, want one that ends with %s", ErrFormat, file, t.known())
	}
	if word := t.otherFormat(strings.TrimSuffix(name, extension)); extension == jsonExtension && word != "" {
		return Format{}, Options{}, fmt.Errorf("%w: file name %q: %s%s is no format here; want a name that ends with %s, or FORMAT=NAME, as in %s=%s", ErrFormat, file, word, jsonExtension, t.known(), best.Name, file)
	}
	return best, Options{Gzip: compressed || best.Packed}, nil
}

// otherFormat is the end of a name like x.heapsnapshot by which it wants another kind of JSON, "" if it wants none, as
// host.example.com.
func (t Table) otherFormat(name string) string {
	word := path.Ext(name)
	isName := func(f Format) bool { return strings.EqualFold("."+f.Name, word) }
	if slices.ContainsFunc(t, isName) || slices.Contains(otherJSON, strings.ToLower(word)) {
		return word
	}
	return ""
}

// otherJSON are what the names of JSON files of others end with that are not written here.
var otherJSON = []string{".cpuprofile", ".heapprofile", ".heapsnapshot", ".perf", ".flamegraph", ".callgrind", ".chrome", ".samply", ".austin"}

// ByFormat returns the format of that name, which may end with .gz. The error
// is [ErrFormat].
func (t Table) ByFormat(name string) (Format, Options, error) {
	plain, compressed := strings.CutSuffix(name, gzipExtension)
	var names []string
	for _, f := range t {
		if f.Name == plain && !(compressed && f.Directory()) {
			return f, Options{Gzip: compressed || f.Packed}, nil
		}
		names = append(names, f.Name)
	}
	return Format{}, Options{}, fmt.Errorf("%w: %q, want %s", ErrFormat, name, strings.Join(names, ", "))
}

// known lists the extensions.
func (t Table) known() string {
	var all []string
	for _, f := range t {
		for _, extension := range f.Extensions {
			if f.Directory() {
				all = append(all, extension)
			} else {
				all = append(all, extension+"["+gzipExtension+"]")
			}
		}
	}
	return strings.Join(all, ", ")
}

// Extension is that of the format's files: the one that stays with it.
func (f Format) Extension(o Options) string {
	if o.Gzip {
		return f.Extensions[0] + gzipExtension
	}
	return f.Extensions[0]
}

// Readable says whether the output may go to a terminal.
func (f Format) Readable(o Options) bool { return !f.Binary && !o.Gzip }

// Directory reports whether the format is a directory of files: see NewIn.
func (f Format) Directory() bool { return f.openIn != nil }

// NewIn returns a Sink that writes a format that is a directory into dir.
func (f Format) NewIn(dir Directory, o Options) stream.Sink {
	return f.openIn(dir, tables.Options{Compression: o.Compression, Jobs: o.Jobs, Among: o.Among})
}

// DataSet reports whether a directory of the format holds any number of runs.
func (f Format) DataSet() bool { return f.Directory() && !f.OneRun }

// Prepare begins a directory of a DataSet format for runs with Options.Among.
func (f Format) Prepare(dir Directory) error { return tables.Prepare(f.NewIn(dir, Options{})) }

// New returns a Sink that writes the format, which is no directory, to w. It does not close w, to which
// it may write on goroutines of its own as long as it is in use, and a moment
// longer if Copy ends with an error. The error is one of the options.
func (f Format) New(w io.Writer, o Options) (stream.Sink, error) {
	out, err := pipeline.New(w, pipeline.Options{Jobs: o.Jobs, Gzip: o.Gzip, Level: o.Level, Cores: o.Cores})
	if err != nil {
		return nil, err
	}
	var sink stream.Sink
	if f.Open != nil {
		sink = fileSink{f.Open(out, o), out}
	} else {
		sink = f.open(out, o)
	}
	if f.Adds {
		sink = filter.WithoutTwins(sink)
	}
	return sink, nil
}

// fileSink is the sink of a format from outside, whose file ends with it.
type fileSink struct {
	stream.Sink
	out *pipeline.Writer
}

func (j fileSink) Close() error { return errors.Join(j.Sink.Close(), j.out.Close()) }
