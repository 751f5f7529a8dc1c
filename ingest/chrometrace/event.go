package chrometrace

import (
	"gprof/ingest/internal/jsonfile"
)

// event is one of a trace. Texts and objects are as they stand in the file.
type event struct {
	phase                          byte
	name, cat, pid, tid, args      []byte
	id, local, global, scope, bind []byte // of what spans several events
	where                          []byte // scope of a moment: g, p or t
	frame, stack                   []byte // number in the table of frames, or frames as texts
	flowIn, flowOut                bool
	timed, lasts                   bool  // there is a time, a duration
	at, duration                   int64 // ns
	busy                           int64 // ns of CPU time, if above 0
	clock, colored, ended          bool  // has members without a place
}

// odd counts what is wrong with events, or has no place.
type odd struct {
	events, times, durations   int64
	clocks, orders, colors     int64
	stacks, fractions, numbers int64
	unpaired, samples          int64
	undefined                  int64
	members                    map[string]int64
	phases                     map[byte]int64
}

// maxOdd bounds the names of members that are counted by themselves.
const maxOdd = 64

func (o *odd) member(key string) {
	if o.members == nil {
		o.members = map[string]int64{}
	}
	if _, ok := o.members[key]; !ok && len(o.members) >= maxOdd {
		key = "others"
	}
	o.members[key]++
}

// parse reads an event. It reports whether it is one.
func (e *event) parse(raw []byte, o *odd) bool {
	*e = event{}
	if raw[0] != '{' {
		return false
	}
	s := jsonfile.Bytes(raw, 0)
	for s.Object(); ; {
		key, ok := s.Key()
		if !ok {
			break
		}
		if value := s.Raw(); value != nil {
			e.member(key, value, o)
		}
	}
	return s.Err() == nil && e.phase != 0
}

func (e *event) member(key, value []byte, o *odd) {
	switch string(key) {
	case "ph":
		if len(value) == 3 && value[0] == '"' {
			e.phase = value[1]
		}
	case "name":
		e.name = value
	case "cat":
		e.cat = value
	case "pid":
		e.pid = value
	case "tid":
		e.tid = value
	case "args":
		e.args = value
	case "ts":
		e.at, e.timed = timeOf(value, o)
	case "dur":
		e.duration, e.lasts = timeOf(value, o)
	case "tdur":
		e.busy, _ = timeOf(value, o)
	case "tts":
		e.clock = true
	default:
		e.rare(key, value, o)
	}
}

// rare is member for those that few events have.
func (e *event) rare(key, value []byte, o *odd) {
	switch string(key) {
	case "id":
		e.id = value
	case "id2":
		e.scoped(value)
	case "scope":
		e.scope = value
	case "s":
		e.where = value
	case "bind_id":
		e.bind = value
	case "flow_in":
		e.flowIn = string(value) == "true"
	case "flow_out":
		e.flowOut = string(value) == "true"
	case "bp", "use_async_tts":
	case "sf":
		e.frame = value
	case "stack":
		e.stack = value
	case "esf", "estack":
		e.ended = true
	case "cname":
		e.colored = true
	default:
		o.member(string(key))
	}
}

// scoped reads an id that says how far it is known.
func (e *event) scoped(raw []byte) {
	if raw[0] != '{' {
		return
	}
	s := jsonfile.Bytes(raw, 0)
	for s.Object(); ; {
		key, ok := s.Key()
		if !ok {
			return
		}
		switch string(key) {
		case "local":
			e.local = s.Raw()
		case "global":
			e.global = s.Raw()
		default:
			s.Skip()
		}
	}
}

// timeOf is a time in ns, of one in µs, which some write as a text.
func timeOf(value []byte, o *odd) (ns int64, ok bool) {
	if len(value) > 2 && value[0] == '"' {
		value = value[1 : len(value)-1]
	}
	ns, ok = jsonfile.Fixed(value, 3)
	if !ok || ns < -maxTime || ns > maxTime {
		o.times++
		return 0, false
	}
	return ns, true
}
