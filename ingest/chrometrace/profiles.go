package chrometrace

import (
	"gprof/ingest/internal/jsonfile"
	"gprof/ingest/internal/v8"
	"gprof/stream"
)

// profiles are the CPU profiles of V8 in a trace, by process and id.
type profiles struct {
	known map[string]*profile
	all   []*profile // by first use
	more  int64      // samples of more profiles than are kept
}

type profile struct {
	line    *line
	samples *v8.Samples
	nodes   v8.Nodes
	begun   bool // at is the time of the last sample, or the start
	start   int64
	at      int64
	end     int64
	count   int64
}

// maxProfiles bounds them.
const maxProfiles = 1 << 10

func (p *profiles) bytes() (n int64) {
	for _, of := range p.all {
		n += int64(of.samples.Tree.Len()) * v8.NodeBytes
	}
	return n
}

// profile takes an event of a CPU profile, and reports whether it was one.
func (s *source) profile(e *event, l *line) bool {
	name := string(e.name)
	if name != `"Profile"` && name != `"ProfileChunk"` {
		return false
	}
	p := s.profileOf(e, l)
	each(e.args, func(key string, data []byte) {
		if key != "data" {
			return
		}
		if p == nil {
			s.profiles.more++
			return
		}
		s.chunk(p, e, data)
	})
	return true
}

// profileOf is the profile of an event; nil if there are too many. It is of the thread of its first event.
func (s *source) profileOf(e *event, l *line) *profile {
	key := string(e.pid) + " " + string(e.identity())
	if p, ok := s.profiles.known[key]; ok {
		return p
	}
	if len(s.profiles.all) == maxProfiles {
		return nil
	}
	if s.profiles.known == nil {
		s.profiles.known = map[string]*profile{}
	}
	p := s.newProfile(l)
	s.profiles.known[key] = p
	return p
}

func (s *source) newProfile(l *line) *profile {
	p := &profile{line: l, samples: v8.NewSamples(s.tables, &s.rows, l.process, l.track, l.tid)}
	p.nodes = v8.Nodes{Tree: p.samples.Tree, Room: func() bool { return true }}
	s.profiles.all = append(s.profiles.all, p)
	return p
}

// chunk reads a part of a profile.
func (s *source) chunk(p *profile, e *event, data []byte) {
	var samples, deltas, lines, columns []byte
	each(data, func(key string, value []byte) {
		switch key {
		case "startTime":
			s.start(p, value)
		case "endTime":
			p.end, _ = timeOf(value, &s.odd)
		case "timeDeltas":
			deltas = value
		case "lines":
			lines = value
		case "columns":
			columns = value
		case "cpuProfile":
			each(value, func(key string, value []byte) {
				switch key {
				case "nodes":
					in := jsonfile.Bytes(value, 0)
					if p.nodes.List(&in) != nil {
						p.nodes.Odd++
					}
				case "samples":
					samples = value
				case "timeDeltas":
					deltas = value
				case "startTime":
					s.start(p, value)
				case "endTime":
					p.end, _ = timeOf(value, &s.odd)
				}
			})
		}
	})
	if !p.begun {
		p.begun, p.start, p.at = true, e.at, e.at
	}
	s.addSamples(p, [4][]byte{samples, deltas, lines, columns})
}

func (s *source) start(p *profile, value []byte) {
	if at, ok := timeOf(value, &s.odd); ok && !p.begun {
		p.begun, p.start, p.at = true, at, at
	}
}

// addSamples adds the samples of a chunk: their nodes, times, lines and columns.
func (s *source) addSamples(p *profile, columns [4][]byte) {
	var lists [4]numbers
	for i, raw := range columns {
		lists[i] = numbersOf(raw)
	}
	for {
		node, ok := lists[0].next()
		if !ok {
			return
		}
		delta, timed := lists[1].next()
		if !timed || delta < -maxTime/1000 || delta > maxTime/1000 || p.at+delta*1000 < -maxTime || p.at+delta*1000 > maxTime {
			s.odd.samples++
			continue
		}
		p.at += delta * 1000
		p.count++
		line, _ := lists[2].next()
		column, _ := lists[3].next()
		p.samples.Add(v8.Sample{Node: node, At: s.zero + stream.Time(p.at), Line: place(line), Column: place(column)})
	}
}

func place(n int64) int32 {
	if n < 0 || n > 1<<30 {
		return 0
	}
	return int32(n)
}

// numbers reads a list of numbers.
type numbers struct {
	scan jsonfile.Scanner
	list bool
}

func numbersOf(raw []byte) (n numbers) {
	if len(raw) > 0 && raw[0] == '[' {
		n.scan, n.list = jsonfile.Bytes(raw, 0), true
		n.scan.Array()
	}
	return n
}

func (n *numbers) next() (int64, bool) {
	if !n.list || !n.scan.More() {
		return 0, false
	}
	value, ok := jsonfile.Int(n.scan.Raw())
	return value, ok
}

// wholeProfile takes an event that has a profile as a whole, as Chrome wrote it until 2016.
func (s *source) wholeProfile(e *event, l *line) bool {
	if string(e.name) != `"CpuProfile"` {
		return false
	}
	if len(s.profiles.all) == maxProfiles {
		s.profiles.more++
		return true
	}
	p := s.newProfile(l)
	each(e.args, func(key string, data []byte) {
		if key == "data" {
			s.chunk(p, e, data)
		}
	})
	return true
}

// endProfiles ends all profiles, and tells what was odd.
func (s *source) endProfiles() {
	for _, p := range s.profiles.all {
		last := max(p.end, p.at)
		p.samples.End(s.zero + stream.Time(last))
		process := s.tables.Process(p.line.process)
		p.samples.Tell(&s.tables.Ledger, process.InstanceName())
		s.lose(stream.ReasonMalformed, "nodes", "", p.nodes.Odd)
		s.lose(stream.ReasonUnsupported, "reasons", "for which a function lost its optimized code", p.nodes.Reasons)
		s.lose(stream.ReasonUnsupported, "lines of samples", "of functions that were sampled in several", p.nodes.Lines)
		process.CPU = "V8"
		if process.Interval == 0 && p.count > 0 {
			process.Interval = max(0, last-p.start) / p.count
		}
	}
}
