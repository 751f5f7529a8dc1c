package fleet

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"gprof/cmd/internal/conversion"
	"gprof/cmd/internal/human"
	"gprof/cmd/internal/input"
	"gprof/cmd/internal/report"
	"gprof/cmd/internal/store"
	"gprof/ingest"
)

// Together is a plan, its work and its commit in one process.
type Together struct {
	PlanCommand
	Flags *conversion.Flags
	Again bool // do all again, also what has not changed
	Keep  bool // inputs that are gone leave what came from them
}

// Run makes a whole of the inputs, and goes on where an earlier run stopped.
func (c *Together) Run(s *input.Tool) error {
	to, before, err := c.begin(s)
	if err != nil {
		return err
	}
	o := policy{again: true, all: c.Again, partly: true, went: c.went()}
	whole := true
	if o.lost, whole, err = lost(to, before); err != nil {
		return err
	}
	p, inputs, err := c.plan(s, before, o)
	if err != nil {
		return err
	}
	made, redone := before, 0
	switch {
	case len(p.tasks)+len(p.Gone) == 0 && !whole:
		w, err := newWorker(s, to, &plan{header: header{Program: p.Program, Words: before.Words, Key: p.Key, ID: before.Plan}}, &c.Machine)
		if err == nil {
			err = w.publish(before)
		}
		if err != nil {
			return err
		}
	case len(p.tasks)+len(p.Gone) > 0:
		if err := p.write(to); err != nil {
			return err
		}
		if made, err = c.do(s, to, p, before); err != nil {
			return err
		}
		for _, t := range p.tasks {
			redone += inputsIn(t.Inputs)
		}
	}
	if made == nil {
		return cmp.Or(c.unread, fmt.Errorf("%s: %w", c.Inputs[0], ingest.ErrNothing))
	}
	return c.conclude(s, made, inputs, redone)
}

// do works on a plan and commits it.
func (c *Together) do(s *input.Tool, to store.Place, p *plan, before *commit) (*commit, error) {
	w, err := newWorker(s, to, p, &c.Machine)
	if err != nil {
		return nil, err
	}
	todo, _, err := w.todo(shard{})
	if err != nil {
		return nil, err
	}
	sum := w.all(todo, c.Quiet)
	if err := sum.err(); err != nil {
		return nil, err
	}
	return w.commit(before, true)
}

// went tells the inputs below the arguments, which takes along what came from them when it is
// gone.
func (c *Together) went() func(path string) bool {
	if c.Keep {
		return nil
	}
	args := slices.Clone(c.Inputs)
	for i, arg := range args {
		if abs, err := filepath.Abs(arg); err == nil && !strings.Contains(arg, "://") {
			args[i] = abs
		}
	}
	return func(path string) bool {
		for _, arg := range args {
			if path == arg || strings.HasPrefix(path, strings.TrimRight(arg, `/\`)+string(separator(arg))) {
				return true
			}
		}
		return false
	}
}

func separator(arg string) rune {
	if strings.Contains(arg, "://") {
		return '/'
	}
	return filepath.Separator
}

// lost are the tasks of a commit of which files are gone, or have another size. Whole: all files
// are there.
func lost(at store.Place, c *commit) (tasks map[taskOf]bool, whole bool, err error) {
	if c == nil {
		return nil, true, nil
	}
	sizes, errs, missing := make([]int64, len(c.Files)), make([]error, len(c.Files)), map[string]bool{}
	atOnce(len(c.Files), readers, func(i int) { sizes[i], errs[i] = at.Size(c.Files[i].Name) })
	for i, f := range c.Files {
		if errs[i] != nil && !errors.Is(errs[i], fs.ErrNotExist) {
			return nil, false, errs[i]
		}
		if errs[i] != nil || sizes[i] != f.Size {
			missing[f.Name] = true
		}
	}
	if len(missing) == 0 {
		return nil, true, nil
	}
	tasks = map[taskOf]bool{}
	for _, t := range c.Live {
		m, err := readManifest(at, t.Plan, t.Task)
		if err != nil {
			return nil, false, err
		}
		for _, f := range m.Files {
			if missing[f.Name] {
				tasks[t.taskOf] = true
			}
		}
	}
	return tasks, false, nil
}

// conclude says what was made of the inputs and what is missing from it. The error says what the
// flags do not accept.
func (c *Together) conclude(s *input.Tool, made *commit, inputs, redone int) error {
	for _, f := range made.Failed[:min(len(made.Failed), maxNamed)] {
		s.Warn(errors.New(f.Error))
	}
	if !c.Flags.Quiet {
		s.Say(fmt.Sprintf("%d of %d converted, %d were done before, %d failed; %s in %s", redone, inputs, inputs-min(redone, inputs), len(made.Failed),
			human.Plural(len(made.Files), "file"), c.Output))
	}
	ledger := report.LedgerOf(made.Losses)
	c.Flags.TellLedger(s, ledger)
	if n := len(made.Failed); n > 0 && c.unread == nil {
		return fmt.Errorf("%d of %d inputs could not be read, or not all of them; replace them and start again: the others are left as they are", n, made.Inputs)
	}
	return cmp.Or(c.unread, made.match(), c.Flags.JudgeLedgers(ledger))
}
