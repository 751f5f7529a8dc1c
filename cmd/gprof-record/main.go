// Gprof-record starts a command with recording switched on, and shows and steers
// the processes of a session. The command is a Go program that imports
// gprof/recorder or gprof/recorder/auto. Programs that don't, whatever they are written
// in, it samples from outside.
//
// Run gprof-record COMMAND --help for examples.
package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime/debug"
	"strings"

	"github.com/alecthomas/kong"

	"gprof/cmd/internal/manual"
	"gprof/recorder/attach"
	"gprof/stream"
)

// Exit codes. run exits with the command's own status instead, once the
// command has started.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// streams are what a command reads and writes besides files. Stderr is for
// people; the other two are handed to the recorded command.
type streams struct {
	stdin          io.Reader
	stdout, stderr io.Writer
}

type cli struct {
	Run    runCmd    `cmd:"" help:"Run a command and record what it does."`
	Attach attachCmd `cmd:"" help:"Sample processes that run, whatever they are written in (Linux)."`
	Status statusCmd `cmd:"" help:"Show who records in a session, and what it holds."`
	Start  startCmd  `cmd:"" help:"Have all processes of a session record again."`
	Pause  pauseCmd  `cmd:"" help:"Have all processes of a session pause."`
	Resume resumeCmd `cmd:"" help:"Have all processes of a paused session go on."`
	Stop   stopCmd   `cmd:"" help:"Have all processes of a session stop recording; the programs run on."`
	Embed  embedCmd  `cmd:"" help:"Have a module of yours require the recorder."`

	manual.Commands

	Version kong.VersionFlag `help:"Print the version and exit."`
}

// version is the module's, as the go command stamped it, and that of Go.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	return fmt.Sprintf("gprof-record %s, built with %s", info.Main.Version, info.GoVersion)
}

// exitError is the status of a command that ran.
type exitError int

func (e exitError) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	s := &streams{stdin, stdout, stderr}
	code := -1
	parser, err := kong.New(&cli{}, kong.Name("gprof-record"), kong.Vars{"version": version()}, kong.Writers(stdout, stderr), kong.Bind(s),
		kong.Exit(func(c int) { code = c }), manual.Named(), kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.Description("Record what programs do.\n\nExit codes: 0 ok, 1 failed, 2 usage; of run, the command's own if it could be started."))
	if err != nil {
		panic("internal error: " + err.Error())
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	ctx, err := parser.Parse(args)
	switch {
	case code >= 0: // --help has been printed
		return code
	case err != nil:
		if word := manual.Unknown(parser, args); word != "" {
			err = fmt.Errorf("unknown command %s", word)
		}
		s.say("error: %v", err)
		s.say("hint: gprof-record --help lists the commands; each has a --help with examples")
		return exitUsage
	}
	return s.end(ctx.Run())
}

// end says what went wrong and returns the exit code.
func (s *streams) end(err error) int {
	var status exitError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &status):
		return int(status)
	}
	s.say("error: %v", err)
	if errors.Is(err, fs.ErrPermission) && !errors.As(err, new(*attach.Refusal)) {
		s.say("hint: a session is its owner's alone; go on as that user or with sudo, or record with GPROF_GROUP_ACCESS=on")
	}
	s.hint(err)
	return exitFailed
}

// say tells a person something, in lines of which none can steer the terminal.
func (s *streams) say(format string, args ...any) {
	for line := range strings.SplitSeq(fmt.Sprintf("gprof-record: "+format, args...), "\n") {
		fmt.Fprintln(s.stderr, stream.Printable(line))
	}
}
