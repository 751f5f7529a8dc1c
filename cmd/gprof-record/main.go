// Gprof-record starts a command with recording switched on, and shows and controls the
// processes of a session. The command is a Go program that imports gprof/recorder or
// gprof/recorder/auto. Other programs, in any language, it samples from outside.
//
// Run gprof-record COMMAND --help for examples.
package main

import (
	"fmt"
	"io"
	"os"

	"github.com/alecthomas/kong"

	"gprof/cmd/internal/console"
	"gprof/cmd/internal/manual"
)

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// cli is what all commands have.
type cli struct {
	Version kong.VersionFlag `help:"Print the version and exit."`
}

// commands are those of the program, in the order of its help.
func commands() []manual.Command {
	return []manual.Command{
		{Name: "run", Help: "Run a command and record what it does.", Struct: &runCmd{}},
		{Name: "attach", Help: "Sample processes that run, whatever they are written in (Linux).", Struct: &attachCmd{}},
		{Name: "top", Help: "Show what the processes of a session do now.", Struct: &topCmd{}},
		{Name: "status", Help: "Show who records in a session, and what it holds.", Struct: &statusCmd{}},
		{Name: "start", Help: "Have all processes of a session record again.", Struct: &startCmd{}},
		{Name: "pause", Help: "Have all processes of a session pause.", Struct: &pauseCmd{}},
		{Name: "resume", Help: "Have all processes of a paused session go on.", Struct: &resumeCmd{}},
		{Name: "stop", Help: "Have all processes of a session stop recording; the programs run on.", Struct: &stopCmd{}},
		{Name: "harvest", Help: "Save what dead processes recorded, in a bucket or a directory; once, or as a sidecar.", Struct: &harvestCmd{}},
		{Name: "embed", Help: "Have a module of yours require the recorder.", Struct: &embedCmd{}},
	}
}

func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	s := &tool{console.New("gprof-record", stdin, stdout, stderr), stdout}
	code := -1
	parser, err := kong.New(&cli{}, kong.Name("gprof-record"), kong.Vars{"version": manual.Version("gprof-record")}, kong.Writers(stdout, stderr), kong.Bind(s),
		kong.Exit(func(c int) { code = c }), manual.Commands(args, commands()...), kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
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
		code = s.End(console.Exit(console.Usage, err))
		s.Hint("gprof-record --help lists the commands; each has a --help with examples")
		return code
	}
	return s.end(ctx.Run())
}
