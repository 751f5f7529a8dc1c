package perfetto

import (
	"bytes"
	"encoding/binary"
	"io"
	"strings"
	"unicode/utf8"

	pb "gprof/rawformat/perfettoproto"
	"gprof/rawformat/protobuf"
	"gprof/stream"
)

// sequence is the number of the only sequence of packets.
const sequence = 1

// packets writes the packets of a trace.
type packets struct {
	out      io.Writer
	interned []byte // fields of InternedData for the next packet
	packet   []byte // scratch
	framed   []byte // not yet written
	failed   error
}

// flushSize is how many bytes are collected.
const flushSize = 64 << 10

// begin writes the first packet, with the clocks and defaults.
func (p *packets) begin(snapshot []byte, defaults ...[]byte) {
	packet := appendNumbers(nil, pb.PacketSequence, sequence, pb.PacketSequenceFlags, pb.StateCleared)
	packet = protobuf.AppendBytes(packet, pb.PacketClockSnapshot, snapshot)
	p.frame(packet)
	packet = appendNumbers(nil, pb.PacketSequence, sequence, pb.PacketSequenceFlags, pb.StateNeeded)
	packet = protobuf.AppendBytes(packet, pb.PacketDefaults, bytes.Join(defaults, nil))
	p.frame(packet)
}

// write writes a packet of some time with a payload.
func (p *packets) write(at stream.Time, field int, payload []byte) {
	p.finish(protobuf.AppendValue(p.packet[:0], pb.PacketTimestamp, timestamp(at)), field, payload)
}

// describe writes the description of a track, which has no time.
func (p *packets) describe(payload []byte) { p.finish(p.packet[:0], pb.PacketTrackDescriptor, payload) }

// finish writes a packet that has begun.
func (p *packets) finish(packet []byte, field int, payload []byte) {
	packet = appendNumbers(packet, pb.PacketSequence, sequence, pb.PacketSequenceFlags, pb.StateNeeded)
	if len(p.interned) > 0 {
		packet = protobuf.AppendBytes(packet, pb.PacketInternedData, p.interned)
		p.interned = p.interned[:0]
	}
	p.packet = protobuf.AppendBytes(packet, field, payload)
	p.frame(p.packet)
}

func (p *packets) frame(packet []byte) {
	p.framed = protobuf.AppendBytes(p.framed, pb.TracePacket, packet)
	if len(p.framed) >= flushSize {
		p.flush()
	}
}

// flush writes what is collected.
func (p *packets) flush() {
	if p.failed == nil {
		_, p.failed = p.out.Write(p.framed)
	}
	p.framed = p.framed[:0]
}

// intern adds a row of interned data, whose id is its first field.
func (p *packets) intern(field int, row []byte) {
	p.interned = protobuf.AppendBytes(p.interned, field, row)
}

// internText adds a text.
func (p *packets) internText(field int, id uint64, text string) {
	row := protobuf.AppendNumber(nil, pb.InternedID, id)
	p.intern(field, protobuf.AppendBytes(row, pb.InternedText, clean(text)))
}

// timestamp is a time as Perfetto has it, which is none before 1970.
func timestamp(at stream.Time) uint64 { return uint64(max(0, at)) }

// appendNumbers appends numeric fields, each a number and a value, but those that are 0.
func appendNumbers(dst []byte, fields ...uint64) []byte {
	for i := 0; i < len(fields); i += 2 {
		dst = protobuf.AppendNumber(dst, int(fields[i]), fields[i+1])
	}
	return dst
}

// appendMessage appends a field that is a message of numbers.
func appendMessage(dst []byte, field int, fields ...uint64) []byte {
	return protobuf.AppendBytes(dst, field, appendNumbers(nil, fields...))
}

// appendFixed appends a number of 8 bytes, 0 as well.
func appendFixed(dst []byte, field int, n uint64) []byte {
	return binary.LittleEndian.AppendUint64(protobuf.AppendTag(dst, field, protobuf.Fixed64), n)
}

// clean makes a text one that Protocol Buffers and SQL take: valid UTF-8 without zeros, which end texts there.
func clean(text string) string {
	if utf8.ValidString(text) && strings.IndexByte(text, 0) < 0 {
		return text
	}
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
}

// cleanBytes is clean of a text that is valid until the next change of its batch.
func cleanBytes(text []byte) []byte {
	if utf8.Valid(text) && bytes.IndexByte(text, 0) < 0 {
		return text
	}
	return []byte(clean(string(text)))
}
