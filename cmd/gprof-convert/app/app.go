// Package app is the command gprof-convert, for programs that add formats of their own
// to it. Such a program is a few lines:
//
//	func main() {
//		app.Main(app.Extensions{
//			Sources: []ingest.Format{sketchFormat},
//			Sinks:   []convert.Format{tallyFormat},
//		})
//	}
//
// All commands then read the sources and write the sinks, and their help names them. A
// whole program of this kind is in testdata/outside.
package app

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime/debug"
	"strings"

	"github.com/alecthomas/kong"

	"gprof/cmd/internal/console"
	"gprof/cmd/internal/input"
	"gprof/cmd/internal/manual"
	"gprof/convert"
	"gprof/convert/compare"
	"gprof/convert/list"
	"gprof/convert/top"
	"gprof/ingest"
	"gprof/stream"
)

// cli is what all commands have.
type cli struct {
	Version kong.VersionFlag `help:"Print the version and exit."`
}

// commands are those of the program, in the order of its help.
func commands(s *input.Tool) []manual.Command {
	return []manual.Command{
		{Name: "convert", Help: "Convert recordings to another format (the default command).", Struct: &convertCmd{formats: s.Formats}, Default: true},
		{Name: "batch", Help: "Convert each session and archive below a directory; goes on where it stopped.", Struct: &batchCmd{}},
		{Name: "plan", Help: "Divide many recordings into tasks, for several machines.", Struct: &planCmd{}},
		{Name: "work", Help: "Do tasks of a plan.", Struct: &workCmd{}},
		{Name: "commit", Help: "Make one whole of what the tasks of a plan wrote.", Struct: &commitCmd{}},
		{Name: "top", Help: "Show what took most: functions, packages, lines, markers and more.", Struct: &topCmd{}},
		{Name: "diff", Help: "Say what changed between two sets of recordings, and what of it is more than noise.", Struct: &diffCmd{}},
		{Name: "list", Help: "List single markers with their fields, and the course of counters.", Struct: &listCmd{}},
		{Name: "view", Help: "Open recordings in Firefox Profiler, in pprof's web interface, or as a flame graph.", Struct: &viewCmd{}},
		{Name: "why", Help: "Say why a program died or became slow: ranked findings with their evidence.", Struct: &whyCmd{}},
		{Name: "slow", Help: "Say where the time of slow markers went, and what they have in common.", Struct: &slowCmd{}},
		{Name: "mcp", Help: "Answer assistants: a server of the Model Context Protocol on stdin and stdout.", Struct: &mcpCmd{}},
		{Name: "info", Help: "Say what recordings hold: processes, tracks, counts, losses.", Struct: &infoCmd{}},
		{Name: "inspect", Help: "Print the bytes of a recording as text.", Struct: &inspectCmd{}},
		{Name: "verify", Help: "Prove recordings whole, or say what is damaged and where.", Struct: &verifyCmd{}},
		{Name: "pack", Help: "Pack recordings into one file, also while they are being recorded.", Struct: &packCmd{}},
		{Name: "unpack", Help: "Turn packed files back into a session directory, bit for bit.", Struct: &unpackCmd{}},
		{Name: "slice", Help: "Pack what was recorded between two moments.", Struct: &sliceCmd{}},
		{Name: "merge", Help: "Make one packed file out of many.", Struct: &mergeCmd{}},
	}
}

// Extensions are formats from outside that join those of the command.
type Extensions struct {
	Sources []ingest.Format  // of inputs
	Sinks   []convert.Format // of outputs
}

// tool is the command with these formats.
func (x Extensions) tool(stdin io.Reader, stdout, stderr io.Writer) (*input.Tool, error) {
	formats, err := convert.Formats().With(x.Sinks...)
	for _, f := range x.Sources {
		if f.Name == "" || f.Sniff == nil || f.Open == nil {
			err = errors.Join(err, fmt.Errorf("input format %q: it needs a name, Sniff and Open", f.Name))
		}
	}
	return &input.Tool{Console: console.New("gprof-convert", stdin, stdout, stderr), Formats: formats, Sources: x.Sources}, err
}

// Main runs the command with what the process has, and ends it.
func Main(x Extensions) { os.Exit(Run(x, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// Run runs the command and returns its exit code.
func Run(x Extensions, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	s, err := x.tool(stdin, stdout, stderr)
	if err != nil {
		return s.End(err)
	}
	s.Words = args
	defer s.EndOnInterrupt()()
	code := -1
	collect := debug.SetGCPercent(-1) // while flags are read: a collection takes longer than that
	parser, err := kong.New(&cli{}, kong.Name("gprof-convert"), kong.Vars{"version": manual.Version("gprof-convert"), "formats": input.FormatNames(s.Formats), "inputs": s.InputsHelp(), "way": top.Ways()[0], "ways": strings.Join(top.Ways(), ","), "bases": strings.Join(compare.Bases(), ","), "orders": strings.Join(list.Orders, ",")}, kong.Writers(s.Stdout, stderr), kong.Bind(s),
		kong.Exit(func(c int) { code = c }), kong.UsageOnError(), manual.Commands(args, commands(s)...), kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.Description("Turn gprof recordings into what your tools open:\n\n    gprof-convert INPUT... -o OUT\n    gprof-convert out/session -o profile.json.gz\n\nAn input is a session directory, the directory of one process, a chunk file, an archive of them (tar, tar.gz, tar.zst, zip, .gprof), "+s.ForeignHelp()+", a directory of any of these, - for stdin, or a quoted pattern. The name of OUT tells the format.\n\nExit codes: 0 ok, 1 failed or damaged, 2 usage, 3 --strict and something was lost, 4 --fail-if hit, 5 the machine failed and another try may work."))
	if err != nil {
		panic("internal error: " + err.Error())
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	ctx, err := parser.Parse(args)
	debug.SetGCPercent(collect)
	switch {
	case s.Stdout.Err != nil:
		return finish(s, s.Stdout.Err)
	case code >= 0: // --help has been printed
		return code
	case err != nil:
		s.End(console.Exit(console.Usage, err))
		s.Hint(usageHint(args, err))
		return console.Usage
	}
	err = ctx.Run()
	if err == nil {
		err = s.Stdout.Err
	}
	return finish(s, err)
}

// usageHint says what to do about arguments that are none. A word that is no
// command is taken for an input of the default one, of which a flag is missing.
func usageHint(args []string, err error) string {
	const help = "gprof-convert --help shows commands and flags"
	var parse *kong.ParseError
	if !errors.As(err, &parse) || parse.Context.Selected() == nil {
		return help
	}
	if command := parse.Context.Selected(); command.Name != "convert" {
		return fmt.Sprintf("want gprof-convert %s; gprof-convert %s --help shows its flags, and examples", command.Summary(), command.Name)
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

// finish says what went wrong, and what to do, and returns the exit code.
func finish(s *input.Tool, err error) int {
	code := s.End(input.Classify(err))
	if errors.Is(err, ingest.ErrNothing) {
		s.HintOfInput(err)
	}
	if errors.Is(err, ingest.ErrStalled) {
		s.Hint(input.StallHelp)
	}
	var memory *stream.ErrMemory
	if errors.As(err, &memory) {
		hint := fmt.Sprintf("run it again with --mem %dMiB", memory.Need>>20)
		if memory.Processes > 1 {
			hint += fmt.Sprintf("; or leave out what tells %d processes apart, as --sum does, or have batch --together read some of them at a time", memory.Processes)
		}
		s.Hint(hint)
	}
	return code
}
