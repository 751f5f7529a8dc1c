package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"gprof/cmd/internal/console"
	"gprof/cmd/internal/harvest"
	"gprof/cmd/internal/human"
	"gprof/cmd/internal/store"
	"gprof/recorder"
)

type harvestCmd struct {
	Dir      string        `short:"d" placeholder:"DIR" help:"Directory in which the sessions of named services lie (default: where the recorder would put them)."`
	To       string        `required:"" placeholder:"s3://BUCKET/PREFIX|DIR" help:"Where to put what is harvested: a bucket of an S3-compatible store, or a directory."`
	Watch    bool          `short:"w" help:"Go on until SIGTERM: harvest what is there, then each process that dies, and at the end what is left."`
	All      bool          `help:"Also harvest processes that ended in order (default: those that crashed or were killed)."`
	Remove   bool          `help:"Remove from its session what the destination has confirmed."`
	Every    time.Duration `default:"1s" placeholder:"DURATION" help:"With --watch, how often to look for dead processes (default: 1s)."`
	Grace    time.Duration `default:"25s" placeholder:"DURATION" help:"With --watch, how long to go on after SIGTERM (default: 25s)."`
	Jobs     int           `short:"j" default:"1" placeholder:"N" help:"How many recordings to put there at a time (default: 1)."`
	Rate     sizeFlag      `placeholder:"SIZE" help:"How many bytes to write in a second, on average, such as 1MiB (default: any)."`
	JSON     bool          `name:"json" help:"Print a line of JSON for each event, and one at the end, to standard output."`
	Sessions []string      `arg:"" name:"session" help:"Directory of a session, directory in which sessions lie, or a service's name."`

	denied bool // something could not be read for want of rights
}

// Help is the end of harvest --help.
func (*harvestCmd) Help() string {
	return `It packs what each dead process left into a file SERVICE/DAY/INSTANCE.gprof, which gprof-convert reads, and what triggers kept into SERVICE/DAY/TIME-INSTANCE-RULE.gprof. Processes that run are not touched.

Each recording arrives once. A file appears when it is whole, and none is replaced, so harvest can be killed and started again, run as often as you like, and beside another one: what is there is not put there again. When the destination fails it is tried again, with --watch until it works; meanwhile the recordings stay in their session, which makes room by its own rules.

Credentials, region and address of a bucket are found as by Amazon's own tools: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION, AWS_ENDPOINT_URL, ~/.aws, or the machine's role. To be allowed s3:PutObject is enough; s3:GetObject and s3:ListBucket save uploads of what is there.

Examples:

  gprof-record harvest checkout --to /mnt/crashes
  gprof-record harvest --watch --remove /var/lib/gprof --to s3://dumps/crashes
  gprof-record harvest --json --all checkout --to s3://dumps/all | jq .path

Exit codes: 0 all that was found is there, 1 something could not be read, 5 the destination failed and something is left.`
}

// Validate refuses what would keep a processor busy, or take memory without limit.
func (c *harvestCmd) Validate() error {
	const fastest, mostJobs = 10 * time.Millisecond, 64
	switch {
	case c.Every < fastest:
		return fmt.Errorf("--every %v: want %v or more", c.Every, fastest)
	case c.Jobs < 1 || c.Jobs > mostJobs:
		return fmt.Errorf("--jobs %d: want 1 to %d", c.Jobs, mostJobs)
	}
	return nil
}

// Run harvests once, or until it is told to end.
func (c *harvestCmd) Run(s *tool) error {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(50) // it lives in small containers, and most of what it does is not allocating
	}
	o := harvest.Options{All: c.All, Remove: c.Remove, Jobs: c.Jobs, Rate: int64(c.Rate), Report: c.reporter(s)}
	for _, word := range c.Sessions {
		dir, err := c.find(word)
		if err != nil {
			return err
		}
		o.Dirs = append(o.Dirs, dir)
	}
	if err := c.mounted(); err != nil {
		return err
	}
	var stores store.Stores
	place, err := stores.Place(c.To, ".harvest", "")
	if err != nil {
		return err
	}
	o.Place = place
	if !c.Watch {
		return c.once(s, harvest.New(o))
	}
	return c.watch(s, o)
}

// mounted refuses a directory in one that is not there: a volume that is not mounted would have its
// recordings fill the disk of the system.
func (c *harvestCmd) mounted() error {
	if strings.Contains(c.To, "://") {
		return nil
	}
	if _, err := os.Stat(filepath.Dir(c.To)); err != nil {
		return console.Exit(console.Again, err)
	}
	return nil
}

// find returns the directory that a word names.
func (c *harvestCmd) find(word string) (string, error) {
	_, err := os.Stat(word)
	switch {
	case word == "":
		return "", errors.New("no session: want its directory or the service's name")
	case strings.ContainsRune(word, filepath.Separator), c.Dir == "" && err == nil:
		return filepath.Abs(word)
	}
	os.Unsetenv(recorder.EnvSession) // it would override the name
	return recorder.Options{Dir: c.Dir, Service: word}.Session()
}

// once makes one pass.
func (c *harvestCmd) once(s *tool, h *harvest.Harvester) error {
	for _, word := range c.Sessions {
		if dir, err := c.find(word); err == nil && missing(dir) {
			return fmt.Errorf("no session in %s: nothing has recorded there, or --dir or $%s has to say where", dir, recorder.EnvDir)
		}
	}
	defer s.EndOnInterrupt()()
	return c.end(s, h.Sum, h.Pass(context.Background()))
}

func missing(dir string) bool {
	_, err := os.Stat(dir)
	return errors.Is(err, fs.ErrNotExist)
}

// settle is how long somebody who saw how a process ended gets to write it.
const settle = 2 * time.Second

// watch harvests until a signal.
func (c *harvestCmd) watch(s *tool, o harvest.Options) error {
	o.Settle = settle
	defer s.EndOnInterrupt()() // the second signal ends it at once
	stop, release := s.Calm.Until()
	defer release()
	h := harvest.New(o)
	if !c.JSON {
		s.Say(fmt.Sprintf("watching %s; what dead processes leave goes to %s", strings.Join(o.Dirs, ", "), c.To))
	}
	return c.end(s, h.Sum, h.Watch(stop, c.Every, c.Grace))
}

// reporter tells what happens: a person what is worth a line, a program all of it.
func (c *harvestCmd) reporter(s *tool) func(harvest.Event) {
	lines := json.NewEncoder(s.Stdout)
	return func(e harvest.Event) {
		c.denied = c.denied || e.What == harvest.Unreadable && errors.Is(e.Err, fs.ErrPermission)
		switch {
		case c.JSON:
			lines.Encode(e) // standard output keeps the error
		case e.What == harvest.Unreachable && !c.Watch: // the command ends with it
		case e.Bad():
			s.Warn(errors.New(e.String()))
		case e.What != harvest.Present:
			s.Say(e.String())
		}
	}
}

// end tells what was done, and returns what to exit with.
func (c *harvestCmd) end(s *tool, summary func() harvest.Summary, err error) error {
	sum := summary()
	if c.JSON {
		json.NewEncoder(s.Stdout).Encode(struct {
			What string `json:"event"`
			harvest.Summary
		}{"done", sum})
	} else {
		s.Say(fmt.Sprintf("%s saved, %s; %d were there already; %s running", human.Plural(sum.Saved, "recording"), human.Bytes(sum.Bytes), sum.Present, human.Plural(sum.Live, "process")))
	}
	switch {
	case err != nil && sum.Left > 0:
		return console.Exit(console.Again, fmt.Errorf("%s not saved: %w", human.Plural(sum.Left, "recording"), err))
	case sum.Unreadable > 0 && c.denied:
		return fmt.Errorf("%s could not be read: %w", human.Plural(sum.Unreadable, "session or recording"), fs.ErrPermission)
	case sum.Unreadable > 0:
		return fmt.Errorf("%s could not be read", human.Plural(sum.Unreadable, "session or recording"))
	}
	return s.Stdout.Err
}
