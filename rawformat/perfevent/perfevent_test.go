package perfevent_test

import (
	"encoding/binary"
	"reflect"
	"slices"
	"testing"

	"gprof/rawformat/perfevent"
)

// body is that of a record, field by field.
type body []byte

func (b body) u64(vs ...uint64) body {
	for _, v := range vs {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	return b
}

func (b body) u32(vs ...uint32) body {
	for _, v := range vs {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	return b
}

// all is a layout with all fields that are known.
var all = perfevent.Layout{Sample: 1<<16 | 1<<10 - 1, Read: 1<<0 | 1<<1 | 1<<2, Flags: perfevent.FlagIDAll, Period: 7}

func sample() body {
	b := body{}.u64(99, 0x4711).u32(3, 4).u64(5000, 0xadd, 98, 97, 96)
	b = b.u64(250)             // period
	b = b.u64(1, 2, 3, 4)      // value, enabled, running, id
	return b.u64(2, 10, 1<<63) // chain
}

func TestSample(t *testing.T) {
	var s perfevent.Sample
	if !all.ParseSample(sample(), &s) {
		t.Fatal("too short")
	}
	if s.IP != 0x4711 || s.Pid != 3 || s.Tid != 4 || s.Time != 5000 || s.Period != 250 || !slices.Equal(s.Chain, []uint64{10, 1 << 63}) {
		t.Errorf("%+v", s)
	}
	for n := range sample() {
		if all.ParseSample(sample()[:n], &s) {
			t.Errorf("%d bytes of %d are a sample", n, len(sample()))
		}
	}
}

// The fields behind the call chain are read as far as they are there.
func TestUserParts(t *testing.T) {
	l := perfevent.Layout{Sample: perfevent.SampleRaw | perfevent.SampleBranches | perfevent.SampleUserRegs | perfevent.SampleUserStack, Branches: 1<<17 | 1<<19, UserRegs: 1<<33 - 1}
	regs := make([]uint64, 33)
	regs[32] = 0x4711
	b := body{}.u32(4, 0).u64(1, 0, 2, 3, 4, 5, 2).u64(regs...).u64(8, 0xaa, 8) // raw; a branch behind its index, and its counters
	for n := range len(b) + 1 {
		var s perfevent.Sample
		if !l.ParseSample(b[:n], &s) {
			t.Fatalf("%d bytes are no sample", n)
		}
		want := perfevent.Sample{Period: 1, Branches: n >= 56, Copied: n == len(b)}
		if n >= len(b)-24 {
			want.UserIP = 0x4711
		}
		if got := (perfevent.Sample{Period: s.Period, Branches: s.Branches, Copied: s.Copied, UserIP: s.UserIP}); !reflect.DeepEqual(got, want) {
			t.Errorf("%d bytes: %+v, want %+v", n, got, want)
		}
	}
}

func TestGroup(t *testing.T) {
	l := perfevent.Layout{Sample: perfevent.SampleRead, Read: 1<<1 | 1<<2 | 1<<3 | 1<<4} // running, ids, a group, lost
	b := body{}.u64(2, 100, 11, 1, 0, 22, 2, 0)
	var s perfevent.Sample
	if want := []perfevent.Value{{ID: 1, Value: 11}, {ID: 2, Value: 22}}; !l.ParseSample(b, &s) || !slices.Equal(s.Values, want) {
		t.Errorf("%v, want %v", s.Values, want)
	}
	if l.ParseSample(body{}.u64(1<<60, 100, 11, 1, 0), &s) {
		t.Error("more values than there are bytes are a sample")
	}
}

func TestTrailer(t *testing.T) {
	rest, end := all.SplitTrailer(append(body("name"), body{}.u32(3, 4).u64(5000, 1, 2, 3, 4)...))
	if string(rest) != "name" || end != (perfevent.Trailer{Pid: 3, Tid: 4, Time: 5000}) {
		t.Errorf("%q %+v", rest, end)
	}
}

func TestMapping(t *testing.T) {
	b := body{}.u32(3, 3).u64(0x1000, 0x2000, 0x40)
	b = append(b.u32(4, 0xddccbbaa).u64(0, 0).u64(5), "/bin/x\x00\x00"...)
	head := perfevent.Head{Kind: perfevent.KindMmap2, Misc: perfevent.MiscUser | perfevent.MiscMapBuildID}
	m, ok := perfevent.ParseMapping(head, b)
	if !ok || m.Pid != 3 || m.Start != 0x1000 || m.End != 0x3000 || m.Offset != 0x40 || m.Path != "/bin/x" || string(m.Build) != "\xaa\xbb\xcc\xdd" || m.Kernel {
		t.Errorf("%v %+v", ok, m)
	}
	head.Misc |= perfevent.MiscData
	if _, ok := perfevent.ParseMapping(head, b); ok {
		t.Error("data is code")
	}
}

func FuzzRecord(f *testing.F) {
	f.Add(uint32(perfevent.KindSample), uint16(1), all.Sample, all.Read, []byte(sample()))
	f.Add(uint32(perfevent.KindMmap2), uint16(1<<14), all.Sample, uint64(8), []byte(body{}.u64(1, 2, 3, 4, 255, 6, 7, 8)))
	f.Fuzz(func(t *testing.T, kind uint32, misc uint16, fields, read uint64, b []byte) {
		l := perfevent.Layout{Sample: fields, Read: read, Flags: uint64(misc) << 10}
		var s perfevent.Sample
		if l.ParseSample(b, &s); 8*(len(s.Chain)+len(s.Values)) > len(b) {
			t.Errorf("%d addresses and %d values of %d bytes", len(s.Chain), len(s.Values), len(b))
		}
		rest, _ := l.SplitTrailer(b)
		if m, ok := perfevent.ParseMapping(perfevent.Head{Kind: kind, Misc: misc}, rest); ok && m.End < m.Start {
			t.Errorf("%+v", m)
		}
		perfevent.ParseComm(misc, rest)
		perfevent.ParseTask(rest)
		perfevent.ParseLost(perfevent.Head{Kind: kind}, rest)
		if h, ok := perfevent.ParseHead(b); ok && h.Size < perfevent.HeadSize {
			t.Errorf("%+v", h)
		}
	})
}
