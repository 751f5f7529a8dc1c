package app

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"time"

	"gprof/cmd/internal/agent"
	"gprof/cmd/internal/console"
	"gprof/cmd/internal/input"
	"gprof/cmd/internal/manual"
	"gprof/cmd/internal/output"
)

type mcpCmd struct {
	Roots  []string `arg:"" optional:"" name:"root" type:"existingdir" help:"Directories: only what lies below them is read. Without any, all that you may read is."`
	Remote bool     `help:"Read buckets (s3://) and URLs, too."`
	Redact bool     `help:"Make unreadable what recordings may reveal, as --redact does elsewhere, in all answers."`
}

func (c *mcpCmd) Help() string {
	return `Examples:
  gprof-convert mcp /var/dumps
  npx @modelcontextprotocol/inspector gprof-convert mcp

A server of the Model Context Protocol on stdin and stdout, for assistants. Its tools
are open, why, top, slow, diff and query (list). Nothing is written, and an answer has at
most some 800 tokens: of a longer one the rest is asked for.`
}

// Run answers until stdin ends.
func (c *mcpCmd) Run(s *input.Tool) error {
	if console.IsTerminal(s.Stdin) {
		return console.Exit(console.Usage, errors.New("mcp is asked by programs, on stdin, which is a terminal; gprof-convert mcp --help shows how to add it to an assistant"))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	o := agent.Options{Version: manual.Version("gprof-convert"), Run: runAgain, Roots: c.Roots, Remote: c.Remote}
	if c.Redact {
		key, err := keyFile()
		if err != nil {
			return err
		}
		defer os.Remove(key)
		o.Flags = []string{"--redact", "--redact-key=" + key}
	}
	err := agent.Serve(ctx, io.NopCloser(s.Stdin), unclosed{s.Stdout}, o)
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// keyFile makes a key of hashes, so that equal values have equal ones in all answers.
func keyFile() (name string, err error) {
	f, err := os.CreateTemp(output.TempDir(), "gprof-key-*")
	if err != nil {
		return "", err
	}
	var key [32]byte
	rand.Read(key[:]) // never fails
	_, err = f.Write(key[:])
	return f.Name(), errors.Join(err, f.Close())
}

// unclosed is a writer that is closed elsewhere.
type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }

// runAgain runs another command of this program.
func runAgain(ctx context.Context, args []string) agent.Result {
	cmd := exec.CommandContext(ctx, os.Args[0], args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // which removes temporary files
	cmd.WaitDelay = 5 * time.Second
	var out, told bounded
	cmd.Stdout, cmd.Stderr = &out, &told
	err := cmd.Run()
	if cmd.ProcessState == nil {
		return agent.Result{Err: err.Error(), Code: -1}
	}
	return agent.Result{Out: out.String(), Err: told.String(), Code: cmd.ProcessState.ExitCode()}
}

// bounded keeps the beginning of what is written.
type bounded struct{ bytes.Buffer }

// maxPrinted is how much of what a command prints is kept.
const maxPrinted = 4 << 20

func (b *bounded) Write(p []byte) (int, error) {
	b.Buffer.Write(p[:min(len(p), max(0, maxPrinted-b.Len()))])
	return len(p), nil
}
