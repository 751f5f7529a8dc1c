package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/signal"
	"time"

	"gprof/cmd/internal/console"
	"gprof/cmd/internal/live"
	"gprof/cmd/internal/output"
	"gprof/cmd/internal/session"
)

type topCmd struct {
	session.Arg
	Last    time.Duration `default:"10s" placeholder:"TIME" help:"How far back to look (default: 10s)."`
	Every   time.Duration `default:"1s" placeholder:"TIME" help:"How often to look (default: 1s)."`
	Once    bool          `help:"Look once."`
	By      string        `default:"function" enum:"function,package,file,line,category,module,track,process" placeholder:"WHAT" help:"What to sum up by: ${enum} (default: function)."`
	Of      string        `default:"auto" enum:"auto,cpu,samples,allocations,waits" placeholder:"KIND" help:"What to sum up at stacks: cpu, samples, allocations or waits (default: cpu if all samples have it)."`
	Rows    int           `short:"n" default:"10" placeholder:"N" help:"How many rows to show; 0 is all (default: 10)."`
	JSON    bool          `name:"json" help:"Print JSON, an object in each line."`
	Symbols []string      `sep:"none" type:"path" placeholder:"PATH" help:"Program, or folder of programs, that names functions where the recording does not. May be repeated."`
}

// Help is the end of top --help.
func (*topCmd) Help() string {
	return `It shows what the processes of a session do now: their CPU time, memory and goroutines, the functions that took most in the last seconds, and the markers that took longest. It reads their rings; they go on as if nobody looked. Memory in use is shown of recordings: gprof-convert top --of heap.

Examples:

  gprof-record top checkout
  gprof-record top --last 1m --by package -n 5 checkout
  gprof-record top --once --json checkout | jq '.processes[].cpu'

Where standard output is no terminal, views follow each other. It ends with q or Ctrl-C. A look takes a tenth of a processor at most: if a ring holds very much, looks are rarer than --every says.`
}

// Run looks until it is interrupted.
func (c *topCmd) Run(s *tool) error {
	if err := c.check(); err != nil {
		return console.Exit(console.Usage, err)
	}
	dir, err := c.Find()
	if err != nil {
		return err
	}
	look, err := live.New(live.Options{Session: dir, Last: c.Last, By: c.By, Of: c.Of, Symbols: c.Symbols, SpillDir: output.TempDir()})
	if err != nil {
		return console.Exit(console.Usage, err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), console.Interrupts()...)
	defer stop()
	screen := s.Screen(!c.Once && !c.JSON)
	defer screen.Close()
	for {
		began := time.Now()
		v, err := look.Next()
		if err != nil {
			return err
		}
		if err := c.show(s, screen, v); err != nil || c.Once {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-screen.Quit():
			return nil
		case <-time.After(max(c.Every-time.Since(began), rest*time.Since(began))):
		}
	}
}

// rest is how much longer than a look the pause after it is, at least.
const rest = 9

func (c *topCmd) check() error {
	switch {
	case c.Last <= 0:
		return fmt.Errorf("--last %v: want a time, such as 10s", c.Last)
	case c.Every <= 0:
		return fmt.Errorf("--every %v: want a time, such as 1s", c.Every)
	case c.Rows < 0:
		return fmt.Errorf("--rows %d: want a number of rows, or 0 for all", c.Rows)
	}
	return nil
}

func (c *topCmd) show(s *tool, screen *console.Screen, v *live.View) error {
	if c.JSON {
		if c.Rows > 0 {
			v.Top.Rows = v.Top.Rows[:min(c.Rows, len(v.Top.Rows))]
		}
		return json.NewEncoder(s.Stdout).Encode(v)
	}
	screen.Begin()
	v.Print(screen, c.Rows, s.Width())
	return errors.Join(screen.Flush(), s.Stdout.Err)
}
