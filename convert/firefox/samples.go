package firefox

import (
	"cmp"

	"gprof/convert/internal/jsontext"
	"gprof/convert/internal/pipeline"
	"gprof/stream"
)

// stackPiece is the stacks of some rows.
type stackPiece struct{ stacks []stream.StackID }

// appendTo appends the places of the stacks in the table, null for none.
func (p *stackPiece) appendTo(dst []byte) []byte {
	for _, id := range p.stacks {
		if id == 0 {
			dst = append(dst, "null,"...)
		} else {
			dst = append(jsontext.AppendUint(dst, uint64(id-1)), ',')
		}
	}
	return dst[:len(dst)-1]
}

func (s *Sink) beginSamples() {
	s.out.Key("samples")
	s.out.BeginObject()
	s.out.Key("stack")
	s.out.BeginArray()
}

func (s *Sink) samples(b *stream.Batch) {
	t, a := &s.thread, s.current()
	p := s.stackPieces.Get()
	p.stacks = append(p.stacks[:0], b.Stack...)
	for i, weight := range b.Weight {
		if weight <= 0 {
			p.stacks[i], weight = 0, 0
		}
		t.delta.add(int64(b.Time[i] - t.last))
		t.last = b.Time[i]
		t.cpu.add(known(b.CPU[i]))
		t.weight.add(weight)
		t.weighted = t.weighted || weight != 1
		a.samples += weight
		a.cpu += max(0, b.CPU[i])
	}
	s.endRows(t, p)
}

// endRows ends a batch of rows, of which p has the stacks.
func (s *Sink) endRows(t *thread, p *stackPiece) {
	n := len(p.stacks)
	t.rows += int64(n)
	t.delta.flush()
	t.cpu.flush()
	t.weight.flush()
	s.out.List(n, pipeline.Numbers, func(dst []byte) []byte {
		dst = p.appendTo(dst)
		s.stackPieces.Put(p)
		return dst
	})
}

// known is a CPU time, or none.
func known(cpu int64) int64 {
	if cpu < 0 {
		return none
	}
	return cpu
}

// endSamples writes the other columns. Without weights each sample counts 1.
func (s *Sink) endSamples() {
	t := &s.thread
	s.out.EndArray()
	s.writeColumn("timeDeltas", &t.delta, pipeline.Numbers, jsontext.AppendMillis)
	// Without this column the viewer would go through all stacks to judge how
	// busy the thread is; but looking for the busy times of an empty one, it
	// never ends.
	if t.rows > 0 {
		s.writeColumn("threadCPUDelta", &t.cpu, pipeline.Numbers, appendInt)
	}
	if t.weights == weighsTime {
		s.writeColumn("weight", &t.weight, pipeline.Text, jsontext.AppendMillis)
	} else if t.weighted || t.weights != "" {
		s.writeColumn("weight", &t.weight, pipeline.Text, appendInt)
	} else {
		t.weight.roll.Drain(func([]byte) {})
		s.out.Key("weight")
		s.out.Null()
	}
	s.out.Member("weightType", cmp.Or(t.weights, weighsSamples))
	s.out.Number("length", t.rows)
	s.out.EndObject()
}
