package fleet

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
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
	Program string              `json:"program"`
	Words   []string            `json:"flags"`
	Key     string              `json:"key,omitempty"` // as in the plan
	Inputs  int                 `json:"inputs"`
	Empty   int                 `json:"empty,omitempty"` // inputs of tasks without anything that the flags ask for
	Files   []file              `json:"files"`           // of the whole, by name
	Live    []liveTask          `json:"tasks"`           // that it consists of
	Failed  []failure           `json:"failed,omitempty"`
	Losses  []report.LedgerLine `json:"losses,omitempty"` // of all tasks, summed up
	Common  []string            `json:"common,omitempty"` // of Files, those of data sets that depend on no input

	// Forgotten says that the next commit took the place of this one, which has no lists any more.
	Forgotten bool `json:"forgotten,omitempty"`
}

// liveTask is a task whose files are part of the whole.
type liveTask struct {
	taskOf
	Inputs []member `json:"inputs"`
}

// whole are the inputs of a commit that were not divided, by path.
func (c *commit) whole() map[string]member {
	all := map[string]member{}
	if c == nil {
		return all
	}
	for _, t := range c.Live {
		for _, in := range t.Inputs {
			if in.Piece == nil {
				all[in.Path] = in
			}
		}
	}
	return all
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
	number, err := strconv.Atoi(strings.TrimSuffix(slices.Max(names), ".json"))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", at.Path(commitDir), err)
	}
	return readCommit(at, number)
}

// readCommit reads a commit.
func readCommit(at store.Place, number int) (*commit, error) {
	name := commitName(number)
	text, err := at.Read(name)
	if err != nil {
		return nil, err
	}
	c := new(commit)
	if err := json.Unmarshal(text, c); err != nil || c.Version != version {
		return nil, fmt.Errorf("%s: damaged, or of another version of gprof-convert; give -o another name", at.Path(name))
	}
	return c, local(at, c.Files)
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
	to, err := s.Place(c.Output, unfinished)
	if err != nil {
		return err
	}
	p, err := read(to, c.Plan)
	if err != nil {
		return err
	}
	before, err := last(to)
	if err != nil {
		return err
	}
	w, err := newWorker(s, to, p, &c.Machine)
	if err != nil {
		return err
	}
	if before != nil && before.Plan == p.ID {
		s.Say(fmt.Sprintf("plan %s is committed already", p.ID))
		return w.publish(before) // which an earlier run may not have come to
	}
	made, err := w.commit(before, c.AllowFailed)
	if err != nil {
		return err
	}
	if !c.Quiet {
		s.Say(fmt.Sprintf("committed %s of %s: %s", human.Plural(len(made.Live), "task"), human.Plural(made.Inputs, "input"), human.Plural(len(made.Files), "file")))
	}
	return made.match()
}

// match is an error if nothing of all inputs is what the flags ask for.
func (c *commit) match() error {
	if c.Inputs > 0 && c.Empty == c.Inputs {
		return fmt.Errorf("nothing of %s is what the flags ask for: %s", human.Plural(c.Inputs, "input"), strings.Join(c.Words, " "))
	}
	return nil
}

// commit commits the tasks of a plan, all of which are done.
func (w *worker) commit(before *commit, allowFailed bool) (*commit, error) {
	if before != nil && before.Plan != w.Base || before == nil && w.Base != "" {
		return nil, fmt.Errorf("another plan was committed since plan %s was made; plan again", w.ID)
	}
	all, err := collect(w.to, w.plan)
	if err != nil {
		return nil, err
	}
	made := &commit{Version: version, Number: 1, Plan: w.ID, Program: w.Program, Words: w.Words, Key: w.Key}
	if before != nil {
		made.Number = before.Number + 1
		if all, err = joined(w.to, before, w.plan, all); err != nil {
			return nil, err
		}
	}
	made.gather(w.plan, before, all)
	if n := len(made.Failed); n > 0 && !allowFailed {
		for _, f := range made.Failed[:min(n, maxNamed)] {
			w.s.Warn(fmt.Errorf("%s", f.Error))
		}
		return nil, fmt.Errorf("%s could not be read, or not all of them; replace them and plan again, or commit the rest with --allow-failed", human.Plural(n, "input"))
	}
	if before != nil { // whose own commit may have ended before that
		if err := settle(w.to, before, made.Files...); err != nil {
			return nil, err
		}
	}
	dir, remove, err := w.s.Outputs.TemporaryDirectory(w.to.Room(), "commit")
	if err != nil {
		return nil, err
	}
	defer remove()
	common := before.common(w.plan)
	own, err := w.finish(dir, all, len(common) == 0)
	if err != nil {
		return nil, err
	}
	made.Files = slices.Concat(made.Files, common, own.common, own.sums)
	for _, f := range slices.Concat(common, own.common) {
		made.Common = append(made.Common, f.Name)
	}
	slices.SortFunc(made.Files, func(a, b file) int { return strings.Compare(a.Name, b.Name) })
	text, err := json.Marshal(made)
	if err != nil {
		return nil, err
	}
	// From here on the new whole counts, and nothing that another one needs was touched before.
	if err := w.to.Create(commitName(made.Number), append(text, '\n')); errors.Is(err, fs.ErrExist) {
		return nil, console.Exit(console.Again, errors.New("another commit was faster; what it has is whole. If it was of another plan, plan again"))
	} else if err != nil {
		return nil, err
	}
	if _, err := putAll(w.to, &folder{dir: dir}, asIs, nil); err != nil {
		return nil, fmt.Errorf("the commit is made, but not all of its files: commit again: %w", err)
	}
	if before == nil {
		return made, nil
	}
	if err := made.settle(w.to, before.Files, nil); err != nil {
		return nil, err
	}
	return made, w.forget(before, dir)
}

// common are the files that Common names, if those of a plan that adds to the commit are the same.
func (c *commit) common(p *plan) (all []file) {
	if c == nil || c.Program != p.Program || !slices.Equal(c.Words, p.Words) || len(p.Gone) == len(c.Live) {
		return nil
	}
	for _, f := range c.Files {
		if _, ok := slices.BinarySearch(c.Common, f.Name); ok {
			all = append(all, f)
		}
	}
	return all
}

// publish makes what a commit makes besides its record.
func (w *worker) publish(c *commit) error {
	dir, remove, err := w.s.Outputs.TemporaryDirectory(w.to.Room(), "commit")
	if err != nil {
		return err
	}
	defer remove()
	var all []*manifest
	for _, t := range c.Live {
		m, err := readManifest(w.to, t.Plan, t.Task)
		if err != nil {
			return err
		}
		all = append(all, m)
	}
	if _, err := w.finish(dir, all, true); err != nil {
		return err
	}
	if _, err := putAll(w.to, &folder{dir: dir}, asIs, nil); err != nil {
		return err
	}
	return settle(w.to, c)
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
		if m.Empty {
			c.Empty += m.Inputs
		}
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

// finished are files that belong to no task: those that are common to all tasks of data sets, and sums.
type finished struct{ common, sums []file }

// finish makes in a local directory what is of all tasks: the sums of profiles, and, if it is to prepare
// them, the files of a data set that are of none.
func (w *worker) finish(dir string, all []*manifest, prepare bool) (made finished, err error) {
	targets, err := w.set.targets(w.s)
	if err != nil {
		return made, err
	}
	for _, t := range targets {
		if prepare && t.Format.DataSet() {
			t.Name = filepath.Join(dir, filepath.FromSlash(dataSet(targets, &t)))
			if err := conversion.PrepareDataSet(w.s.Outputs, t); err != nil {
				return made, err
			}
		}
	}
	if made.common, err = (&folder{dir: dir}).files(); err != nil {
		return made, err
	}
	parts := map[string][]string{}
	for _, m := range all {
		for _, part := range m.Parts {
			parts[part.Of] = append(parts[part.Of], w.to.Path(part.Name))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		if err := w.sum(filepath.Join(dir, name), parts[name]); err != nil {
			return made, fmt.Errorf("%s: %w", name, err)
		}
		of, err := describe(filepath.Join(dir, name), name)
		if err != nil {
			return made, err
		}
		made.sums = append(made.sums, of)
	}
	return made, nil
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
	if i < 0 {
		return errors.New("a manifest lists it, but the plan has no such output: the manifest is damaged; plan again, with another -o")
	}
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

// settle brings the files of a commit to their places, and removes those of the commit before that
// are no longer part of the whole, and not among others. It may be done again, by anybody.
func settle(at store.Place, now *commit, others ...file) error {
	var before []file
	if now.Number > 1 {
		c, err := readCommit(at, now.Number-1)
		if err != nil {
			return err
		}
		before = c.Files
	}
	return now.settle(at, before, others)
}

// settle is settle with the files of the commit before. In each directory those that go do so first.
func (now *commit) settle(at store.Place, before, others []file) error {
	names, err := at.List(aside(now.Plan))
	if err != nil {
		return err
	}
	waits := map[string]bool{}
	for _, name := range names {
		waits[name] = true
	}
	stays := map[string]bool{}
	for _, f := range slices.Concat(now.Files, others) {
		stays[f.Name] = true
	}
	goes, comes := map[string][]string{}, map[string][]string{} // by directory
	for _, f := range before {
		if dir := path.Dir(f.Name); !stays[f.Name] {
			goes[dir] = append(goes[dir], f.Name)
		}
	}
	for _, f := range now.Files {
		if dir := path.Dir(f.Name); waits[path.Base(asideName(now.Plan, f.Name))] {
			comes[dir] = append(comes[dir], f.Name)
		}
	}
	dirs := slices.Sorted(maps.Keys(goes))
	for dir := range comes {
		if goes[dir] == nil {
			dirs = append(dirs, dir)
		}
	}
	errs := make([]error, len(dirs))
	atOnce(len(dirs), putters, func(i int) { errs[i] = replace(at, now.Plan, goes[dirs[i]], comes[dirs[i]]) })
	return errors.Join(errs...)
}

// resume settles a commit that ended before all of its files were at their places.
func resume(at store.Place, c *commit) error {
	names, err := at.List(aside(c.Plan))
	if err != nil || len(names) == 0 {
		return err
	}
	return settle(at, c)
}

// replace removes files and then brings others to their places: readers see neither for a moment,
// but never both.
func replace(at store.Place, plan string, goes, comes []string) error {
	var errs []error
	for _, name := range goes {
		errs = append(errs, at.Remove(name))
	}
	for _, name := range comes {
		if err := at.Move(asideName(plan, name), name); !errors.Is(err, fs.ErrNotExist) { // else another process was faster
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// forget leaves of a commit, whose next one is settled, only its number and its plan: it lists all
// inputs, and so would those of all times.
func (w *worker) forget(c *commit, dir string) error {
	text, err := json.Marshal(&commit{Version: version, Number: c.Number, Plan: c.Plan, Program: c.Program, Words: c.Words, Key: c.Key, Inputs: c.Inputs, Forgotten: true})
	if err != nil {
		return err
	}
	local := filepath.Join(dir, "forgotten.json")
	if err := os.WriteFile(local, append(text, '\n'), 0o666); err != nil {
		return err
	}
	return w.to.Put(commitName(c.Number), local)
}
