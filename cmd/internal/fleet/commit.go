package fleet

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"gprof/cmd/internal/console"
	"gprof/cmd/internal/conversion"
	"gprof/cmd/internal/human"
	"gprof/cmd/internal/input"
	"gprof/cmd/internal/report"
	"gprof/cmd/internal/store"
	"gprof/ingest"
)

// commit is what a whole consists of. It is written last.
type commit struct {
	Version int                 `json:"gprof-commit"`
	Number  int                 `json:"number"` // of commits to this output
	Plan    string              `json:"plan"`
	Words   []string            `json:"flags"`
	Inputs  int                 `json:"inputs"`
	Files   []file              `json:"files"` // of the whole, by name
	Live    []liveTask          `json:"tasks"` // that it consists of
	Failed  []failure           `json:"failed,omitempty"`
	Losses  []report.LedgerLine `json:"losses,omitempty"` // of all tasks, summed up
}

// liveTask is a task whose files are part of the whole.
type liveTask struct {
	taskOf
	Inputs []member `json:"inputs"`
}

// commitDir has a file for each commit, by number.
const commitDir = Dir + "/commits"

func commitName(number int) string { return fmt.Sprintf("%s/%06d.json", commitDir, number) }

// last is the last commit of an output, nil if there is none.
func last(at store.Place) (*commit, error) {
	names, err := at.List(commitDir)
	if err != nil || len(names) == 0 {
		return nil, err
	}
	name := commitDir + "/" + slices.Max(names)
	text, err := at.Read(name)
	if err != nil {
		return nil, err
	}
	c := new(commit)
	if err := json.Unmarshal(text, c); err != nil || c.Version != version {
		return nil, fmt.Errorf("%s: damaged, or of another version of gprof-convert; give -o another name", at.Path(name))
	}
	return c, nil
}

// CommitCommand makes one whole of what tasks wrote.
type CommitCommand struct {
	Output      string `arg:"" name:"out" help:"Directory, or s3://BUCKET/NAME, that plan was given with -o."`
	Plan        string `required:"" placeholder:"ID" help:"The plan, as plan printed it."`
	AllowFailed bool   `help:"Commit also if inputs could not be read, or not all of them; they are listed."`
	Machine
}

// maxNamed is how many tasks or inputs an error names.
const maxNamed = 20

// Run commits.
func (c *CommitCommand) Run(s *input.Tool) error {
	c.Apply()
	to, err := s.Place(c.Output, Dir)
	if err != nil {
		return err
	}
	p, err := read(to, c.Plan)
	if err != nil {
		return err
	}
	if err := p.own(); err != nil {
		return err
	}
	before, err := last(to)
	if err != nil {
		return err
	}
	if before != nil && before.Plan == p.ID {
		s.Say(fmt.Sprintf("plan %s is committed already", p.ID))
		return nil
	}
	if before != nil && before.Plan != p.Base || before == nil && p.Base != "" {
		return fmt.Errorf("another plan was committed since plan %s was made; plan again", p.ID)
	}
	all, err := collect(to, p)
	if err != nil {
		return err
	}
	g, err := parse(s, p.Words)
	if err == nil {
		err = g.Prepare()
	}
	if err != nil {
		return err
	}
	made := &commit{Version: version, Number: 1, Plan: p.ID, Words: p.Words}
	if before != nil {
		made.Number = before.Number + 1
		if all, err = joined(to, before, p, all); err != nil {
			return err
		}
	}
	made.gather(p, before, all)
	if n := len(made.Failed); n > 0 && !c.AllowFailed {
		for _, f := range made.Failed[:min(n, maxNamed)] {
			s.Warn(fmt.Errorf("%s", f.Error))
		}
		return fmt.Errorf("%s could not be read, or not all of them; replace them and plan again, or commit the rest with --allow-failed", human.Plural(n, "input"))
	}
	w := &worker{p, s, to, &g.Settings, g.flags(&c.Machine)}
	if err := w.finish(made, all); err != nil {
		return err
	}
	text, err := json.Marshal(made)
	if err != nil {
		return err
	}
	if err := to.Create(commitName(made.Number), append(text, '\n')); errors.Is(err, fs.ErrExist) {
		return console.Exit(console.Again, errors.New("another commit was faster; what it has is whole. If it was of another plan, plan again"))
	} else if err != nil {
		return err
	}
	if before != nil {
		if err := sweep(to, before, made); err != nil {
			return err
		}
	}
	if !c.Quiet {
		s.Say(fmt.Sprintf("committed %s of %s: %s", human.Plural(len(made.Live), "task"), human.Plural(made.Inputs, "input"), human.Plural(len(made.Files), "file")))
	}
	return nil
}

// collect reads the manifests of a plan, in the order of tasks' names. It is an error if one is
// missing.
func collect(at store.Place, p *plan) (all []*manifest, err error) {
	is, err := done(at, p.ID)
	if err != nil {
		return nil, err
	}
	var missing []string
	for _, t := range p.tasks {
		if !is[t.Name] {
			missing = append(missing, t.Name)
		}
	}
	if n := len(missing); n > 0 {
		slices.Sort(missing)
		return nil, console.Exit(console.Again, fmt.Errorf("%s not done: %s%s; work on them first", human.Plural(n, "task"),
			strings.Join(missing[:min(n, maxNamed)], ", "), human.OnlyIf(n > maxNamed, ", and more")))
	}
	for _, name := range slices.Sorted(maps.Keys(is)) {
		if _, ok := p.find(name); !ok {
			continue
		}
		m, err := readManifest(at, p.ID, name)
		if err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return all, nil
}

// joined adds the manifests of the tasks that stay of a commit before.
func joined(at store.Place, before *commit, p *plan, all []*manifest) ([]*manifest, error) {
	var stay []*manifest
	for _, t := range before.Live {
		if slices.Contains(p.Gone, t.taskOf) {
			continue
		}
		m, err := readManifest(at, t.Plan, t.Task)
		if err != nil {
			return nil, err
		}
		stay = append(stay, m)
	}
	return append(stay, all...), nil
}

// gather notes what all tasks wrote.
func (c *commit) gather(p *plan, before *commit, all []*manifest) {
	inputs := map[taskOf][]member{}
	for _, t := range p.tasks {
		inputs[taskOf{p.ID, t.Name}] = t.Inputs
	}
	if before != nil {
		for _, t := range before.Live {
			inputs[t.taskOf] = t.Inputs
		}
	}
	losses := map[report.LedgerLine]int64{}
	bytes := map[report.LedgerLine]int64{}
	for _, m := range all {
		of := taskOf{m.Plan, m.Task}
		c.Live = append(c.Live, liveTask{of, inputs[of]})
		c.Inputs += m.Inputs
		c.Files = append(c.Files, m.Files...)
		c.Failed = append(c.Failed, m.Failed...)
		for _, line := range m.Losses {
			kind := report.LedgerLine{Reason: line.Reason, Severity: line.Severity, What: line.What}
			losses[kind] += line.Count
			bytes[kind] += line.Bytes
		}
	}
	for kind, count := range losses {
		line := kind
		line.Count, line.Bytes = count, bytes[kind]
		c.Losses = append(c.Losses, line)
	}
	slices.SortFunc(c.Losses, func(a, b report.LedgerLine) int {
		return cmp.Or(strings.Compare(a.Reason, b.Reason), strings.Compare(a.What, b.What))
	})
}

// finish makes what is of all tasks: the sums of profiles, and the files of a data set that are
// of none.
func (w *worker) finish(c *commit, all []*manifest) error {
	dir, remove, err := w.s.Outputs.TemporaryDirectory(w.to.Room(), "commit")
	if err != nil {
		return err
	}
	defer remove()
	targets, err := w.set.targets(w.s)
	if err != nil {
		return err
	}
	for _, t := range targets {
		if t.Format.DataSet() {
			t.Name = filepath.Join(dir, filepath.FromSlash(w.nameOf(&t, nil)))
			if err := conversion.PrepareDataSet(w.s.Outputs, t); err != nil {
				return err
			}
		}
	}
	parts := map[string][]string{}
	for _, m := range all {
		for _, part := range m.Parts {
			parts[part.Of] = append(parts[part.Of], w.to.Path(part.Name))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		if err := w.sum(filepath.Join(dir, name), parts[name]); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	files, err := putAll(w.to, dir, nil)
	c.Files = append(c.Files, files...)
	slices.SortFunc(c.Files, func(a, b file) int { return strings.Compare(a.Name, b.Name) })
	return err
}

// sum adds up profiles.
func (w *worker) sum(name string, parts []string) error {
	targets, err := w.set.targets(w.s)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(targets, func(t conversion.Target) bool {
		return sums(&t) && strings.HasSuffix(name, t.Format.Extension(t.Options))
	})
	t := targets[i]
	t.Name = name
	flags := conversion.Flags{Quiet: true, Resources: w.flags.Resources, Reading: input.Reading{Patience: w.flags.Patience}}
	found, err := ingest.Find(parts, flags.Options(w.s, filepath.Dir(name)))
	if err != nil {
		return err
	}
	defer found.Close()
	if len(found.Warnings) > 0 {
		return found.Warnings[0]
	}
	_, err = flags.Do(w.s, conversion.Job{Found: found, Replace: true, Targets: []conversion.Target{t}})
	return err
}

// sweep removes the files of tasks that are no longer part of the whole.
func sweep(at store.Place, before, now *commit) error {
	stays := map[string]bool{}
	for _, f := range now.Files {
		stays[f.Name] = true
	}
	var errs []error
	for _, f := range before.Files {
		if !stays[f.Name] {
			errs = append(errs, at.Remove(f.Name))
		}
	}
	return errors.Join(errs...)
}
