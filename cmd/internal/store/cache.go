package store

import (
	"io"
	"slices"
	"sync"
)

const (
	// blockSize is how much is requested at least: a request costs as much time as tens of
	// kilobytes take.
	blockSize = 64 << 10
	// maxBlocks bounds the blocks that are kept of a bucket, to 16 MiB.
	maxBlocks = 256
)

// cache keeps the blocks of objects that were read last.
type cache struct {
	mu     sync.Mutex
	blocks []*block // the last used one first
}

// block is a block of an object, which one reader requests and others wait for.
type block struct {
	name, etag string
	number     int64
	once       sync.Once
	bytes      []byte
	err        error
}

// get returns a block of a file, shorter than blockSize at its end. It must not be changed.
func (c *cache) get(f *file, number int64) ([]byte, error) {
	b := c.find(f.name, f.of.etag, number)
	b.once.Do(func() {
		from := number * blockSize
		r := &body{file: f, from: from, end: min(from+blockSize, f.of.size)}
		defer r.Close()
		b.bytes, b.err = io.ReadAll(r)
	})
	if b.err != nil {
		c.forget(b)
	}
	return b.bytes, b.err
}

// find returns the block of a key, new if it is not kept.
func (c *cache) find(name, etag string, number int64) *block {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.IndexFunc(c.blocks, func(b *block) bool { return b.number == number && b.name == name && b.etag == etag })
	if i < 0 {
		i = len(c.blocks)
		c.blocks = append(c.blocks, &block{name: name, etag: etag, number: number})
	}
	b := c.blocks[i]
	copy(c.blocks[1:i+1], c.blocks[:i])
	c.blocks[0] = b
	c.blocks = c.blocks[:min(len(c.blocks), maxBlocks)]
	return b
}

// forget drops a block that could not be read, so that it is requested again.
func (c *cache) forget(failed *block) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.blocks = slices.DeleteFunc(c.blocks, func(b *block) bool { return b == failed })
}
