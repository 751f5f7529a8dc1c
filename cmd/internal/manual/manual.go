// Package manual tells people and shells how a command is used: its help, its completions
// and its page for man(1), all made from kong's model of it.
package manual

import (
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"github.com/alecthomas/kong"
)

// Commands are those that all our programs have. A grammar embeds them.
type Commands struct {
	Help       helpCmd       `cmd:"" help:"Show the help of a command."`
	Version    versionCmd    `cmd:"" help:"Print the version."`
	Completion completionCmd `cmd:"" help:"Print the script by which a shell completes commands and flags."`
	Man        manCmd        `cmd:"" help:"Print the manual page."`
	Complete   completeCmd   `cmd:"" name:"__complete" hidden:"" help:"Print what a word may become; for the scripts of completion."`
}

// placeHolder stands for the program's name in texts that all programs share.
const placeHolder = "{name}"

// Named puts the name of the program into the help of these commands.
func Named() kong.Option {
	return kong.PostBuild(func(k *kong.Kong) error {
		for _, c := range k.Model.Children {
			c.Detail = strings.ReplaceAll(c.Detail, placeHolder, k.Model.Name)
		}
		return nil
	})
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
