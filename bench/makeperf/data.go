package main

import (
	"bufio"
	"encoding/binary"
	"os"
)

// data writes a perf.data, see perf.data-file-format.txt: a header, one attr, records, and what is noted of the machine.
type data struct {
	file *os.File
	to   *bufio.Writer
	body wire   // of the record that is being made
	size uint64 // of the records
}

const (
	headerSize = 104
	attrSize   = 112
	dataAt     = headerSize + attrSize + 16 // behind the attr is where its ids are
)

func newData(f *os.File) *data {
	d := &data{file: f, to: bufio.NewWriterSize(f, 1<<20)}
	d.to.Write(make([]byte, dataAt)) // sizes are known at the end
	return d
}

// write writes a record of the body. An error stays with the writer until finish.
func (d *data) write(kind uint32, misc uint16) {
	n := 8 + len(d.body)
	d.to.Write(wire(d.to.AvailableBuffer()).u32(kind, uint32(misc)|uint32(n)<<16))
	d.to.Write(d.body)
	d.size += uint64(n)
	d.body = d.body[:0]
}

// finish writes what is noted of the machine, and the header.
func (d *data) finish() error {
	features := []struct {
		number int
		body   wire
	}{
		{3, wire{}.counted("host")},
		{4, wire{}.counted("6.18.0")}, // of the kernel
		{6, wire{}.counted("x86_64")},
		{7, wire{}.u32(cpus, cpus)},
		{12, append(wire{}.u32(1, attrSize), attr()...).u32(0).counted("cpu-clock")},
	}
	at, bits := dataAt+d.size+16*uint64(len(features)), uint64(0)
	var table, bodies wire
	for _, f := range features {
		bits |= 1 << f.number
		table = table.u64(at, uint64(len(f.body)))
		bodies = append(bodies, f.body...)
		at += uint64(len(f.body))
	}
	d.to.Write(append(table, bodies...))
	if err := d.to.Flush(); err != nil {
		return err
	}
	head := append(wire{}, "PERFILE2"...).u64(headerSize, attrSize+16, headerSize, attrSize+16, dataAt, d.size, 0, 0, bits, 0, 0, 0)
	_, err := d.file.WriteAt(append(head, attr()...), 0)
	return err
}

// attr is a perf_event_attr, see perf_event_open(2): cpu-clock, 1,000 times a second.
func attr() wire {
	const (
		software, clock = 1, 0
		fields          = 1 | 1<<1 | 1<<2 | 1<<5 | 1<<7 | 1<<8                        // ip, tid, time, chain, cpu, period
		flags           = 1<<8 | 1<<9 | 1<<10 | 1<<13 | 1<<18 | 1<<23 | 1<<24 | 1<<34 // mmap, comm, freq, task, sample_id_all, mmap2, comm_exec, build_id
	)
	w := wire{}.u32(software, attrSize).u64(clock, 1000, fields, 0, flags)
	return append(w, make([]byte, attrSize-len(w))...)
}

// wire appends little-endian fields.
type wire []byte

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

// text appends a text and as many zeros as end it at a multiple of 8 bytes.
func (w wire) text(s string) wire {
	w = append(w, s...)
	return append(w, make([]byte, 8-len(s)%8)...)
}

// counted appends a text behind its size.
func (w wire) counted(s string) wire {
	t := wire{}.text(s)
	return append(w.u32(uint32(len(t))), t...)
}
