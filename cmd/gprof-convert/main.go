// Gprof-convert turns recordings into what people's tools open: Firefox
// Profiler, go tool pprof, DuckDB, flame graphs. It opens them there (view), says
// what took most (top) and what changed (diff), what a recording holds (info),
// prints its bytes as text (inspect), proves it whole (verify), and packs, slices
// and merges recordings.
//
// Run gprof-convert --help, or gprof-convert COMMAND --help for examples.
package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"gprof/cmd/internal/manual"
	"gprof/convert/compare"
	"gprof/convert/top"
	"gprof/ingest"
	"gprof/stream"
)

// Exit codes, the same for all commands.
const (
	exitOK     = 0
	exitFailed = 1 // failed, or the input is damaged
	exitUsage  = 2
	exitLossy  = 3 // --strict, and something was lost
	exitLimit  = 4 // a --fail-if was hit
)

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// streams are what a command reads and writes besides files. Stdout is data
// only; stderr is for people.
type streams struct {
	stdin    io.Reader
	stdout   *checkedWriter
	stderr   io.Writer
	terminal bool // stdout is one
	visible  bool // stderr is a terminal

	unfinished unfinished // outputs of this run
	calm       calm
}

// checkedWriter remembers the first error of writing, so that a full disk
// behind stdout is not missed by a command that prints a table.
type checkedWriter struct {
	w      io.Writer
	err    error
	unread func() // is called when nobody reads what is written; may be nil
}

func (c *checkedWriter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	if c.unread != nil && errors.Is(err, syscall.EPIPE) {
		c.unread()
	}
	if c.err == nil {
		c.err = err
	}
	return n, err
}

type cli struct {
	Convert convertCmd `cmd:"" default:"withargs" help:"Convert recordings to another format (the default command)."`
	Batch   batchCmd   `cmd:"" help:"Convert each session and archive below a directory; goes on where it stopped."`
	Top     topCmd     `cmd:"" help:"Show what took most: functions, packages, lines, markers and more."`
	Diff    diffCmd    `cmd:"" help:"Say what changed between two sets of recordings, and what of it is more than noise."`
	View    viewCmd    `cmd:"" help:"Open recordings in Firefox Profiler, in pprof's web interface, or as a flame graph."`
	Info    infoCmd    `cmd:"" help:"Say what recordings hold: processes, tracks, counts, losses."`
	Inspect inspectCmd `cmd:"" help:"Print the bytes of a recording as text."`
	Verify  verifyCmd  `cmd:"" help:"Prove recordings whole, or say what is damaged and where."`
	Pack    packCmd    `cmd:"" help:"Pack recordings into one file, also while they are being recorded."`
	Unpack  unpackCmd  `cmd:"" help:"Turn packed files back into a session directory, bit for bit."`
	Slice   sliceCmd   `cmd:"" help:"Pack what was recorded between two moments."`
	Merge   mergeCmd   `cmd:"" help:"Make one packed file out of many."`

	manual.Commands

	Version kong.VersionFlag `help:"Print the version and exit."`
}

// version is the module's, as the go command stamped it, and that of Go.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	return fmt.Sprintf("gprof-convert %s, built with %s", info.Main.Version, info.GoVersion)
}

// exitError is an error that has its own exit code; err may be nil.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string { return fmt.Sprint(e.err) }
func (e *exitError) Unwrap() error { return e.err }

func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	s := &streams{stdin: stdin, stdout: &checkedWriter{w: stdout}, stderr: stderr, terminal: isTerminal(stdout), visible: isTerminal(stderr)}
	s.stdout.unread = s.unread
	defer s.endOnInterrupt()()
	code := -1
	parser, err := kong.New(&cli{}, kong.Name("gprof-convert"), kong.Vars{"version": version(), "formats": formatNames(), "inputs": inputsHelp, "way": top.Ways()[0], "ways": strings.Join(top.Ways(), ","), "bases": strings.Join(compare.Bases(), ",")}, kong.Writers(s.stdout, stderr), kong.Bind(s),
		kong.Exit(func(c int) { code = c }), kong.UsageOnError(), manual.Named(), kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.Description("Turn gprof recordings into what your tools open:\n\n    gprof-convert INPUT... -o OUT\n    gprof-convert out/session -o profile.json.gz\n\nAn input is a session directory, the directory of one process, a chunk file, an archive of them (tar, tar.gz, tar.zst, zip, .gprof), "+foreignHelp+", a directory of any of these, - for stdin, or a quoted pattern. The name of OUT tells the format.\n\nExit codes: 0 ok, 1 failed or damaged, 2 usage, 3 --strict and something was lost, 4 --fail-if hit."))
	if err != nil {
		panic("internal error: " + err.Error())
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	ctx, err := parser.Parse(args)
	switch {
	case s.stdout.err != nil:
		return s.end(s.stdout.err)
	case code >= 0: // --help has been printed
		return code
	case err != nil:
		s.problem("error", err)
		s.hint(usageHint(args, err))
		return exitUsage
	}
	err = ctx.Run()
	if err == nil {
		err = s.stdout.err
	}
	return s.end(err)
}

// usageHint says what to do about arguments that are none. A word that is no
// command is taken for an input of the default one, of which a flag is missing.
func usageHint(args []string, err error) string {
	const help = "gprof-convert --help shows commands and flags"
	var parse *kong.ParseError
	if !errors.As(err, &parse) || parse.Context.Selected() == nil {
		return help
	}
	if name := parse.Context.Selected().Name; name != "convert" {
		return "gprof-convert " + name + " --help shows its flags, and examples"
	}
	const letters = "abcdefghijklmnopqrstuvwxyz" // of which commands consist
	if word := args[0]; word != "" && word != "convert" && strings.Trim(word, letters) == "" {
		if _, err := os.Stat(word); errors.Is(err, fs.ErrNotExist) {
			return fmt.Sprintf("%s is no command, and there is no such file; %s", word, help)
		}
	}
	if strings.HasPrefix(err.Error(), "missing flags: --output") {
		return "the name of OUT tells the format, as in -o profile.json.gz; info, top and view need none"
	}
	return help
}

// end says what went wrong and returns the exit code.
func (s *streams) end(err error) int {
	if err == nil {
		return exitOK
	}
	code := exitFailed
	var e *exitError
	if errors.As(err, &e) {
		code, err = e.code, e.err
	}
	if err != nil {
		s.problem("error", err)
	}
	if errors.Is(err, ingest.ErrNothing) {
		s.hintOfInput(err)
	}
	if errors.Is(err, ingest.ErrStalled) {
		s.hint(stallHelp)
	}
	var memory *stream.ErrMemory
	if errors.As(err, &memory) {
		s.hint(fmt.Sprintf("run it again with --mem %dMiB", memory.Need>>20))
	}
	return code
}

func (s *streams) problem(word string, err error) { s.say(word + ": " + err.Error()) }

func (s *streams) hint(text string) { s.say("hint: " + text) }

// say tells a person something, in lines of which none can steer the terminal.
func (s *streams) say(text string) {
	for line := range strings.SplitSeq("gprof-convert: "+text, "\n") {
		fmt.Fprintln(s.stderr, stream.Printable(line))
	}
}
