package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"

	"gprof/convert"
	"gprof/ingest"
	"gprof/stream"
)

// work does something with a session, on one core.
type work func(session string) (said, error)

// counter is a file of which the size counts. Nothing is written: the cost of a
// file is the same for all.
type counter struct{ bytes int64 }

func (c *counter) Write(p []byte) (int, error) { c.bytes += int64(len(p)); return len(p), nil }
func (c *counter) Close() error                { return nil }

// Create implements [convert.Directory], of which the size of all files counts.
func (c *counter) Create(string) (io.WriteCloser, error) { return c, nil }

// copyTo moves a session's events to a sink.
func copyTo(sink stream.Sink, session string) error {
	src, found, err := ingest.Open([]string{session}, ingest.Options{})
	if err != nil {
		return err
	}
	defer found.Close()
	return stream.Copy(sink, src, stream.CopyOptions{})
}

// decodeOnly decodes the events and drops them.
func decodeOnly(session string) (said, error) {
	src, found, err := ingest.Open([]string{session}, ingest.Options{})
	if err != nil {
		return said{}, err
	}
	defer found.Close()
	for b := (stream.Batch{}); ; {
		if err := src.Next(&b); errors.Is(err, io.EOF) {
			return said{}, nil
		} else if err != nil {
			return said{}, err
		}
	}
}

// convertTo writes the format of a file name; "" is none.
func convertTo(name string) work { return convertAt(name, 0) }

func convertAt(name string, level int) work {
	return func(session string) (said, error) {
		if name == "" {
			return said{}, copyTo(stream.Discard, session)
		}
		format, o, err := convert.ByName("x." + name)
		if err != nil {
			return said{}, err
		}
		o.Level = level
		var c counter
		sink, err := format.New(&c, o)
		if err != nil {
			return said{}, err
		}
		err = copyTo(sink, session)
		return said{Bytes: c.bytes}, err
	}
}

// tablesBeside is where the tables of a session are, once they are written.
func tablesBeside(session string) string { return filepath.Join(filepath.Dir(session), "tables") }

// writeTablesBeside writes them as files.
func writeTablesBeside(session string) error {
	format, o, err := convert.ByName("x.parquet")
	if err != nil {
		return err
	}
	return copyTo(format.NewIn(folder(tablesBeside(session)), o), session)
}

// folder is a directory of the file system.
type folder string

func (f folder) Create(name string) (io.WriteCloser, error) {
	path := filepath.Join(string(f), filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return nil, err
	}
	return os.Create(path)
}

// writeTables writes the directory of Parquet tables.
func writeTables(session string) (said, error) {
	format, o, err := convert.ByName("x.parquet")
	if err != nil {
		return said{}, err
	}
	var c counter
	err = copyTo(format.NewIn(&c, o), session)
	return said{Bytes: c.bytes}, err
}
