// Package download reads what servers give by HTTP, such as /debug/pprof/profile, as files.
package download

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Is reports whether an input is a URL.
func Is(input string) bool {
	return strings.HasPrefix(input, "http://") || strings.HasPrefix(input, "https://")
}

// Shown is an input as people may see it: a URL without its password. It stands for the input in [Files.Mount].
func Shown(input string) string {
	if !Is(input) {
		return input
	}
	u, err := url.Parse(input)
	if err != nil {
		scheme, rest, _ := strings.Cut(input, "://")
		return scheme + "://" + rest[strings.LastIndex(rest, "@")+1:]
	}
	return u.Redacted()
}

// maxBytes bounds a file: a server may go on for ever.
const maxBytes = 64 << 30

// Files are what was downloaded, by URL without a password.
type Files struct {
	mu  sync.Mutex
	all map[string]result
}

type result struct {
	file *file
	err  error
}

// Get downloads all URLs at once, each for as long as something comes within stall, and the seconds that it asks
// for besides; stall below 0 is for ever. Each becomes a file in dir that has no name. What fails is the error
// of [Files.Mount].
func (d *Files) Get(ctx context.Context, urls []string, dir string, stall time.Duration) {
	var all sync.WaitGroup
	for _, u := range urls {
		all.Go(func() {
			f, err := get(ctx, u, dir, stall)
			d.mu.Lock()
			defer d.mu.Unlock()
			if d.all == nil {
				d.all = map[string]result{}
			}
			d.all[Shown(u)] = result{f, err}
		})
	}
	all.Wait()
}

// Mount returns a file system with what was downloaded from a URL, and its name in it; nil for a path that
// is no URL.
func (d *Files) Mount(input string) (fsys fs.FS, name string, err error) {
	if !Is(input) {
		return nil, "", nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	r, ok := d.all[Shown(input)]
	switch {
	case !ok:
		return nil, "", errors.New("a URL can't be read here; save what it gives as a file")
	case r.err != nil:
		return nil, "", r.err
	}
	return single{r.file}, r.file.name, nil
}

// Seconds is how long a server takes for what a URL asks for, as those of Go's profiles do; 0 unknown.
func Seconds(input string) time.Duration {
	u, err := url.Parse(input)
	if err != nil {
		return 0
	}
	n, err := strconv.Atoi(u.Query().Get("seconds"))
	switch {
	case err == nil && n > 0 && n < 24*3600:
		return time.Duration(n) * time.Second
	case err != nil && strings.HasSuffix(u.Path, "/pprof/profile"):
		return 30 * time.Second // as net/http/pprof does
	}
	return 0
}

var errStalled = errors.New("stalled: nothing came for too long")

func get(ctx context.Context, input, dir string, stall time.Duration) (*file, error) {
	u, err := url.Parse(input)
	if err != nil || u.Host == "" {
		return nil, errors.New("is no URL that can be read")
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	alive := func() {}
	if stall >= 0 {
		watch := time.AfterFunc(stall+Seconds(input), func() { cancel(errStalled) })
		defer watch.Stop()
		alive = func() { watch.Reset(stall) }
	}
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, input, nil)
	if err != nil {
		return nil, errors.New("is no URL that can be read")
	}
	f, err := receive(q, dir, alive)
	if cause := context.Cause(ctx); err != nil && cause != nil {
		err = cause
	}
	if err != nil {
		return nil, plain(err)
	}
	f.name = strings.Trim(u.EscapedPath(), "/")
	if u.RawQuery != "" {
		f.name += "?" + u.RawQuery
	}
	if f.name = path.Clean(f.name); !fs.ValidPath(f.name) || f.name == "." {
		f.name = "download"
	}
	return f, nil
}

// plain is an error without the URL, which stands before it.
func plain(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err
	}
	return err
}

// receive stores the body of an answer.
func receive(q *http.Request, dir string, alive func()) (*file, error) {
	a, err := http.DefaultClient.Do(q)
	if err != nil {
		return nil, err
	}
	defer a.Body.Close()
	alive()
	if a.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the server answered %s%s", a.Status, firstLine(a.Body))
	}
	to, err := os.CreateTemp(dir, "gprof-download-")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(to.Name()); err != nil {
		return nil, errors.Join(err, to.Close())
	}
	n, err := io.Copy(to, io.LimitReader(&watched{a.Body, alive}, maxBytes+1))
	if err == nil && n > maxBytes {
		err = errors.New("too big: more than 64 GiB")
	}
	if err != nil {
		return nil, errors.Join(err, to.Close())
	}
	return &file{data: to, size: n, time: time.Now()}, nil
}

// firstLine is the beginning of an answer, if it is text.
func firstLine(body io.Reader) string {
	head := make([]byte, 200)
	n, _ := io.ReadFull(body, head) // there may be less, or none
	line, _, _ := strings.Cut(strings.ToValidUTF8(string(head[:n]), ""), "\n")
	line = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, line)
	if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "<") {
		return ""
	}
	return ": " + line
}

// watched tells that something came.
type watched struct {
	io.Reader
	alive func()
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.Reader.Read(p)
	if n > 0 {
		w.alive()
	}
	return n, err
}

// file is what was downloaded. It stays open as long as the program runs.
type file struct {
	name string // in the file system: the path and query of the URL
	data *os.File
	size int64
	time time.Time
}

func (f *file) Name() string       { return path.Base(f.name) }
func (f *file) Size() int64        { return f.size }
func (f *file) Mode() fs.FileMode  { return 0o600 }
func (f *file) ModTime() time.Time { return f.time }
func (f *file) IsDir() bool        { return false }
func (f *file) Sys() any           { return nil }

// single is a file system with one file.
type single struct{ file *file }

// Open implements [fs.FS].
func (s single) Open(name string) (fs.File, error) {
	if name != s.file.name {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return &opened{io.NewSectionReader(s.file.data, 0, s.file.size), s.file}, nil
}

// ReadDir implements [fs.ReadDirFS].
func (s single) ReadDir(name string) ([]fs.DirEntry, error) {
	if name != path.Dir(s.file.name) {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: fs.ErrNotExist}
	}
	return []fs.DirEntry{fs.FileInfoToDirEntry(s.file)}, nil
}

// Glob implements [fs.GlobFS]: a URL is no pattern.
func (s single) Glob(string) ([]string, error) { return []string{s.file.name}, nil }

type opened struct {
	*io.SectionReader
	file *file
}

func (o *opened) Stat() (fs.FileInfo, error) { return o.file, nil }
func (o *opened) Close() error               { return nil }
