package perfetto

import (
	"cmp"
	"slices"

	"gprof/convert/internal/totals"
	pb "gprof/rawformat/perfettoproto"
	"gprof/rawformat/protobuf"
	"gprof/stream"
)

// addAllocations adds allocations to the heap of the process.
func (s *Sink) addAllocations(b *stream.Batch) {
	s.lost.LoseLabels(b)
	addressed := int64(0)
	for _, address := range b.Address {
		if address != 0 {
			addressed++
		}
	}
	if addressed > 0 {
		s.lost.Add(s.process, stream.ReasonNoPlace, "addresses of allocations", addressed)
	}
	s.lost.Add(s.process, stream.ReasonNoPlace, "times of allocations", int64(b.Len()))
	s.heap.Add(b)
}

// heapDump is where the heap of a process waits in the file. Perfetto wants them numbered in the order of time.
type heapDump struct {
	at       stream.Time
	from, to int64
}

// dump keeps the heap of a process as it was at the end.
func (s *Sink) dump(all *totals.Part) {
	p := s.tables.Process(all.Process)
	at := max(p.Start, p.End)
	dump := protobuf.AppendNumber(nil, pb.DumpPid, uint64(s.numbers.Pids[all.Process]))
	dump = protobuf.AppendBytes(dump, pb.DumpHeap, "heap")
	dump = protobuf.AppendNumber(dump, pb.DumpTime, s.clock.toMonotonic(at))
	for t := range all.All() {
		stack := s.code.stack(t.Stack)
		if stack == 0 {
			stack = s.code.noStack()
		}
		dump = appendMessage(dump, pb.DumpSample, pb.HeapCallstack, stack, pb.HeapTime, s.clock.toMonotonic(at),
			pb.HeapAllocated, uint64(t.Allocated.Bytes), pb.HeapFreed, uint64(t.Freed.Bytes),
			pb.HeapAllocCount, uint64(t.Allocated.Objects), pb.HeapFreeCount, uint64(t.Freed.Objects))
	}
	from := s.heapFile.Size()
	s.heapFile.Write(dump) // the file keeps the error
	s.dumps = append(s.dumps, heapDump{at, from, s.heapFile.Size()})
}

// writeHeaps writes the heaps of all processes.
func (s *Sink) writeHeaps() {
	slices.SortStableFunc(s.dumps, func(a, b heapDump) int { return cmp.Compare(a.at, b.at) })
	for i, d := range s.dumps {
		dump := make([]byte, d.to-d.from)
		if _, err := s.heapFile.ReadAt(dump, d.from); err != nil {
			return // the file keeps the error
		}
		profile := protobuf.AppendBytes(nil, pb.ProfileDump, dump)
		s.write(d.at, pb.PacketProfile, protobuf.AppendNumber(profile, pb.ProfileIndex, uint64(i)))
	}
}
