package pack

import (
	"math/bits"

	"gprof/rawformat"
)

// transform is how the values of a column became its tokens.
type transform uint8

const (
	asTheyAre     transform = 0
	orSame        transform = 1 // 0 if the value is the lane's last one, else the value plus 1
	difference    transform = 2 // to the lane's last value, zig-zag
	fixed         transform = 3 // 8 bytes each
	content       transform = 4 // bytes, not tokens
	numTransforms           = 5
	candidates              = 3 // of which an encoder chooses
)

// column is what an encoder gathers: one value for each block that has the
// field, in each form that it may be stored in.
type column struct {
	id     uint16
	tokens [candidates][]uint64
	bytes  []byte // of content
	fixed  bool
}

// columnID names a column: the kind of block, and the slot of the field.
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

// largest is a value that has no place among the tokens of orSame. A block that
// holds it is stored as it is.
const largest = ^uint64(0)

// sint adds a value in its zig-zag form.
func (c *column) sint(v, prev uint64) {
	same := v + 1
	if v == prev {
		same = 0
	}
	c.add(v, same, rawformat.Zigzag(rawformat.Unzigzag(v)-rawformat.Unzigzag(prev)))
}

// time adds the difference to the time before in the chunk, and that to the
// lane's.
func (c *column) time(v uint64, lane int64) {
	c.tokens[asTheyAre] = append(c.tokens[asTheyAre], v)
	c.tokens[difference] = append(c.tokens[difference], rawformat.Zigzag(lane))
}

// plain adds a token that has no other form.
func (c *column) plain(v uint64) { c.tokens[asTheyAre] = append(c.tokens[asTheyAre], v) }

func (c *column) add(plain, same, diff uint64) {
	c.tokens[asTheyAre] = append(c.tokens[asTheyAre], plain)
	c.tokens[orSame] = append(c.tokens[orSame], same)
	c.tokens[difference] = append(c.tokens[difference], diff)
}

// choose returns the form that will be the smallest, to judge by the first
// values.
func (c *column) choose() transform {
	if len(c.bytes) > 0 {
		return content
	}
	if c.fixed {
		return fixed
	}
	best, least := asTheyAre, cost(c.tokens[asTheyAre])
	for _, t := range []transform{orSame, difference} {
		if len(c.tokens[t]) != len(c.tokens[asTheyAre]) {
			continue
		}
		if n := cost(c.tokens[t]); n < least {
			best, least = t, n
		}
	}
	return best
}

// judged is how many values decide on the form of a column.
const judged = 4096

// cost is about how many bits, times 256, tokens take when each of their bytes
// is coded by its frequency. It is computed in integers: every machine must come
// to the same choice.
func cost(tokens []uint64) (sum uint64) {
	var counts [maxPlanes][256]uint32
	var totals [maxPlanes]uint32
	for _, v := range tokens[:min(len(tokens), judged)] {
		p := 0
		for ; v >= 0x80; v >>= 7 {
			counts[p][byte(v)|0x80]++
			totals[p]++
			p++
		}
		counts[p][v]++
		totals[p]++
	}
	for p := range counts {
		if totals[p] == 0 {
			break
		}
		all := log2(totals[p])
		for _, n := range counts[p] {
			if n > 0 {
				sum += uint64(n) * (all - log2(n))
			}
		}
	}
	return sum
}

// log2 is about 256 times the logarithm.
func log2(n uint32) uint64 {
	whole := bits.Len32(n) - 1
	return uint64(whole)<<8 + (uint64(n)<<8>>whole - 256)
}

// maxPlanes is how many bytes a token may take.
const maxPlanes = 10

// appendPlanes appends the bytes of tokens by place: the first bytes of all,
// then the second bytes of those that have one, and so on.
func appendPlanes(planes *[maxPlanes][]byte, tokens []uint64) {
	for p := range planes {
		planes[p] = planes[p][:0]
	}
	for _, v := range tokens {
		p := 0
		for ; v >= 0x80; v >>= 7 {
			planes[p] = append(planes[p], byte(v)|0x80)
			p++
		}
		planes[p] = append(planes[p], byte(v))
	}
}
