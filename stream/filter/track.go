package filter

import (
	"fmt"

	"gprof/stream"
	"gprof/stream/redact"
)

// trackFilter keeps the events of tracks with certain names.
type trackFilter struct {
	tables  *stream.Tables
	names   Tracks
	redact  *redact.Redactor
	known   []choice // by TrackID
	matched bool
}

// ByTrack returns a Source of the events of src on tracks that names wants, and of those
// without a track in processes that may have such tracks. It ends with an [ErrNoMatch] if no track matches, which lists the
// names that there are, but for those that redact, if it is set, hides.
func ByTrack(src stream.Source, names Tracks, redact *redact.Redactor) stream.Source {
	o := &trackFilter{tables: src.Tables(), names: names, redact: redact}
	return newFilter(src, rule{name: "track", keep: o.keep, end: o.end})
}

func (o *trackFilter) keep(b *stream.Batch, rows []int32) []int32 {
	if b.Series.Kind.Tracked() && !o.wants(b.Series.Track) || !o.wantsProcess(b.Series.Process) {
		return rows
	}
	return allRows(b, rows)
}

func (o *trackFilter) wants(id stream.TrackID) bool {
	o.known = grown(o.known, int(id))
	if o.known[id] == unasked {
		o.tables.Lock()
		track := o.tables.Tracks.At(id)
		o.known[id] = chosen(o.names.Want(track.Name, o.tables.Process(track.Process).Pid))
		o.tables.Unlock()
	}
	o.matched = o.matched || o.known[id] == yes
	return o.known[id] == yes
}

func (o *trackFilter) wantsProcess(id stream.ProcessID) bool {
	o.tables.Lock()
	defer o.tables.Unlock()
	return o.names.WantProcess(o.tables.Process(id).Pid)
}

func (o *trackFilter) end(t *stream.Tables) error {
	if o.matched {
		return nil
	}
	var tracks []stream.Track
	for id := range o.known {
		if o.known[id] == no {
			tracks = append(tracks, t.Tracks.At(stream.TrackID(id)))
		}
	}
	names, hidden := o.redact.Readable(t, tracks)
	if hidden > 0 {
		names = append(names, fmt.Sprintf("(%d whose names are redacted)", hidden))
	}
	return NoMatch(fmt.Sprintf("no track with events is called %v", o.names), names)
}
