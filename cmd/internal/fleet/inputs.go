package fleet

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"gprof/cmd/internal/console"
	"gprof/cmd/internal/input"
	"gprof/decode"
	"gprof/ingest"
)

// placedInput is an input and what places it.
type placedInput struct {
	member
	service   string
	day       string    // of its first process, UTC
	processes []process // if it may be divided
	known     bool      // it is as it was committed, and nothing but the member was read again
}

// readers is how many inputs are placed at a time.
const readers = 32

// list finds the inputs and reads what places them, in the order of their paths; of those that are
// as they were committed only their state. One that went meanwhile is none. Those that can't be read
// at the moment are unread.
func (c *PlanCommand) list(s *input.Tool, before *commit) (all []placedInput, unread []error, err error) {
	paths, err := c.expand(s)
	if err != nil {
		return nil, nil, err
	}
	placed, errs := make([]placedInput, len(paths)), make([]error, len(paths))
	known := before.whole()
	bar := s.NewBar(c.Quiet)
	defer bar.End()
	var telling sync.Mutex
	atOnce(len(paths), readers, func(i int) {
		telling.Lock()
		bar.Count(i, len(paths), fmt.Sprintf("%d of %d inputs placed", i, len(paths)))
		telling.Unlock()
		if in, ok := known[paths[i]]; ok {
			if now, _, err := mark(s, in.Path); err == nil && now == in.Mark {
				placed[i] = placedInput{member: in, known: true}
				return
			}
		}
		placed[i], errs[i] = c.place(s, paths[i])
	})
	for i, err := range errs {
		switch {
		case err == nil:
			all = append(all, placed[i])
		case errors.Is(err, fs.ErrNotExist):
			s.Warn(fmt.Errorf("%s went while the inputs were listed", paths[i]))
		default:
			unread = append(unread, fmt.Errorf("%s: %w", paths[i], err))
		}
	}
	return all, unread, nil
}

// atOnce calls do with 0 to n-1, for some of them at the same time: most of the time goes by
// waiting.
func atOnce(n, some int, do func(i int)) {
	var all sync.WaitGroup
	next := make(chan int)
	for range min(some, n) {
		all.Go(func() {
			for i := range next {
				do(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	all.Wait()
}

// expand lists the inputs, each once.
func (c *PlanCommand) expand(s *input.Tool) (paths []string, err error) {
	for _, arg := range c.Inputs {
		found, err := groups(s, arg, c.Output)
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			return nil, fmt.Errorf("%s: %w there", arg, ingest.ErrNothing)
		}
		paths = append(paths, found...)
	}
	slices.Sort(paths)
	return slices.Compact(paths), nil
}

// groups lists the inputs below an argument, but not below the output.
func groups(s *input.Tool, arg, out string) (paths []string, err error) {
	if arg == "-" {
		return nil, console.Exit(console.Usage, errors.New("a plan is of files, which can be read again; stdin is none"))
	}
	fsys, name, err := s.Mount(arg)
	if err != nil {
		return nil, err
	}
	if fsys == nil {
		return groupsOnDisk(s, arg, out)
	}
	names := []string{name}
	if strings.ContainsAny(name, `*?[`) {
		if names, err = fs.Glob(fsys, name); err != nil {
			return nil, err
		}
	}
	bucket := strings.TrimSuffix(arg, "/")
	bucket = bucket[:len(bucket)-len(strings.TrimPrefix(name, "."))]
	bucket = strings.TrimSuffix(bucket, "/") + "/"
	for _, name := range names {
		info, err := fs.Stat(fsys, name)
		if err != nil {
			return nil, err
		}
		below := []string{name}
		if info.IsDir() {
			below = ingest.GroupsIn(fsys, name, s.Sources...)
		}
		for _, name := range below {
			paths = append(paths, bucket+name)
		}
	}
	return paths, nil
}

func groupsOnDisk(s *input.Tool, arg, out string) (paths []string, err error) {
	names := []string{arg}
	if _, err := os.Lstat(arg); errors.Is(err, fs.ErrNotExist) && strings.ContainsAny(arg, `*?[`) {
		if names, err = filepath.Glob(arg); err != nil {
			return nil, err
		}
	}
	output, none := os.Stat(out)
	ours := func(path string) bool {
		if filepath.Base(path) == Dir || none != nil {
			return filepath.Base(path) == Dir
		}
		info, err := os.Stat(path)
		return err == nil && os.SameFile(info, output)
	}
	for _, name := range names {
		info, err := os.Stat(name)
		if err != nil {
			return nil, err
		}
		if name, err = filepath.Abs(name); err != nil { // a worker may begin elsewhere
			return nil, err
		}
		if !info.IsDir() {
			paths = append(paths, name)
			continue
		}
		paths = append(paths, ingest.Groups(name, ours, s.Sources...)...)
	}
	return paths, nil
}

// place reads what places an input. One that holds nothing readable is placed, too: its task
// will say why. The error is the machine's, or the store's.
func (c *PlanCommand) place(s *input.Tool, path string) (in placedInput, err error) {
	in.Path = path
	if !utf8.ValidString(path) {
		return in, errors.New("its name is not UTF-8, which a plan can't say; rename it")
	}
	if in.Mark, in.Bytes, err = mark(s, path); err != nil {
		return in, err
	}
	o := c.Reading.Options(s, 1, nil, "")
	o.Symbols = nil // names are not needed
	found, err := ingest.Find([]string{path}, o)
	if err != nil {
		if input.MayWorkAgain(err) {
			return in, err
		}
		return in, nil
	}
	defer found.Close()
	start, _ := found.Span()
	if start > 0 {
		in.day = time.Unix(0, int64(start)).UTC().Format(time.DateOnly)
	}
	large := in.Bytes > int64(c.TaskSize)
	for _, p := range found.Processes {
		row := p.Row()
		if in.service == "" {
			in.service = row.Service
		}
		of := process{instance: p.Name(), bytes: p.Bytes()}
		in.Instances = append(in.Instances, of.instance)
		if parent := decode.Parent(p.Process); parent != 0 {
			of.parent = fmt.Sprintf("%016x", parent)
			in.Instances = append(in.Instances, of.parent)
		}
		if format, _ := p.Foreign(); large && format == "" {
			in.processes = append(in.processes, of)
		}
	}
	if len(in.processes) < len(found.Processes) { // other tools' files are read from begin to end
		in.processes = nil
	}
	slices.Sort(in.Instances)
	in.Instances = slices.Compact(in.Instances)
	return in, nil
}

// mark identifies the state of an input.
func mark(s *input.Tool, at string) (mark string, size int64, err error) {
	fsys, name, err := s.Mount(at)
	switch {
	case err != nil:
		return "", 0, err
	case fsys == nil:
		return input.Fingerprint(at, func(string) bool { return false })
	}
	sum := sha256.New()
	err = walk(fsys, name, func(name string, info fs.FileInfo) {
		version := fmt.Sprint(info.ModTime().UnixNano())
		if tagged, ok := info.(interface{ ETag() string }); ok && tagged.ETag() != "" {
			version = tagged.ETag()
		}
		fmt.Fprintf(sum, "%q %d %s\n", name, info.Size(), version)
		size += info.Size()
	})
	return hex.EncodeToString(sum.Sum(nil)[:16]), size, err
}

// walk calls each for a file, or all files below a directory, by name.
func walk(fsys fs.FS, name string, each func(name string, info fs.FileInfo)) error {
	info, err := fs.Stat(fsys, name)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		each(name, info)
		return nil
	}
	entries, err := fs.ReadDir(fsys, name)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := walk(fsys, path.Join(name, e.Name()), each); err != nil {
			return err
		}
	}
	return nil
}
