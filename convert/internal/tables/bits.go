package tables

// bits is a set of numbers above 0; 0 may be set, and is none.
type bits []uint64

func newBits(max int) bits    { return make(bits, max/64+1) }
func (b bits) set(i int)      { b[i/64] |= 1 << (i % 64) }
func (b bits) has(i int) bool { return b[i/64]>>(i%64)&1 != 0 }

// rising calls visit for each number, the lowest first. Of a large set that has
// few of them it looks at little.
func (b bits) rising(visit func(i int)) {
	for w, word := range b {
		for i := 64 * w; word != 0; i, word = i+1, word>>1 {
			if word&1 != 0 && i > 0 {
				visit(i)
			}
		}
	}
}

// falling is rising from the highest down. visit may set lower numbers, which
// are visited, too.
func (b bits) falling(visit func(i int)) {
	for w := len(b) - 1; w >= 0; w-- {
		for i := 64*w + 63; i >= 64*w && b[w] != 0; i-- {
			if b.has(i) && i > 0 {
				visit(i)
			}
		}
	}
}
