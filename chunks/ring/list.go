package ring

// A chunk can be in two lists at once, with a link for each.
const (
	byRange = iota // chunks of a ring whose content is kept, by range start
	byDone         // released chunks, by done time; or spare ones
)

type link struct{ prev, next *Chunk }

// list is a list of chunks, linked through the chunks themselves, so that
// adding one does not allocate.
type list struct {
	which       int // index of links
	first, last *Chunk
}

// insertAfter inserts c after at, or at the front if at is nil.
func (l *list) insertAfter(c, at *Chunk) {
	next := l.first
	if at != nil {
		next = at.links[l.which].next
	}
	c.links[l.which] = link{at, next}
	l.setNext(at, c)
	l.setPrev(next, c)
}

func (l *list) append(c *Chunk) { l.insertAfter(c, l.last) }

// insertByDone keeps the list sorted by done time. Of chunks that were done at
// the same time, the one that came first stays first.
func (l *list) insertByDone(c *Chunk) {
	at := l.last
	for at != nil && at.done() > c.done() {
		at = at.links[l.which].prev
	}
	l.insertAfter(c, at)
}

func (l *list) remove(c *Chunk) {
	k := c.links[l.which]
	c.links[l.which] = link{}
	l.setNext(k.prev, k.next)
	l.setPrev(k.next, k.prev)
}

// pop removes and returns the first chunk, nil if there is none.
func (l *list) pop() *Chunk {
	c := l.first
	if c != nil {
		l.remove(c)
	}
	return c
}

func (l *list) next(c *Chunk) *Chunk { return c.links[l.which].next }

func (l *list) setNext(c, next *Chunk) {
	if c == nil {
		l.first = next
	} else {
		c.links[l.which].next = next
	}
}

func (l *list) setPrev(c, prev *Chunk) {
	if c == nil {
		l.last = prev
	} else {
		c.links[l.which].prev = prev
	}
}
