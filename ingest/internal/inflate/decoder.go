package inflate

import "encoding/binary"

// decoder unpacks a stream of deflate (RFC 1951).
type decoder struct {
	// Behind the stream there are Slack bytes that are looked at, and as many behind
	// what is unpacked that may be written to.
	src, dst []byte
	from, to int

	bits uint64 // that were taken from src and are not used up, the next one lowest
	n    uint   // how many of them there are, at least

	literals, distances table
	lengths             [maxLiterals + maxDistances]uint8
}

// Slack is how many bytes are read and written at a time.
const Slack = 8

func (d *decoder) begin(src, dst []byte) {
	d.src, d.dst, d.from, d.to, d.bits, d.n = src, dst, 0, 0, 0, 0
}

// decode unpacks blocks up to the last one. It is not ok if one is damaged, or there
// is no room for what is in it.
func (d *decoder) decode() (ok bool) {
	for last := uint64(0); last == 0; {
		if !d.fill() {
			return false
		}
		last = d.take(1)
		switch d.take(2) {
		case 0:
			ok = d.stored()
		case 1:
			ok = d.fixed() && d.block()
		case 2:
			ok = d.dynamic() && d.block()
		default:
			ok = false
		}
		if !ok {
			return false
		}
	}
	return true
}

// end is where in src what was used up ends.
func (d *decoder) end() int { return d.from - int(d.n/8) }

// fill makes at least 56 bits be there. It is not ok if src ends before.
func (d *decoder) fill() (ok bool) {
	if d.from > len(d.src)-Slack {
		return false
	}
	d.bits |= binary.LittleEndian.Uint64(d.src[d.from:]) << (d.n & 63)
	d.from += int(63-d.n) >> 3
	d.n |= 56
	return true
}

// take uses up some bits, which are there.
func (d *decoder) take(n uint) uint64 {
	v := d.bits & (1<<n - 1)
	d.bits >>= n
	d.n -= n
	return v
}

// stored copies a block that is not packed.
func (d *decoder) stored() bool {
	d.take(d.n & 7)
	from := d.end()
	size := int(binary.LittleEndian.Uint16(d.src[from:]))
	if size^0xffff != int(binary.LittleEndian.Uint16(d.src[from+2:])) {
		return false
	}
	from += 4
	if size > len(d.src)-from || size > len(d.dst)-Slack-d.to {
		return false
	}
	d.to += copy(d.dst[d.to:], d.src[from:from+size])
	d.from, d.bits, d.n = from+size, 0, 0
	return true
}

// block unpacks the symbols of a block whose tables are there.
//
// It has what it works with in variables of its own, which the compiler keeps in
// registers.
func (d *decoder) block() (ok bool) {
	src, dst, from, to, bits, n := d.src, d.dst, d.from, d.to, d.bits, d.n
	literals, distances := &d.literals.entries, &d.distances.entries
	for to <= len(dst)-Slack && from <= len(src)-Slack {
		// As in fill: enough for all codes and what belongs to them.
		bits |= binary.LittleEndian.Uint64(src[from:]) << (n & 63)
		from += int(63-n) >> 3
		n |= 56

		e := literals[bits&(1<<tableBits-1)]
		if e.kind() == further {
			e = literals[e.sub(bits)]
		}
		bits >>= e.size()
		n -= e.size()
		if e.kind() == literal {
			dst[to] = byte(e.value())
			to++
			continue
		}
		if e.kind() != base {
			ok = e.kind() == end
			break
		}
		length := int(e.value()) + int(bits&(1<<e.extra()-1))
		bits >>= e.extra()
		n -= e.extra()

		e = distances[bits&(1<<tableBits-1)]
		if e.kind() == further {
			e = distances[e.sub(bits)]
		}
		bits >>= e.size()
		n -= e.size()
		distance := int(e.value()) + int(bits&(1<<e.extra()-1))
		bits >>= e.extra()
		n -= e.extra()
		if e.kind() != base || distance > to || length > len(dst)-Slack-to {
			break
		}
		repeat(dst[to-distance:to+length+Slack], distance)
		to += length
	}
	d.from, d.to, d.bits, d.n = from, to, bits, n
	return ok
}

// repeat makes all behind the first distance bytes of s, and before its last Slack
// bytes, a repetition of them. It may write into those.
func repeat(s []byte, distance int) {
	if distance < Slack {
		for i := distance; i < len(s)-Slack; i++ {
			s[i] = s[i-distance]
		}
		return
	}
	for i := distance; i < len(s)-Slack; i += Slack {
		binary.LittleEndian.PutUint64(s[i:], binary.LittleEndian.Uint64(s[i-distance:]))
	}
}
