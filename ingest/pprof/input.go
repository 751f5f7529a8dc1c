package pprof

import (
	"fmt"
	"io"
)

// input reads a file from its front, again and again.
type input struct {
	file   *File
	fields *fields
	held   []byte // all of it, if it is not large
	stream io.Closer
}

// rewind begins at the front.
func (n *input) rewind() error {
	if err := n.close(); err != nil {
		return err
	}
	if n.held != nil {
		n.fields = &fields{buf: n.held}
		return nil
	}
	r, err := n.file.open()
	if err != nil {
		return err
	}
	size := n.file.header.size
	n.stream = r
	if size > maxHeld {
		n.fields = newFields(io.LimitReader(r, size))
		return nil
	}
	n.held = make([]byte, size)
	if _, err := io.ReadFull(r, n.held); err != nil {
		return fmt.Errorf("it was longer when it was opened: %w", err)
	}
	return n.rewind()
}

func (n *input) close() error {
	if n.stream == nil {
		return nil
	}
	defer func() { n.stream = nil }()
	return n.stream.Close()
}
