// Package inflate unpacks small gzip files that lie in memory, in two thirds of the time
// of a library that reads from anything: it never has to stop in the middle.
//
// It gives nothing rather than something wrong: what it does not take, such as a
// damaged file, one with several members or one that is cut short, is for a library
// to unpack, or to refuse.
package inflate

import (
	"encoding/binary"
	"hash/crc32"
	"slices"
)

const (
	headerBytes  = 10
	trailerBytes = 8
	// mostRatio is how much larger than packed a file can be.
	mostRatio = 1032
)

// Unpacker unpacks one file after the other, in the same memory. The zero Unpacker is
// ready to use.
type Unpacker struct {
	decoder decoder
	out     []byte
}

// Gunzip unpacks a file of one member; out is valid until the next call. It is not ok if
// the file is not such a one, is damaged, or becomes more than most bytes. If packed has
// no capacity for Slack bytes more, it is copied.
func (u *Unpacker) Gunzip(packed []byte, most int) (out []byte, ok bool) {
	if !plain(packed) {
		return nil, false
	}
	stream, trailer := packed[headerBytes:], packed[len(packed)-trailerBytes:]
	size := int64(binary.LittleEndian.Uint32(trailer[4:]))
	if size > int64(most) || size/mostRatio > int64(len(packed)) {
		return nil, false
	}
	u.out = slices.Grow(u.out[:0], int(size)+Slack)[:int(size)+Slack]
	d := &u.decoder
	d.begin(padded(stream), u.out)
	if !d.decode() || d.end() != len(stream)-trailerBytes || d.to != int(size) {
		return nil, false
	}
	out = u.out[:size]
	return out, crc32.ChecksumIEEE(out) == binary.LittleEndian.Uint32(trailer)
}

// plain reports whether a file may be of one member, whose header says nothing but
// its time and its system, as programs write them.
func plain(packed []byte) bool {
	return len(packed) >= headerBytes+trailerBytes && packed[0] == 0x1f && packed[1] == 0x8b && packed[2] == 8 && packed[3] == 0
}

// padded is data with Slack bytes behind it, whatever they are.
func padded(data []byte) []byte {
	if cap(data)-len(data) >= Slack {
		return data[:len(data)+Slack]
	}
	return append(slices.Clip(data), make([]byte, Slack)...)
}
