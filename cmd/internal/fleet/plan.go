// Package fleet converts more recordings than one machine should: a plan of tasks is made
// once, any number of machines do them, and a commit makes one whole of what they wrote.
//
//  1. [PlanCommand] lists the inputs, reads what places them (inputs.go), puts together what
//     depends on each other, by service and day, into tasks of a bounded size (group.go), and
//     writes the plan (plan.go).
//  2. [WorkCommand] does tasks: each is one conversion of its inputs, whose files get their
//     final names one by one; its manifest comes last (work.go, manifest.go).
//  3. [CommitCommand] adds up the profiles of tasks, and lists what belongs to the whole
//     (commit.go).
//
// All of it lies below the output, in [Dir]. Nothing there is changed once it is written, and
// each file is the same whoever writes it, so that two attempts of a task, or a kill at any
// moment, do no harm.
package fleet

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"gprof/cmd/internal/console"
	"gprof/cmd/internal/conversion"
	"gprof/cmd/internal/human"
	"gprof/cmd/internal/input"
	"gprof/cmd/internal/output"
	"gprof/cmd/internal/store"
)

// Dir is the directory of plans below an output. Readers of data sets skip names like it.
const Dir = "_gprof"

// unfinished is where files lie until they are whole, if the output is a directory.
const unfinished = Dir + "/unfinished"

// version is that of the texts in Dir.
const version = 1

// header is the first line of a plan.
type header struct {
	Version int      `json:"gprof-plan"`
	ID      string   `json:"id"`
	Program string   `json:"program"` // that made it, and must do it
	Words   []string `json:"flags"`
	Key     string   `json:"key,omitempty"`  // fingerprint of that of --redact-key
	Base    string   `json:"base,omitempty"` // the plan that was committed before, whose tasks stay
	Gone    []taskOf `json:"gone,omitempty"` // tasks of earlier plans that tasks of this one take the place of
	Tasks   int      `json:"tasks"`
}

// taskOf names a task of some plan.
type taskOf struct {
	Plan string `json:"plan"`
	Task string `json:"task"`
}

// task is a line of a plan: what is converted together.
type task struct {
	Name    string   `json:"task"`
	Service string   `json:"service,omitempty"`
	Day     string   `json:"day,omitempty"`
	Bytes   int64    `json:"bytes"`
	Inputs  []member `json:"inputs"`
}

// member is an input of a task.
type member struct {
	Path      string   `json:"path"`
	Mark      string   `json:"mark"` // of its state when the plan was made
	Bytes     int64    `json:"bytes"`
	Instances []string `json:"instances,omitempty"` // of processes in it, and of their parents
	Piece     *piece   `json:"piece,omitempty"`     // the part of the input that is meant; nil: all
}

// plan is tasks and their settings.
type plan struct {
	header
	tasks []task // the largest first
}

// TaskSize is how many bytes of inputs a task should read, unless it is told otherwise.
const TaskSize = 64 << 20

// PlanCommand makes a plan.
type PlanCommand struct {
	Inputs   []string   `arg:"" name:"input" help:"Recordings, and directories with them at any depth; also s3://BUCKET/NAME."`
	Output   string     `short:"o" required:"" placeholder:"OUT" help:"Directory, or s3://BUCKET/NAME, for the plan and what its tasks will write."`
	TaskSize input.Size `default:"64MiB" placeholder:"SIZE" help:"How much of the inputs a task should read. Default: ${default}."`
	Settings
	Machine

	unread error // some inputs were left out
	older  bool  // the output has tables of another version, none of which can stay
}

// Run makes a plan and prints its id.
func (c *PlanCommand) Run(s *input.Tool) error {
	c.Apply()
	to, before, err := c.begin(s)
	if err != nil {
		return err
	}
	p, all, err := c.plan(s, before, policy{})
	if err != nil {
		return err
	}
	if len(p.tasks) == 0 {
		s.Say(fmt.Sprintf("there is nothing to do: plan %s, which is committed, has %s", before.Plan, human.Plural(all, "input")))
		return nil
	}
	if err := p.write(to); err != nil {
		return err
	}
	if !c.Quiet {
		p.tell(s, c.Output, int64(c.TaskSize))
	}
	_, err = fmt.Fprintln(s.Stdout, p.ID)
	return err
}

// begin checks what can be checked before any work, and returns the place of the output and the
// last commit to it.
func (c *PlanCommand) begin(s *input.Tool) (to store.Place, before *commit, err error) {
	if err := c.check(s); err != nil {
		return nil, nil, err
	}
	if to, err = s.Place(c.Output, unfinished); err != nil {
		return nil, nil, err
	}
	if err := probe(to); err != nil {
		return nil, nil, err
	}
	if before, err = last(to); err != nil {
		return nil, nil, err
	}
	if before != nil {
		if err := resume(to, before); err != nil {
			return nil, nil, placed(err)
		}
	}
	return to, before, c.tables(s, to, before != nil)
}

// tables looks at tables that are in the output already. Those that no commit lists are refused, for
// queries would be about both.
func (c *PlanCommand) tables(s *input.Tool, to store.Place, committed bool) error {
	targets, err := c.targets(s)
	if err != nil {
		return err
	}
	for _, t := range targets {
		if !t.Format.DataSet() {
			continue
		}
		stamp := path.Join(dataSet(targets, &t), t.Format.Stamp)
		switch text, err := to.Read(stamp); {
		case err == nil && !committed:
			return fmt.Errorf("%s: there are tables that no commit lists; give -o another name", to.Path(stamp))
		case err == nil:
			c.older = c.older || string(text) != t.Format.StampText
		case !errors.Is(err, fs.ErrNotExist):
			return placed(err)
		}
	}
	return nil
}

// plan makes a plan of what is new since a commit, without an id. It says how many inputs there
// are.
func (c *PlanCommand) plan(s *input.Tool, before *commit, o policy) (p *plan, inputs int, err error) {
	p = &plan{header: header{Version: version}}
	if p.Words, err = c.words(s, c.Inputs); err != nil {
		return nil, 0, err
	}
	if p.Program, err = input.Program(); err != nil {
		return nil, 0, err
	}
	p.Key = c.Fingerprint()
	all, unread, err := c.list(s, before)
	if err != nil {
		return nil, 0, err
	}
	if n := len(unread); n > 0 {
		for _, err := range unread[:min(n, maxNamed)] {
			s.Warn(err)
		}
		err := fmt.Errorf("%s could not be read, for which the machine or the store may be the reason: start again", human.Plural(n, "input"))
		if !o.partly {
			return nil, 0, console.Exit(console.Again, err)
		}
		c.unread = console.Exit(console.Again, err)
		o.went = nil // they are not gone
	}
	o.all = o.all || c.older
	if o.few, err = c.mergeable(s); err != nil {
		return nil, 0, err
	}
	o.alone = c.Period.Relative() // for times count from the begin or the end of a whole input
	o.place = c.remembering(s)
	return p, len(all), p.fill(all, before, int64(c.TaskSize), o)
}

// remembering places inputs, each once.
func (c *PlanCommand) remembering(s *input.Tool) func(path string) (placedInput, error) {
	var placed sync.Map
	return func(path string) (placedInput, error) {
		if in, ok := placed.Load(path); ok {
			return in.(placedInput), nil
		}
		in, err := c.place(s, path)
		if err == nil {
			placed.Store(path, in)
		}
		return in, err
	}
}

// mergeable reports whether no output is of one task alone, so that it does not matter how many there
// are.
func (c *PlanCommand) mergeable(s *input.Tool) (bool, error) {
	targets, err := c.targets(s)
	return !slices.ContainsFunc(targets, func(t conversion.Target) bool { return !t.Format.DataSet() && !sums(&t) }), err
}

// tell says what the plan is, and what comes next.
func (p *plan) tell(s *input.Tool, out string, size int64) {
	inputs, bytes, large := 0, int64(0), 0
	for _, t := range p.tasks {
		inputs, bytes = inputs+inputsIn(t.Inputs), bytes+t.Bytes
		if t.Bytes > size {
			large++
		}
	}
	s.Say(fmt.Sprintf("%s of %s, %s", human.Plural(len(p.tasks), "task"), human.Plural(inputs, "input"), human.Bytes(bytes)))
	if large > 0 {
		s.Say(fmt.Sprintf("%s larger than --task-size: one process, and what depends on each other, is not divided", human.Plural(large, "task")))
	}
	if p.Base != "" {
		s.Say(fmt.Sprintf("added to plan %s; %d of its tasks are done again, with what is new of their processes or to have few files", p.Base, len(p.Gone)))
	}
	s.Hint(fmt.Sprintf("on each machine: gprof-convert work %s --plan %s --shard I/N; then once: gprof-convert commit %s --plan %s", human.Word(out), p.ID, human.Word(out), p.ID))
}

// probe writes and creates a file in a place, so that a bucket or a right that is missing is
// told before there is any work.
func probe(to store.Place) error {
	name := Dir + "/probe"
	err := to.Create(name, []byte("gprof-convert plan was here\n"))
	if errors.Is(err, fs.ErrExist) {
		err = nil
	}
	if err == nil {
		if err = to.Create(name, nil); errors.Is(err, fs.ErrExist) {
			return nil
		}
		if err == nil {
			err = fmt.Errorf("%s: a file could be created twice, so that attempts of one task can't be told apart; give -o a directory or a store that has If-None-Match", to.Path(name))
		}
	}
	return fmt.Errorf("can't write to the output: %w", placed(err))
}

// placed gives an error of the place its class.
func placed(err error) error { return fmt.Errorf("%w: %w", output.ErrPlace, err) }

// write gives the plan its id and writes it. The same plan may be there already.
func (p *plan) write(to store.Place) error {
	var err error
	if p.ID, err = p.hash(); err != nil {
		return err
	}
	text, err := p.text()
	if err != nil {
		return err
	}
	err = to.Create(planName(p.ID), text)
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	if there, err := to.Read(planName(p.ID)); err != nil || bytes.Equal(there, text) {
		return err
	}
	if err := to.Remove(planName(p.ID)); err != nil { // it is damaged
		return err
	}
	return to.Create(planName(p.ID), text)
}

func planName(id string) string { return Dir + "/" + id + "/plan.jsonl" }

// text is the plan as lines of JSON.
func (p *plan) text() ([]byte, error) {
	var b bytes.Buffer
	out := json.NewEncoder(&b)
	out.SetEscapeHTML(false)
	p.Tasks = len(p.tasks)
	err := out.Encode(p.header)
	for i := range p.tasks {
		err = errors.Join(err, out.Encode(&p.tasks[i]))
	}
	return b.Bytes(), err
}

// read reads a plan.
func read(to store.Place, id string) (*plan, error) {
	if id == "" || strings.ContainsAny(id, "/\\.") {
		return nil, console.Exit(console.Usage, fmt.Errorf("--plan %q: want the id that plan printed", id))
	}
	text, err := to.Read(planName(id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: there is no such plan; gprof-convert plan prints its id", to.Path(planName(id)))
	} else if err != nil {
		return nil, err
	}
	p := new(plan)
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, len(text)+1)
	for lines.Scan() {
		if p.Version == 0 {
			if err := json.Unmarshal(lines.Bytes(), &p.header); err != nil {
				return nil, fmt.Errorf("%s: damaged: %w; plan again", to.Path(planName(id)), err)
			} else if p.Version != version {
				return nil, fmt.Errorf("%s: a plan of another version (%d, this program makes %d); plan again", to.Path(planName(id)), p.Version, version)
			}
			continue
		}
		var t task
		if err := json.Unmarshal(lines.Bytes(), &t); err != nil {
			return nil, fmt.Errorf("%s: damaged: %w; plan again", to.Path(planName(id)), err)
		}
		p.tasks = append(p.tasks, t)
	}
	if hash, err := p.hash(); err != nil || p.ID != id || hash != id {
		return nil, fmt.Errorf("%s: damaged, or changed by hand; plan again", to.Path(planName(id)))
	}
	return p, nil
}

// hash is the id that the plan has by its text.
func (p *plan) hash() (string, error) {
	without := *p
	without.ID = ""
	text, err := without.text()
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:6]), err
}

// own refuses a plan that another version of the program made.
func (p *plan) own() error {
	program, err := input.Program()
	if err == nil && program != p.Program {
		err = fmt.Errorf("plan %s was made by another version of gprof-convert (%s, this is %s); use that one on all machines, or plan again", p.ID, p.Program, program)
	}
	return err
}

// find returns the task of a name.
func (p *plan) find(name string) (*task, bool) {
	i := slices.IndexFunc(p.tasks, func(t task) bool { return t.Name == name })
	if i < 0 {
		return nil, false
	}
	return &p.tasks[i], true
}
