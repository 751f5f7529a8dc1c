package archive

import (
	"errors"
	"fmt"
	"io"
)

// counter is the input of a decoder. It counts, and remembers an error of
// reading, so that it is told from what the decoder says of the bytes.
type counter struct {
	r   io.Reader
	n   int64
	err error // not [io.EOF]
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	if err != nil && err != io.EOF {
		c.err = err
	}
	return n, err
}

// blame says whose error a decoder's is: that of reading, if there was one,
// else [ErrTorn] or [ErrDamaged]. The end is no error.
func (c *counter) blame(err error) error {
	switch {
	case err == nil, err == io.EOF:
		return err
	case c.err != nil:
		return c.err
	case errors.Is(err, io.ErrUnexpectedEOF):
		return ErrTorn
	}
	return fmt.Errorf("%w: %w", ErrDamaged, err)
}
