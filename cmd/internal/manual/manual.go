// Package manual tells people and shells how a command is used: its help, its completions
// and its page for man(1), all made from kong's model of it.
package manual

import (
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"
)

// Command is a command of a program.
type Command struct {
	Name, Help string
	Struct     any  // pointer to what kong makes flags and arguments of
	Default    bool // is meant where no command is named
	Hidden     bool
	OfAll      bool // tells of the flags of all commands
}

// Commands adds commands to a grammar, and those that all our programs have.
//
// Kong takes longer to model the flags of all commands than many a command takes to
// run. So only the commands that args could mean get theirs: the default one and those
// whose names are among the words.
func Commands(args []string, all ...Command) kong.Option {
	return kong.OptionFunc(func(k *kong.Kong) error {
		all := slices.Concat(all, common())
		whole := slices.ContainsFunc(all, func(c Command) bool { return c.OfAll && slices.Contains(args, c.Name) })
		for _, c := range all {
			if !whole && !c.Default && !slices.Contains(args, c.Name) {
				c.Struct = &unnamed{}
			}
			if err := kong.DynamicCommand(c.Name, c.Help, "", c.Struct, c.tags()...).Apply(k); err != nil {
				return err
			}
		}
		return kong.PostBuild(name).Apply(k)
	})
}

// tags are what kong is told of a command besides its name and help.
func (c Command) tags() (all []string) {
	if c.Default {
		all = append(all, `default:"withargs"`)
	}
	if c.Hidden {
		all = append(all, `hidden:""`)
	}
	return all
}

// unnamed stands for a command that no argument names.
type unnamed struct{}

// Run is there because kong wants it of a command.
func (*unnamed) Run() { panic("internal error: a command runs that was not named") }

// common are the commands that all our programs have.
func common() []Command {
	return []Command{
		{Name: "help", Help: "Show the help of a command.", Struct: &helpCmd{}},
		{Name: "version", Help: "Print the version.", Struct: &versionCmd{}},
		{Name: "completion", Help: "Print the script by which a shell completes commands and flags.", Struct: &completionCmd{}},
		{Name: "man", Help: "Print the manual page.", Struct: &manCmd{}, OfAll: true},
		{Name: "__complete", Help: "Print what a word may become; for the scripts of completion.", Struct: &completeCmd{}, Hidden: true},
	}
}

// placeHolder stands for the program's name in texts that all programs share.
const placeHolder = "{name}"

// name puts the name of the program into the help of these commands.
func name(k *kong.Kong) error {
	for _, c := range k.Model.Children {
		c.Detail = strings.ReplaceAll(c.Detail, placeHolder, k.Model.Name)
	}
	return nil
}

type helpCmd struct {
	Command string `arg:"" optional:"" help:"The command."`
}

// Help is the end of help --help.
func (*helpCmd) Help() string {
	return "Without a command it lists the commands. It prints what " + placeHolder + " COMMAND --help does."
}

// Validate refuses a word that is no command.
func (c *helpCmd) Validate(ctx *kong.Context) error {
	if c.Command != "" && child(ctx.Model.Node, c.Command) == nil {
		return fmt.Errorf("unknown command %s; there are %s", c.Command, strings.Join(names(ctx.Model.Node), ", "))
	}
	return nil
}

// Run prints the help.
func (c *helpCmd) Run(k *kong.Kong) error {
	args := []string{"--help"} // otherwise the default command would be meant
	if c.Command != "" {
		args = []string{c.Command}
	}
	ctx, err := kong.Trace(k, args) // the command's own arguments don't matter here
	if err != nil {
		return err
	}
	return ctx.PrintUsage(false)
}

// Version is the version of a program's module, as the go command stamped it, the commit
// that it was built of, if that was known, and the version of Go.
func Version(program string) string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	return fmt.Sprintf("%s %s%s, built with %s", program, info.Main.Version, commit(info.Settings), info.GoVersion)
}

// commit is the commit and its day, in parentheses, or "" if they are not known.
func commit(settings []debug.BuildSetting) string {
	var revision, at string
	for _, s := range settings {
		switch s.Key {
		case "vcs.revision":
			revision = s.Value
		case "vcs.time":
			at = s.Value
		}
	}
	if len(revision) < 12 || len(at) < len(time.DateOnly) {
		return ""
	}
	return fmt.Sprintf(" (commit %s, %s)", revision[:12], at[:len(time.DateOnly)])
}

type versionCmd struct{}

// Run prints the version.
func (*versionCmd) Run(k *kong.Kong, vars kong.Vars) error {
	_, err := fmt.Fprintln(k.Stdout, vars["version"])
	return err
}

// child is the command of that name, or nil.
func child(n *kong.Node, name string) *kong.Node {
	for _, c := range n.Children {
		if c.Name == name {
			return c
		}
	}
	return nil
}

// names lists the commands that are not hidden.
func names(n *kong.Node) (all []string) {
	for _, c := range n.Children {
		if !c.Hidden {
			all = append(all, c.Name)
		}
	}
	return all
}

// Unknown returns the word that should be a command but is none, or "" if the arguments
// are wrong in another way.
func Unknown(k *kong.Kong, args []string) string {
	if len(args) == 0 || strings.HasPrefix(args[0], "-") || child(k.Model.Node, args[0]) != nil {
		return ""
	}
	return args[0]
}
