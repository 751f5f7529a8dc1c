package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
)

// Stream implements [Place]. The file gets its name by a link, as in Create.
func (d directoryPlace) Stream(ctx context.Context, name string, write func(io.Writer) error) error {
	to, room := d.Path(name), filepath.Join(d.dir, d.inside)
	for _, dir := range []string{filepath.Dir(to), room} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	removeStale(room)
	f, err := os.CreateTemp(room, streamPrefix)
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	err = write(f)
	if err = errors.Join(err, f.Sync(), f.Close(), ctx.Err()); err != nil {
		return err
	}
	if err := os.Link(f.Name(), to); err != nil {
		return err
	}
	return flush(filepath.Dir(to)) // what is confirmed is there after a loss of power, too
}

// streamPrefix begins the names of unfinished files.
const streamPrefix = ".stream-"

// stale is how old an unfinished file is that nobody writes any more.
const stale = time.Hour

// removeStale removes unfinished files of writers that were killed.
func removeStale(room string) {
	entries, err := os.ReadDir(room)
	if err != nil {
		return // the next one tries again
	}
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && strings.HasPrefix(e.Name(), streamPrefix) && time.Since(info.ModTime()) > stale {
			os.Remove(filepath.Join(room, e.Name())) // likewise
		}
	}
}

// partSize is the least that a store takes as a part of an object, but for the last one.
const partSize = 5 << 20

// Stream implements [Place]. What fits into one part is one request.
func (p *bucketPlace) Stream(ctx context.Context, name string, write func(io.Writer) error) error {
	part, _ := p.parts.Get().(*[partSize]byte)
	if part == nil {
		part = new([partSize]byte)
	}
	defer p.parts.Put(part)
	w := &upload{ctx: ctx, p: p, name: name, buf: part[:0]}
	err := write(w)
	if err == nil {
		err = w.end()
	}
	if err != nil && w.id != "" {
		w.abort()
	}
	p.b.forget(p.prefix + name)
	return err
}

// upload is an object that is being made, in parts if it has more than one.
type upload struct {
	ctx  context.Context
	p    *bucketPlace
	name string
	buf  []byte // not sent yet
	id   string // "" before the first part
	sent []minio.CompletePart
}

func (w *upload) key() string { return w.p.prefix + w.name }

// options make the last request of an object fail if there is one of its name.
func (w *upload) options() minio.PutObjectOptions {
	o := minio.PutObjectOptions{ContentType: contentType, DisableMultipart: true}
	o.SetMatchETagExcept("*")
	return o
}

// Write implements [io.Writer].
func (w *upload) Write(data []byte) (n int, err error) {
	for n < len(data) {
		if len(w.buf) == partSize {
			if err := w.part(); err != nil {
				return n, err
			}
		}
		m := min(len(data)-n, partSize-len(w.buf))
		w.buf = append(w.buf, data[n:n+m]...)
		n += m
	}
	return n, nil
}

// part sends what is in the buffer as a part.
func (w *upload) part() (err error) {
	client, bucket := w.p.b.client, w.p.b.name
	if w.id == "" {
		w.id, err = client.NewMultipartUpload(w.ctx, bucket, w.key(), minio.PutObjectOptions{ContentType: contentType})
		if err != nil {
			return w.error(err)
		}
	}
	number := len(w.sent) + 1
	o, err := client.PutObjectPart(w.ctx, bucket, w.key(), w.id, number, bytes.NewReader(w.buf), int64(len(w.buf)), minio.PutObjectPartOptions{})
	if err != nil {
		return w.error(err)
	}
	w.sent = append(w.sent, minio.CompletePart{PartNumber: number, ETag: o.ETag})
	w.buf = w.buf[:0]
	return nil
}

// end sends the rest, and makes the object.
func (w *upload) end() error {
	client, bucket := w.p.b.client, w.p.b.name
	if w.id == "" {
		_, err := client.Client.PutObject(w.ctx, bucket, w.key(), bytes.NewReader(w.buf), int64(len(w.buf)), w.options())
		return w.error(err)
	}
	if err := w.part(); err != nil {
		return err
	}
	_, err := client.CompleteMultipartUpload(w.ctx, bucket, w.key(), w.id, w.sent, w.options())
	return w.error(err)
}

// abort has the store drop the parts. It gets a moment for that when the command is about to end.
func (w *upload) abort() {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(w.ctx), 2*time.Second)
	defer cancel()
	w.p.b.client.AbortMultipartUpload(ctx, w.p.b.name, w.key(), w.id) // a rule of the bucket removes them otherwise
}

// error is what a failed request means.
func (w *upload) error(err error) error {
	if err == nil {
		return nil
	}
	switch said := minio.ToErrorResponse(err); {
	case exists(said.Code):
		return &fs.PathError{Op: "create", Path: w.p.Path(w.name), Err: fs.ErrExist}
	case said.Code == "NotImplemented":
		return fmt.Errorf("%s: the store can't create an object only if there is none (If-None-Match), by which repeated uploads are told apart", w.p.Path(w.name))
	}
	return w.p.b.error("create", w.key(), err)
}

// exists reports whether a store's answer means that there is an object of the name.
func exists(code string) bool {
	return code == "PreconditionFailed" || code == "ConditionalRequestConflict"
}
