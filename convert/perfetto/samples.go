package perfetto

import (
	pb "gprof/rawformat/perfettoproto"
	"gprof/rawformat/protobuf"
	"gprof/stream"
)

// samples is what is known of the samples of a track so far.
type samples struct {
	cpu     int64       // ns of CPU time
	at      stream.Time // of the last sample with some
	written stream.Time // of the last value of the counter
	counter uint64      // its track, 0 if there is none yet
	behind  bool        // cpu is not written
}

const (
	// maxRepeats is how many samples one row becomes at most.
	maxRepeats = 10_000
	// cpuEvery is how far values of the CPU time are apart at least, in ns.
	cpuEvery = 10_000_000
)

// sampleDefaults says what samples are of.
func (s *Sink) sampleDefaults() []byte {
	timebase := appendNumbers(nil, pb.TimebasePeriod, uint64(intervalOf(s.tables)), pb.TimebaseCounter, pb.CPUClock)
	timebase = protobuf.AppendBytes(timebase, pb.TimebaseName, "samples")
	return protobuf.AppendBytes(nil, pb.DefaultsPerfSample, protobuf.AppendBytes(nil, pb.SampleTimebase, timebase))
}

// intervalOf is the shortest time between samples in ns, 0 if it is unknown.
func intervalOf(t *stream.Tables) (shortest int64) {
	for i := range t.Processes {
		if of := t.Processes[i].Interval; of > 0 && (shortest == 0 || of < shortest) {
			shortest = of
		}
	}
	return shortest
}

// addSamples writes samples, each as often as it stands for.
func (s *Sink) addSamples(b *stream.Batch) {
	var body []byte
	cut, owned := int64(0), int64(0)
	for i, at := range b.Time {
		s.addCPU(at, b.CPU[i])
		if o := b.Owner(i); o.Goroutine != 0 || o.Labels != 0 {
			owned++
		}
		if b.Weight[i] <= 0 {
			continue // it has CPU time alone
		}
		body = appendNumbers(body[:0], pb.SamplePid, s.thread.pid, pb.SampleTid, s.thread.tid,
			pb.SampleCallstack, s.code.stack(b.Stack[i]), pb.SampleCPUMode, pb.UserMode)
		for range min(b.Weight[i], maxRepeats) {
			s.write(at, pb.PacketPerfSample, body)
		}
		cut += max(0, b.Weight[i]-maxRepeats)
	}
	if cut > 0 {
		s.lost.Add(s.process, stream.ReasonCut, "samples", cut)
	}
	if owned > 0 {
		s.lost.Add(s.process, stream.ReasonNoPlace, "goroutines and labels of samples", owned)
	}
}

// addCPU adds to the CPU time of the thread, a counter that has a value now and then.
func (s *Sink) addCPU(at stream.Time, ns int64) {
	c := &s.samples
	if ns <= 0 {
		return
	}
	if c.counter == 0 {
		c.counter = s.child(s.thread.uuid, "CPU time", appendMessage(nil, pb.TrackCounter, pb.CounterUnit, pb.UnitNanoseconds)...)
		c.written = at - cpuEvery
	}
	c.cpu, c.at, c.behind = c.cpu+ns, at, true
	if at-c.written >= cpuEvery {
		s.writeCPU()
	}
}

func (s *Sink) writeCPU() {
	c := &s.samples
	s.count(c.at, c.counter, c.cpu)
	c.written, c.behind = c.at, false
}

// endCPU writes the last value.
func (s *Sink) endCPU() {
	if s.samples.behind {
		s.writeCPU()
	}
}

// addWeighted writes waits and measurements as instants with a stack and a value.
func (s *Sink) addWeighted(b *stream.Batch) {
	kind := "waits"
	if b.Series.Kind == stream.Measurements {
		kind = s.tables.Counters.At(b.Series.Counter).Name
	}
	track := s.below(kind)
	event := protobuf.AppendNumber(nil, pb.EventType, pb.Instant)
	event = protobuf.AppendNumber(event, pb.EventTrack, track)
	event = protobuf.AppendNumber(event, pb.EventCategory, s.names.number(pb.InternedCategory, b.Series.Kind.String()))
	event = protobuf.AppendNumber(event, pb.EventNameID, s.names.number(pb.InternedEventName, kind))
	owner := s.ownerNamesOf(new(stream.Event))
	value, number := s.names.number(pb.InternedAnnotationName, "value"), s.names.number(pb.InternedAnnotationName, "number")
	var body []byte
	for i, at := range b.Time {
		body = append(body[:0], event...)
		body = protobuf.AppendNumber(body, pb.EventCallstack, s.code.stack(b.Stack[i]))
		body = appendInt(body, value, b.Value[i])
		if n := b.Number[i]; n != 0 {
			body = appendInt(body, number, n)
		}
		s.write(at, pb.PacketTrackEvent, s.appendOwner(body, owner, b.Owner(i)))
	}
}

// below is a track below the thread, for rows of a kind.
func (s *Sink) below(kind string) uint64 {
	if s.thread.below == 0 || s.thread.kind != kind {
		s.thread.below, s.thread.kind = s.child(s.thread.uuid, kind), kind
	}
	return s.thread.below
}
