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
// values, and whether all tokens should be as wide as the widest.
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

// cost is about how many bits, times 256, tokens take when each of their bytes
// is coded by its frequency. It is computed in integers: every machine must come
// to the same choice.
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

// bounds returns what all tokens but 0 are larger than, and the largest.
func bounds(tokens []uint64) (base, most uint64) {
	base = largest
	for _, v := range tokens {
		if v != 0 {
			base, most = min(base, v-1), max(most, v)
		}
	}
	return min(base, most), most
}

// frequencyCost is the cost of bytes that are there so often.
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

// width is how many bytes a token takes, 0 for 0.
func width(v uint64) int { return (bits.Len64(v) + 7) / 8 }

// log2 is about 256 times the logarithm.
func log2(n uint32) uint64 {
	whole := bits.Len32(n) - 1
	return uint64(whole)<<8 + (uint64(n)<<8>>whole - 256)
}

// maxPlanes is that of the widths of tokens, and of 8 bytes.
const maxPlanes = 9

// appendPlanes appends the widths of tokens less their base, then their bytes by
// place: the lowest of all that have one, then the next. None is less wide than
// least.
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
