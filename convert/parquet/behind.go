package parquet

import "io"

// behind is a file that is written while the next bytes are made.
type behind struct {
	file    io.Writer
	size    int        // of a buffer
	next    []byte     // what comes next
	written []byte     // what is being written, or was
	writing chan error // has one value when that is written; nil: nothing is
	alone   bool       // the caller writes
}

// Write implements [io.Writer]. An error may be one of earlier bytes.
func (b *behind) Write(p []byte) (n int, err error) {
	for n < len(p) {
		if len(b.next) == b.size {
			if err := b.hand(); err != nil {
				return n, err
			}
		}
		if b.next == nil {
			b.next = make([]byte, 0, b.size)
		}
		k := copy(b.next[len(b.next):b.size], p[n:])
		b.next, n = b.next[:len(b.next)+k], n+k
	}
	return n, nil
}

// hand has the next bytes written when those before are.
func (b *behind) hand() error {
	if err := b.wait(); err != nil {
		return err
	}
	if b.alone {
		_, err := b.file.Write(b.next)
		b.next = b.next[:0]
		return err
	}
	b.next, b.written = b.written[:0], b.next
	b.writing = make(chan error, 1)
	go func(done chan<- error, p []byte) {
		_, err := b.file.Write(p)
		done <- err
	}(b.writing, b.written)
	return nil
}

// wait waits until nothing is being written.
func (b *behind) wait() (err error) {
	if b.writing != nil {
		err = <-b.writing
		b.writing = nil
	}
	return err
}

// flush writes all bytes.
func (b *behind) flush() error {
	if err := b.wait(); err != nil {
		return err
	}
	_, err := b.file.Write(b.next)
	b.next = b.next[:0]
	return err
}
