package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/minio/minio-go/v7"
)

// Place is where outputs of many machines lie together: a directory that they all see, or a
// name in a bucket. Names in it have slashes.
type Place interface {
	// Path is a name as the path of an input.
	Path(name string) string
	// Put makes a local file one of the place, whole, instead of what had the name. The local
	// file may be gone then.
	Put(name, local string) error
	// Create makes a file. The error is [fs.ErrExist] if there is one of this name: of several
	// that create it at the same time, one succeeds.
	Create(name string, text []byte) error
	// Stream makes a file of what write writes, for its owner only. It is there whole or not at all,
	// and is no copy elsewhere before. The error is write's, the place's, or [fs.ErrExist] if there
	// is a file of this name: of several that make it at the same time, one succeeds.
	Stream(ctx context.Context, name string, write func(io.Writer) error) error
	// Read returns a file. The error is [fs.ErrNotExist] if there is none.
	Read(name string) ([]byte, error)
	// Size is that of a file. The error is [fs.ErrNotExist] if there is none.
	Size(name string) (int64, error)
	// List are the names directly below a directory, sorted; those of directories end with a
	// slash. There are none below a directory that does not exist.
	List(dir string) ([]string, error)
	// Move gives a file another name, instead of what had that. The error is [fs.ErrNotExist] if there
	// is no such file.
	Move(from, to string) error
	// Remove removes a file, if there is one.
	Remove(name string) error
	// Room is a local directory for files that are to be put.
	Room() string
}

// Place returns the place of a path. Files that are to be put lie in the directory temp; in
// a directory, in the one called inside.
func (s *Stores) Place(at, inside, temp string) (Place, error) {
	fsys, name, err := s.Mount(at)
	switch {
	case err != nil:
		return nil, err
	case fsys == nil:
		return directoryPlace{at, inside}, nil
	}
	return &bucketPlace{b: fsys.(*bucket), prefix: strings.TrimPrefix(name+"/", "./"), room: temp}, nil
}

// directoryPlace is a directory as a place.
type directoryPlace struct{ dir, inside string }

// Path implements [Place].
func (d directoryPlace) Path(name string) string {
	return filepath.Join(d.dir, filepath.FromSlash(name))
}

// Room implements [Place]. Each machine has its own: by the number of a process, which is in the
// names of files there, only its own machine can tell whether it is alive.
func (d directoryPlace) Room() string { return filepath.Join(d.Path(d.inside), here()) }

// here tells this machine, or container, from others that may see the same directory.
var here = sync.OnceValue(func() string {
	host, _ := os.Hostname()                       // a machine without a name is the only one,
	numbers, _ := os.Readlink("/proc/self/ns/pid") // as is one without namespaces
	sum := sha256.Sum256([]byte(host + "\x00" + numbers))
	return hex.EncodeToString(sum[:4])
})

// Put implements [Place].
func (d directoryPlace) Put(name, local string) error {
	to := d.Path(name)
	if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
		return err
	}
	if err := flush(local); err != nil {
		return err
	}
	return os.Rename(local, to)
}

// flush waits until a file is on its disk: what says later that it is there must not be there
// before it.
func flush(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// Create implements [Place]. The file gets its name by a link, which fails if there is one.
func (d directoryPlace) Create(name string, text []byte) error {
	to := d.Path(name)
	for _, dir := range []string{filepath.Dir(to), d.Room()} {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return err
		}
	}
	unfinished := filepath.Join(d.Room(), fmt.Sprintf(".create.%d-%d", os.Getpid(), rand.Uint64()))
	f, err := os.OpenFile(unfinished, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Link(f.Name(), to)
}

// Read implements [Place].
func (d directoryPlace) Read(name string) ([]byte, error) { return os.ReadFile(d.Path(name)) }

// Size implements [Place].
func (d directoryPlace) Size(name string) (int64, error) {
	info, err := os.Stat(d.Path(name))
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// List implements [Place].
func (d directoryPlace) List(dir string) (names []string, err error) {
	entries, err := os.ReadDir(d.Path(dir))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return namesOf(entries), err
}

func namesOf(entries []fs.DirEntry) (names []string) {
	for _, e := range entries {
		name := e.Name()
		if strings.HasPrefix(name, ".") {
			continue // unfinished
		}
		if e.IsDir() {
			name += "/"
		}
		names = append(names, name)
	}
	return names
}

// Remove implements [Place].
func (d directoryPlace) Remove(name string) error {
	err := os.Remove(d.Path(name))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return err
}

// Move implements [Place].
func (d directoryPlace) Move(from, to string) error {
	if err := os.MkdirAll(filepath.Dir(d.Path(to)), 0o777); err != nil {
		return err
	}
	return os.Rename(d.Path(from), d.Path(to))
}

// bucketPlace is what begins with a name in a bucket.
type bucketPlace struct {
	b      *bucket
	prefix string // empty, or ends with a slash
	room   string
	parts  sync.Pool // of *[partSize]byte, for Stream
}

// Path implements [Place].
func (p *bucketPlace) Path(name string) string {
	return scheme + p.b.name + "/" + p.prefix + name
}

// Room implements [Place].
func (p *bucketPlace) Room() string { return p.room }

// Put implements [Place].
func (p *bucketPlace) Put(name, local string) error {
	key := p.prefix + name
	_, err := p.b.client.FPutObject(context.Background(), p.b.name, key, local, minio.PutObjectOptions{ContentType: contentType})
	p.b.forget(key)
	return p.b.error("put", key, err)
}

// contentType is that of all objects.
const contentType = "application/octet-stream"

// Create implements [Place].
func (p *bucketPlace) Create(name string, text []byte) error {
	key := p.prefix + name
	o := minio.PutObjectOptions{ContentType: contentType, DisableMultipart: true}
	o.SetMatchETagExcept("*") // only if there is none
	_, err := p.b.client.Client.PutObject(context.Background(), p.b.name, key, bytes.NewReader(text), int64(len(text)), o)
	switch said := minio.ToErrorResponse(err); {
	case exists(said.Code):
		return &fs.PathError{Op: "create", Path: p.Path(name), Err: fs.ErrExist}
	case said.Code == "NotImplemented":
		return fmt.Errorf("%s: the store can't create an object only if there is none (If-None-Match), by which two attempts of one task are told apart; give -o a directory, or another store", p.Path(name))
	}
	p.b.forget(key)
	return p.b.error("create", key, err)
}

// Read implements [Place].
func (p *bucketPlace) Read(name string) ([]byte, error) {
	body, _, _, err := p.b.client.GetObject(context.Background(), p.b.name, p.prefix+name, minio.GetObjectOptions{})
	if err != nil {
		return nil, p.b.error("open", p.prefix+name, err)
	}
	defer body.Close()
	text, err := io.ReadAll(body)
	return text, p.b.error("read", p.prefix+name, err)
}

// Size implements [Place].
func (p *bucketPlace) Size(name string) (int64, error) {
	o, err := p.b.stat(p.prefix + name)
	return o.size, err
}

// List implements [Place].
func (p *bucketPlace) List(dir string) (names []string, err error) {
	entries, err := p.b.ReadDir(strings.TrimSuffix(p.prefix+dir, "/"))
	return namesOf(entries), err
}

// Remove implements [Place].
func (p *bucketPlace) Remove(name string) error {
	key := p.prefix + name
	p.b.forget(key)
	return p.b.error("remove", key, p.b.client.Client.RemoveObject(context.Background(), p.b.name, key, minio.RemoveObjectOptions{}))
}

// Move implements [Place]. The store copies it by itself. One that is just doing something else there,
// such as removing a directory of which the last object went, says that it is a conflict, which passes.
func (p *bucketPlace) Move(from, to string) error {
	key := p.prefix + to
	var err error
	for wait := 50 * time.Millisecond; wait < 2*time.Second; wait *= 2 {
		_, err = p.b.client.CopyObject(context.Background(), p.b.name, p.prefix+from, p.b.name, key, nil, minio.CopySrcOptions{}, minio.PutObjectOptions{ContentType: contentType})
		if minio.ToErrorResponse(err).StatusCode != http.StatusConflict {
			break
		}
		time.Sleep(wait)
	}
	p.b.forget(key)
	if err != nil {
		return p.b.error("move", p.prefix+from, err)
	}
	return p.Remove(from)
}

// forget drops what is known of an object.
func (b *bucket) forget(name string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.known, path.Clean(name))
}

// ETag is what the store says by which versions of an object can be told apart.
func (e entry) ETag() string { return e.etag }
