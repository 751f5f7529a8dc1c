package fleet

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"gprof/cmd/internal/console"
	"gprof/cmd/internal/conversion"
	"gprof/cmd/internal/human"
	"gprof/cmd/internal/input"
	"gprof/cmd/internal/output"
	"gprof/cmd/internal/selection"
	"gprof/cmd/internal/store"
	"gprof/ingest"
	"gprof/stream/filter"
)

// WorkCommand does tasks of a plan.
type WorkCommand struct {
	Output string  `arg:"" name:"out" help:"Directory, or s3://BUCKET/NAME, that plan was given with -o."`
	Plan   string  `required:"" placeholder:"ID" help:"The plan, as plan printed it."`
	Shard  shard   `placeholder:"I/N" xor:"which" help:"Of N workers this is number I, from 0. Without it and --tasks: what the environment says (JOB_COMPLETION_INDEX, SLURM_ARRAY_TASK_ID, AWS_BATCH_JOB_ARRAY_INDEX), else all tasks."`
	Tasks  *string `placeholder:"FILE" xor:"which" help:"File with names of tasks, one a line; - is stdin. For each, a line of JSON is printed."`
	List   bool    `xor:"which" help:"Only print the names of the tasks that are not done, one a line, for --tasks."`
	Machine
}

// shard is which of several workers this is.
type shard struct{ index, of int }

// UnmarshalText reads I/N.
func (s *shard) UnmarshalText(text []byte) error {
	i, n, ok := strings.Cut(string(text), "/")
	var err1, err2 error
	s.index, err1 = strconv.Atoi(i)
	s.of, err2 = strconv.Atoi(n)
	if !ok || err1 != nil || err2 != nil || s.index < 0 || s.index >= s.of {
		return fmt.Errorf("%q: want I/N, with I from 0 to N-1", text)
	}
	return nil
}

// arrays are the variables by which schedulers tell a worker its number, how many there are,
// from which number on they count, and by which steps.
var arrays = []struct{ index, count, first, step string }{
	{index: "JOB_COMPLETION_INDEX", count: "GPROF_WORKERS"}, // Kubernetes does not tell how many
	{index: "SLURM_ARRAY_TASK_ID", count: "SLURM_ARRAY_TASK_COUNT", first: "SLURM_ARRAY_TASK_MIN", step: "SLURM_ARRAY_TASK_STEP"},
	{index: "AWS_BATCH_JOB_ARRAY_INDEX", count: "AWS_BATCH_JOB_ARRAY_SIZE"},
}

// surroundings is the shard that the environment tells, of 0 if it doesn't.
func surroundings() (s shard, err error) {
	for _, a := range arrays {
		index := os.Getenv(a.index)
		if index == "" {
			continue
		}
		i, err1 := strconv.Atoi(index)
		n, err2 := strconv.Atoi(cmp.Or(os.Getenv(a.count), os.Getenv("GPROF_WORKERS")))
		if first, err := strconv.Atoi(os.Getenv(a.first)); err == nil {
			i -= first
		}
		if step, err := strconv.Atoi(os.Getenv(a.step)); err == nil && step > 0 {
			i /= step
		}
		switch {
		case err2 != nil:
			return s, fmt.Errorf("%s is %q, but the number of workers is not known: set %s, or give --shard I/N", a.index, index, a.count)
		case err1 != nil || i < 0 || i >= n:
			return s, fmt.Errorf("%s is %q, which is none of %d workers; give --shard I/N", a.index, index, n)
		}
		return shard{i, n}, nil
	}
	return s, nil
}

// worker does tasks.
type worker struct {
	*plan
	s     *input.Tool
	to    store.Place
	set   *Settings
	flags conversion.Flags
}

// result is what became of a task, as a line of JSON.
type result struct {
	Task    string  `json:"task"`
	Status  status  `json:"status"`
	Files   int     `json:"files"`
	Bytes   int64   `json:"bytes"`
	Failed  int     `json:"failed_inputs,omitempty"`
	Seconds float64 `json:"seconds"`
	Error   string  `json:"error,omitempty"`

	err error
}

type status string

const (
	isDone  status = "done"
	before  status = "done-before"
	again   status = "again"   // another try may work
	changed status = "changed" // the inputs are not as when the plan was made
	failing status = "failed"
)

// Run does tasks.
func (c *WorkCommand) Run(s *input.Tool) error {
	c.Apply()
	stopWithParent()
	to, err := s.Place(c.Output, unfinished)
	if err != nil {
		return err
	}
	p, err := read(to, c.Plan)
	if err != nil {
		return err
	}
	w, err := newWorker(s, to, p, &c.Machine)
	if err != nil {
		return err
	}
	if c.Tasks != nil {
		return c.listed(w, *c.Tasks)
	}
	which := c.Shard
	if which.of == 0 {
		if which, err = surroundings(); err != nil {
			return console.Exit(console.Usage, err)
		}
	}
	todo, mine, err := w.todo(which)
	if err != nil {
		return err
	}
	if c.List {
		for _, t := range todo {
			fmt.Fprintln(s.Stdout, t.Name)
		}
		return nil
	}
	sum := w.all(todo, c.Quiet)
	if !c.Quiet {
		s.Say(fmt.Sprintf("%d of %s done, %d were done before", sum.done, human.Plural(mine, "task"), mine-len(todo)))
	}
	return sum.err()
}

// newWorker returns a worker on a plan.
func newWorker(s *input.Tool, to store.Place, p *plan, m *Machine) (*worker, error) {
	if err := p.own(); err != nil {
		return nil, err
	}
	g, err := parse(s, p.Words)
	if err == nil {
		err = g.Prepare()
	}
	if err != nil {
		return nil, err
	}
	if g.Fingerprint() != p.Key {
		return nil, fmt.Errorf("--redact-key: %s holds another key than when the plan was made, and hashes would differ; put that one there, or plan again", g.RedactKey)
	}
	if err := os.MkdirAll(to.Room(), 0o777); err != nil {
		return nil, placed(err)
	}
	sweepUnfinished(to.Room())
	return &worker{p, s, to, &g.Settings, g.flags(m)}, nil
}

// machineLife is after how long the machine of a directory that nothing was begun in is taken for
// gone: much more than a task takes.
const machineLife = 48 * time.Hour

// sweepUnfinished removes what dead processes left in a directory of this machine, and what
// machines left that are gone. What can't be removed does no harm.
func sweepUnfinished(room string) {
	output.RemoveStale(room)
	machines, err := os.ReadDir(filepath.Dir(room))
	if err != nil || filepath.Base(filepath.Dir(room)) != filepath.Base(unfinished) {
		return
	}
	for _, m := range machines {
		if info, err := m.Info(); err == nil && m.Name() != filepath.Base(room) && time.Since(info.ModTime()) > machineLife {
			os.RemoveAll(filepath.Join(filepath.Dir(room), m.Name()))
		}
	}
}

// todo lists the tasks of a shard that are not done, and says how many it has.
func (w *worker) todo(which shard) (todo []*task, mine int, err error) {
	is, err := done(w.to, w.ID)
	for i := range w.tasks {
		if which.of > 0 && i%which.of != which.index {
			continue
		}
		if mine++; !is[w.tasks[i].Name] {
			todo = append(todo, &w.tasks[i])
		}
	}
	return todo, mine, err
}

// all does tasks.
func (w *worker) all(todo []*task, quiet bool) (sum totals) {
	bar := w.s.NewBar(quiet)
	defer bar.End()
	for i, t := range todo {
		bar.Count(i, len(todo), fmt.Sprintf("%d of %d tasks done", i, len(todo)))
		r := w.do(t)
		sum.add(&r)
		if r.err != nil {
			w.s.Warn(fmt.Errorf("task %s: %s", t.Name, human.OneLine(r.err)))
		}
	}
	return sum
}

// listed does the tasks that a file names, as they come.
func (c *WorkCommand) listed(w *worker, name string) error {
	in := w.s.Stdin
	switch name {
	case "-":
	case "": // an engine's variable may be empty, which does not mean all tasks
		return console.Exit(console.Usage, errors.New("--tasks: no file is named; give one with names of tasks, or - for stdin"))
	default:
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		in = f
	}
	out := json.NewEncoder(w.s.Stdout)
	out.SetEscapeHTML(false)
	var sum totals
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		name := strings.TrimSpace(lines.Text())
		if name == "" {
			continue
		}
		r := w.named(name)
		sum.add(&r)
		if err := out.Encode(r); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("--tasks %s: %w", name, err)
	}
	return sum.err()
}

// named does the task of a name, unless it is done.
func (w *worker) named(name string) result {
	t, ok := w.find(name)
	if !ok {
		return result{Task: name, Status: failing, Error: "there is no such task in the plan", err: errors.New("no such task")}
	}
	_, err := readManifest(w.to, w.ID, name)
	switch {
	case err == nil:
		return result{Task: name, Status: before}
	case !errors.Is(err, fs.ErrNotExist):
		return w.result(t, nil, time.Now(), err)
	}
	return w.do(t)
}

// totals are of several tasks.
type totals struct{ done, again, changed, failed int }

func (t *totals) add(r *result) {
	switch r.Status {
	case again:
		t.again++
	case changed:
		t.changed++
	case failing:
		t.failed++
	default:
		t.done++
	}
}

func (t *totals) err() error {
	switch {
	case t.changed > 0:
		return console.Exit(console.Again, fmt.Errorf("%s not done, for the inputs changed since the plan was made: plan again", human.Plural(t.again+t.changed+t.failed, "task")))
	case t.again > 0:
		return console.Exit(console.Again, fmt.Errorf("%s not done, for which the machine or the store may be the reason: do them again", human.Plural(t.again+t.failed, "task")))
	case t.failed > 0:
		return fmt.Errorf("%s failed", human.Plural(t.failed, "task"))
	}
	return nil
}

// do does a task.
func (w *worker) do(t *task) result {
	begun := time.Now()
	m, err := w.convert(t)
	return w.result(t, m, begun, err)
}

func (w *worker) result(t *task, m *manifest, begun time.Time, err error) result {
	r := result{Task: t.Name, Status: isDone, Seconds: float64(time.Since(begun).Milliseconds()) / 1e3, err: err}
	switch {
	case err == nil:
	case errors.Is(err, errChanged):
		r.Status = changed
	case input.MayWorkAgain(err):
		r.Status = again
	default:
		r.Status = failing
	}
	if err != nil {
		r.Error = human.OneLine(err)
	}
	if m != nil {
		r.Failed, r.Files = len(m.Failed), len(m.Files)+len(m.Parts)
		for _, f := range m.Files {
			r.Bytes += f.Size
		}
		for _, f := range m.Parts {
			r.Bytes += f.Size
		}
	}
	return r
}

// errChanged says that a plan no longer fits its inputs.
var errChanged = errors.New("has changed since the plan was made, or is gone; plan again")

// same checks that the inputs are as they were when the plan was made.
func (w *worker) same(t *task) error {
	errs := make([]error, len(t.Inputs))
	atOnce(len(t.Inputs), readers, func(i int) {
		in := t.Inputs[i]
		now, _, err := mark(w.s, in.Path)
		if errors.Is(err, fs.ErrNotExist) || err == nil && now != in.Mark {
			err = fmt.Errorf("%s %w", in.Path, errChanged)
		}
		errs[i] = err
	})
	return cmp.Or(errs...)
}

// convert converts the inputs of a task, and writes its manifest.
func (w *worker) convert(t *task) (m *manifest, err error) {
	if err := w.same(t); err != nil {
		return nil, err
	}
	dir, remove, err := w.s.Outputs.TemporaryDirectory(w.to.Room(), t.Name)
	if err != nil {
		return nil, err
	}
	defer remove()
	m = &manifest{Version: version, Plan: w.ID, Task: t.Name, Inputs: inputsIn(t.Inputs), Files: []file{}}
	targets, err := w.set.targets(w.s)
	if err != nil {
		return nil, err
	}
	made := folder{dir: dir, names: map[string]string{}}
	if err := w.make(t, m, &made, targets); err != nil {
		return nil, err
	}
	if err := w.same(t); err != nil { // it may have changed while it was read
		return nil, err
	}
	if m.Files, err = putAll(w.to, &made, w.called, targets); err != nil {
		return nil, err
	}
	m.Files = slices.DeleteFunc(m.Files, func(f file) bool {
		if !strings.HasPrefix(f.Name, Dir+"/") {
			return false
		}
		m.Parts = append(m.Parts, part{f, w.sumName(t, f.Name)})
		return true
	})
	text, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	err = w.to.Create(manifestName(w.ID, t.Name), append(text, '\n'))
	if errors.Is(err, fs.ErrExist) { // another attempt was faster, and wrote the same
		err = nil
	}
	return m, err
}

// called is where a file of a task lies until the commit.
func (w *worker) called(name string) string {
	if len(w.Gone) == 0 || strings.HasPrefix(name, Dir+"/") {
		return name
	}
	return asideName(w.ID, name)
}

// make converts into a directory. That of a data set has its stamp meanwhile, so that several units
// may add to it; the commit has it, and all else that is common to tasks.
func (w *worker) make(t *task, m *manifest, to *folder, targets []conversion.Target) error {
	for i := range targets {
		at := &targets[i]
		if !at.Format.DataSet() {
			continue
		}
		at.Name = filepath.Join(to.dir, filepath.FromSlash(dataSet(targets, at)))
		stamp := filepath.Join(at.Name, at.Format.Stamp)
		if err := errors.Join(os.MkdirAll(at.Name, 0o777), os.WriteFile(stamp, []byte(at.Format.StampText), 0o666)); err != nil {
			return err
		}
		defer os.Remove(stamp)
	}
	var empty error
	some := false
	for _, u := range w.units(t) {
		err := w.convertUnit(&u, m, to, slices.Clone(targets))
		switch {
		case err == nil:
			some = true
		case errors.Is(err, filter.ErrNoMatch) || errors.Is(err, selection.ErrNoCrash):
			empty = err
		case errors.Is(err, ingest.ErrNothing) && !input.MayWorkAgain(err):
			for _, in := range u.inputs {
				m.Failed = append(m.Failed, failure{in.Path, human.OneLine(err)})
			}
		default:
			return err
		}
	}
	m.Empty = empty != nil && !some
	return nil
}

// unit is inputs of a task that are converted together, and the name of their outputs.
type unit struct {
	name   string
	inputs []member
}

// units are what a task consists of. A time that counts from the begin or the end of a recording
// is of each input.
func (w *worker) units(t *task) (all []unit) {
	if !w.set.Period.Relative() {
		return []unit{{t.Name, t.Inputs}}
	}
	for i := range t.Inputs {
		all = append(all, unit{fmt.Sprintf("%s-%d", t.Name, i), t.Inputs[i : i+1]})
	}
	return all
}

// convertUnit converts into a directory.
func (w *worker) convertUnit(u *unit, m *manifest, to *folder, targets []conversion.Target) error {
	for i := range targets {
		at := &targets[i]
		if at.Format.DataSet() {
			at.Options.Among, at.Shared = u.name, &output.Shared{Begin: func([]string) error { return nil }, Called: to.flat(dataSet(targets, at))}
			continue
		}
		at.Name = filepath.Join(to.dir, filepath.FromSlash(w.nameOf(at, u)))
		if err := os.MkdirAll(filepath.Dir(at.Name), 0o777); err != nil {
			return err
		}
	}
	paths := make([]string, len(u.inputs))
	for i, in := range u.inputs {
		paths[i] = in.Path
	}
	found, err := ingest.Find(paths, w.flags.OptionsFor(w.s, targets, to.dir))
	if err != nil {
		return err
	}
	defer found.Close()
	part := u.inputs[0].Piece // then it is the only one
	for _, warning := range found.Warnings {
		if input.MayWorkAgain(warning) {
			return warning
		}
		if warning.Whole() && part.tells() {
			m.Failed = append(m.Failed, failure{warning.Path(), human.OneLine(warning)})
		}
	}
	part.restrict(found)
	written, err := w.flags.Do(w.s, conversion.Job{Found: found, Replace: true, Targets: targets})
	if err != nil {
		return err
	}
	for _, line := range written.Losses() { // names of files here mean nothing elsewhere
		line.Output = strings.TrimPrefix(filepath.ToSlash(strings.TrimPrefix(line.Output, to.dir)), "/")
		m.Losses = append(m.Losses, line)
	}
	return nil
}

// dataSet is the directory of a format's data set, below the whole output.
func dataSet(targets []conversion.Target, t *conversion.Target) string {
	if len(targets) == 1 {
		return "."
	}
	return t.Format.Name
}

// nameOf is the name of the file of a format that is made of a unit, below the whole output.
func (w *worker) nameOf(t *conversion.Target, u *unit) string {
	name := u.name + t.Format.Extension(t.Options)
	if sums(t) {
		return Dir + "/" + w.ID + "/parts/" + name
	}
	return name
}

// sums reports whether the outputs of tasks are parts of one.
func sums(t *conversion.Target) bool { return t.Options.Sum && t.Format.Sums }

// sumName is the name of the profile that a part is added to.
func (w *worker) sumName(t *task, part string) string {
	_, extension, _ := strings.Cut(part[strings.LastIndexByte(part, '/')+1:], ".")
	if w.set.SumBy == "all" {
		return "all." + extension
	}
	return ownName(t.Service) + "." + extension
}

// stopWithParent ends this process when the one that started it has ended: an engine that was
// killed leaves its children behind.
func stopWithParent() {
	parent := os.Getppid()
	if parent <= 1 {
		return
	}
	go func() {
		for range time.Tick(time.Second) {
			if os.Getppid() != parent {
				p, err := os.FindProcess(os.Getpid())
				if err == nil {
					p.Signal(os.Interrupt)
				}
				return
			}
		}
	}()
}
