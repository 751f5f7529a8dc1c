package pack

import (
	"math/bits"

	"gprof/rawformat"
)

// transform is how the values of a column become its tokens.
type transform uint8

const (
	asTheyAre     transform = 0
	orSame        transform = 1 // 0 for the lane's last value, else the value plus 1
	difference    transform = 2 // to the lane's last value, zigzag
	fixed         transform = 3 // 8 bytes each
	content       transform = 4 // bytes, not tokens
	numTransforms           = 5
	candidates              = 3 // that an encoder chooses from
)

// column collects one value for each block that has the field, in each candidate form.
type column struct {
	id     uint16
	tokens [candidates][]uint64
	bytes  []byte // of content
	fixed  bool
}

// columnID is a kind of block and a field's slot.
func columnID(kind rawformat.Kind, slot int) uint16 { return uint16(kind)<<8 | uint16(slot) }

func (c *column) reset() {
	for i := range c.tokens {
		c.tokens[i] = c.tokens[i][:0]
	}
	c.bytes = c.bytes[:0]
}

// uint adds a value; prev is the lane's last one.
func (c *column) uint(v, prev uint64) {
	same := v + 1
	if v == prev {
		same = 0
	} else if same == 0 {
		same = v // see largest
	}
	c.add(v, same, rawformat.Zigzag(int64(v-prev)))
}

// largest has no token in orSame: a block with it is stored as it is.
const largest = ^uint64(0)

// sint adds a value in zigzag form.
func (c *column) sint(v, prev uint64) {
	same := v + 1
	if v == prev {
		same = 0
	}
	c.add(v, same, rawformat.Zigzag(rawformat.Unzigzag(v)-rawformat.Unzigzag(prev)))
}

// time adds the differences to the chunk's and the lane's last time.
func (c *column) time(v uint64, lane int64) {
	c.tokens[asTheyAre] = append(c.tokens[asTheyAre], v)
	c.tokens[difference] = append(c.tokens[difference], rawformat.Zigzag(lane))
}

// plain adds a token that has only one form.
func (c *column) plain(v uint64) { c.tokens[asTheyAre] = append(c.tokens[asTheyAre], v) }

func (c *column) add(plain, same, diff uint64) {
	c.tokens[asTheyAre] = append(c.tokens[asTheyAre], plain)
	c.tokens[orSame] = append(c.tokens[orSame], same)
	c.tokens[difference] = append(c.tokens[difference], diff)
}

// choose returns the form with the smallest estimated size, judged by the first values, and whether
// all tokens should get the width of the widest.
func (c *column) choose() (best transform, wide bool) {
	if len(c.bytes) > 0 {
		return content, false
	}
	if c.fixed {
		return fixed, false
	}
	least := ^uint64(0)
	for t := range transform(candidates) {
		if len(c.tokens[t]) != len(c.tokens[asTheyAre]) {
			continue
		}
		tokens := c.tokens[t][:min(len(c.tokens[t]), judged)]
		base, most := bounds(tokens)
		if n := cost(tokens, base, 0); n < least {
			best, wide, least = t, false, n
		}
		if n := cost(tokens, base, width(most-base)); n < least {
			best, wide, least = t, true, n
		}
	}
	return best, wide
}

// judged is how many values decide on the form of a column.
const judged = 4096

// cost estimates the bits, times 256, of entropy-coding each byte of the tokens. It uses integers,
// so that every machine makes the same choice.
func cost(tokens []uint64, base uint64, least int) (sum uint64) {
	var counts [maxPlanes][256]uint32
	for _, v := range tokens {
		v -= min(v, base)
		n := max(width(v), least)
		counts[0][n]++
		for p := 1; p <= n; p++ {
			counts[p][byte(v)]++
			v >>= 8
		}
	}
	for p := range counts {
		sum += frequencyCost(&counts[p])
	}
	return sum
}

// bounds returns a lower bound of all tokens except 0, and the largest.
func bounds(tokens []uint64) (base, most uint64) {
	base = largest
	for _, v := range tokens {
		if v != 0 {
			base, most = min(base, v-1), max(most, v)
		}
	}
	return min(base, most), most
}

// frequencyCost is the cost of bytes with these frequencies.
func frequencyCost(counts *[256]uint32) (sum uint64) {
	var total uint32
	for _, n := range counts {
		total += n
	}
	if total == 0 {
		return 0
	}
	all := log2(total)
	for _, n := range counts {
		if n > 0 {
			sum += uint64(n) * (all - log2(n))
		}
	}
	return sum
}

// width is the bytes of a token, 0 for 0.
func width(v uint64) int { return (bits.Len64(v) + 7) / 8 }

// log2 is about 256 times the binary logarithm.
func log2(n uint32) uint64 {
	whole := bits.Len32(n) - 1
	return uint64(whole)<<8 + (uint64(n)<<8>>whole - 256)
}

// maxPlanes is the plane of widths, and 8 of bytes.
const maxPlanes = 9

// appendPlanes appends the widths of tokens less their base, then their bytes by significance, the
// lowest first. No width is less than least.
func appendPlanes(planes *[maxPlanes][]byte, tokens []uint64, base uint64, least int) {
	for p := range planes {
		planes[p] = planes[p][:0]
	}
	for _, v := range tokens {
		v -= min(v, base)
		n := max(width(v), least)
		planes[0] = append(planes[0], byte(n))
		for p := 1; p <= n; p++ {
			planes[p] = append(planes[p], byte(v))
			v >>= 8
		}
	}
}

// numSlots is how many values a lane remembers: of 16 fields and 16 arguments.
const numSlots = 32

// lane is the last values of the blocks of one thread, event or counter. The next ones are often
// the same, or slightly more.
type lane struct {
	key  [2]uint64
	time uint64
	last [numSlots]uint64
	text [numSlots][]byte
}

// maxLanes bounds the lanes of a kind; the least recently used ones are forgotten.
const maxLanes = 128

// lanes are those of a kind of block, the most recently used first.
type lanes struct {
	order []*lane
	free  []*lane
}

func (l *lanes) reset() {
	l.free = append(l.free, l.order...)
	l.order = l.order[:0]
}

// find returns the rank of the lane with a key, -1 if there is none.
func (l *lanes) find(key [2]uint64) int {
	for i, x := range l.order {
		if x.key == key {
			return i
		}
	}
	return -1
}

// use moves a lane to the front.
func (l *lanes) use(rank int) *lane {
	x := l.order[rank]
	copy(l.order[1:rank+1], l.order[:rank])
	l.order[0] = x
	return x
}

// add inserts a lane at the front.
func (l *lanes) add(key [2]uint64) *lane {
	var x *lane
	switch n := len(l.order); {
	case n == maxLanes:
		x = l.order[n-1]
		l.order = l.order[:n-1]
	case len(l.free) > 0:
		x = l.free[len(l.free)-1]
		l.free = l.free[:len(l.free)-1]
	default:
		x = new(lane)
	}
	*x = lane{key: key}
	l.order = append(l.order, nil)
	copy(l.order[1:], l.order)
	l.order[0] = x
	return x
}

// keys are the fields that identify a lane: number of them from field from on. Kinds of one group
// share lanes.
type keys struct {
	group        rawformat.Kind
	from, number int
}

// keysOf has the kinds with more than one lane.
var keysOf = [256]keys{
	rawformat.KindContext:    {rawformat.KindContext, 0, 1},
	rawformat.KindSample:     {rawformat.KindSample, 1, 2},
	rawformat.KindSameSample: {rawformat.KindSample, 1, 2},
	rawformat.KindInstant:    {rawformat.KindInstant, 0, 1},
	rawformat.KindInterval:   {rawformat.KindInterval, 0, 1},
	rawformat.KindStart:      {rawformat.KindStart, 0, 1},
	rawformat.KindEnd:        {rawformat.KindEnd, 0, 1},
	rawformat.KindPlaced:     {rawformat.KindPlaced, 0, 1},
	rawformat.KindCounter:    {rawformat.KindCounter, 1, 1},
}

// slotOf is the slot of a field: a repeated sample shares some with samples.
func slotOf(k rawformat.Kind, field int) int {
	if k == rawformat.KindSameSample && field > 2 {
		return field + 2 // weight and cpu
	}
	return field
}

// argSlot is the slot of an argument.
func argSlot(i int) int { return 16 + i }
