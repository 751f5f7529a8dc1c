package perf_test

import (
	"bytes"
	"encoding/binary"

	"github.com/klauspost/compress/zstd"
)

// wire builds little-endian bytes.
type wire []byte

func (w wire) u16(v uint16) wire { return binary.LittleEndian.AppendUint16(w, v) }
func (w wire) u32(all ...uint32) wire {
	for _, v := range all {
		w = binary.LittleEndian.AppendUint32(w, v)
	}
	return w
}
func (w wire) u64(all ...uint64) wire {
	for _, v := range all {
		w = binary.LittleEndian.AppendUint64(w, v)
	}
	return w
}

// text appends a text that fills a multiple of 8 bytes.
func (w wire) text(s string) wire {
	w = append(w, s...)
	return append(w, make([]byte, 8-len(s)%8)...)
}

// counted appends a text behind its size, as features have it.
func (w wire) counted(s string) wire {
	t := wire(nil).text(s)
	return append(w.u32(uint32(len(t))), t...)
}

// record is a record; its body is valid until the next read.
func record(kind uint32, misc uint16, body wire) wire {
	return append(wire(nil).u32(kind).u16(misc).u16(uint16(8+len(body))), body...)
}

// The file that tests read: a shell that forks a program with a thread, on two
// events, as perf_event_open(2) and perf.data-file-format.txt have it.
const (
	sampleType = 1 | 1<<1 | 1<<2 | 1<<5 | 1<<6 | 1<<8 // ip, tid, time, chain, id, period
	clockID    = 71
	faultID    = 72

	shell, program, helper = 10, 20, 21

	kernelText = 0xffffffff81000000
	markKernel = 1<<64 - 128
	markUser   = 1<<64 - 512
)

// with appends what records end with: whose and when they are, and of which event.
func (w wire) with(pid, tid uint32, time uint64) wire { return w.u32(pid, tid).u64(time, clockID) }

func mapped(pid uint32, time, at, size, offset uint64, build byte, name string) wire {
	w := wire(nil).u32(pid, pid).u64(at, size, offset)
	misc := uint16(2)
	if build != 0 {
		misc |= 1 << 14
		w = append(w, 20, 0, 0, 0)
		w = append(w, bytes.Repeat([]byte{build}, 20)...)
	} else {
		w = w.u64(0, 0, 0)
	}
	return record(10, misc, w.u32(5, 2).text(name).with(pid, pid, time))
}

func named(pid, tid uint32, time uint64, misc uint16, name string) wire {
	return record(3, misc, wire(nil).u32(pid, tid).text(name).with(pid, tid, time))
}

func born(pid, parent, tid uint32, time uint64) wire {
	return record(7, 0, wire(nil).u32(pid, parent, tid, parent).u64(time).with(pid, tid, time))
}

func ended(pid, tid uint32, time uint64) wire {
	return record(4, 0, wire(nil).u32(pid, pid, tid, tid).u64(time).with(pid, tid, time))
}

func sampled(id uint64, pid, tid uint32, time, period uint64, chain ...uint64) wire {
	return record(9, 2, wire(nil).u64(chain[0]).u32(pid, tid).u64(time, id, period, uint64(len(chain))).u64(chain...))
}

func switched(misc uint16, pid, tid uint32, time uint64) wire {
	return record(14, misc, wire(nil).with(pid, tid, time))
}

// records reads records one after the other.
func records() []wire {
	return []wire{
		record(1, 1, wire(nil).u32(1<<32-1, 0).u64(kernelText, 0x1000000, kernelText).text("[kernel.kallsyms]_text").with(0, 0, 0)),
		named(shell, shell, 0, 0, "sh"),
		mapped(shell, 0, 0x1000, 0x1000, 0, 0, "/bin/sh"),
		sampled(clockID, shell, shell, 1000, 500, 0x1010),
		born(program, shell, program, 2000),
		sampled(clockID, program, program, 2500, 500, 0x1020), // still the shell's code
		named(program, program, 3000, 1<<13, "pro gram"),
		sampled(clockID, program, program, 4000, 500, markUser, 0x401010, 0x401030),
		mapped(program, 3500, 0x400000, 0x10000, 0x2000, 0xab, "/bin/program"),
		born(program, program, helper, 4500),
		sampled(clockID, program, helper, 5000, 700, markKernel, kernelText+0x42, kernelText+0x50, markUser, 0x401010),
		record(68, 0, nil),
		switched(1<<13, program, helper, 6000),
		sampled(faultID, program, helper, 6001, 3, 0x401099),
		switched(0, program, helper, 9000),
		switched(1<<13|1<<14, program, program, 9500),
		record(2, 0, wire(nil).u64(clockID, 17).with(0, 0, 9600)),
		record(5, 0, wire(nil).u64(9700, clockID, 0).with(0, 0, 9700)),
		switched(0, program, program, 9900),
		record(68, 0, nil),
		sampled(clockID, 99, 99, 9950, 500, 0x77), // of whom nobody has told
		ended(program, helper, 9960),
		ended(program, program, 9970),
		record(68, 0, nil),
	}
}

// attr is a perf_event_attr, see perf_event_open(2).
func attr(kind uint32, config uint64) wire {
	return wire(nil).u32(kind, 64).u64(config, 499, sampleType, 0, 1<<10|1<<18).u64(0, 0)
}

// file is a mapped file.
func file(all ...wire) []byte { return fileWith(nil, all...) }

// fileWith builds one with some more features, which have no body.
func fileWith(more []uint, all ...wire) []byte {
	const front = 104
	ids := wire(nil).u64(clockID, faultID)
	attrs := append(attr(1, 0), wire(nil).u64(front, 8)...)
	attrs = append(append(attrs, attr(1, 2)...), wire(nil).u64(front+8, 8)...)
	data := bytes.Join(asBytes(all), nil)
	at := uint64(front + len(ids) + len(attrs))
	numbers := append([]uint{2, 3, 12, 29}, more...)
	bits := uint64(0)
	for _, n := range numbers {
		bits |= 1 << n
	}
	out := append(wire(nil), "PERFILE2"...).u64(front, 80, uint64(front+len(ids)), uint64(len(attrs)), at, uint64(len(data)), 0, 0, bits, 0, 0, 0)
	out = append(append(append(out, ids...), attrs...), data...)
	features := []wire{
		record(0, 1<<15, append(append(wire(nil).u32(1<<32-1), append(bytes.Repeat([]byte{0xcd}, 20), 20, 0, 0, 0)...), wire(nil).text("[kernel.kallsyms]")...)),
		wire(nil).counted("box"),
		append(wire(nil).u32(2, 64), append(append(append(attr(1, 0), wire(nil).u32(1).counted("cpu-clock:u")...).u64(clockID), attr(1, 2)...), wire(nil).u32(1).counted("page-faults")...)...),
		wire(nil).u32(1, 1).u64(1_700_000_000_000_000_000, 1000),
	}
	features = append(features, make([]wire, len(more))...)
	where := uint64(len(out) + 16*len(features))
	for _, f := range features {
		out = out.u64(where, uint64(len(f)))
		where += uint64(len(f))
	}
	return append(out, bytes.Join(asBytes(features), nil)...)
}

// piped builds what perf writes to a pipe.
func piped(all ...wire) []byte {
	out := append(wire(nil), "PERFILE2"...).u64(16)
	out = append(out, record(64, 0, append(attr(1, 0), wire(nil).u64(clockID)...))...)
	out = append(out, record(64, 0, append(attr(1, 2), wire(nil).u64(faultID)...))...)
	out = append(out, record(80, 0, wire(nil).u64(3).counted("box"))...)
	out = append(out, record(66, 0, wire(nil).u32(5, 0))...)
	out = append(out, "trace---"...) // 5 bytes, padded
	return append(out, bytes.Join(asBytes(all), nil)...)
}

// packed compresses records as perf record -z does: one stream, cut anywhere, which
// is not ended.
func packed(all ...wire) (out []wire) {
	var z bytes.Buffer
	w, _ := zstd.NewWriter(&z, zstd.WithEncoderConcurrency(1))
	for i, r := range all {
		w.Write(r)
		if i%4 == 3 || i == len(all)-1 {
			w.Flush()
			out = append(out, record(81, 0, bytes.Clone(z.Bytes())))
			z.Reset()
		}
	}
	return out
}

func asBytes(all []wire) (out [][]byte) {
	for _, w := range all {
		out = append(out, w)
	}
	return out
}
