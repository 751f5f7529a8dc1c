package recorder

import "gprof/rawformat"

// Drops counts what was dropped since the recorder was started, by reason. What
// was dropped is counted before the marker's call returns.
type Drops struct {
	NoChunk    uint64 // no chunk was free
	Busy       uint64 // all writers were taken
	TooBig     uint64 // larger than a block may be
	Dictionary uint64 // the dictionary was full, or could not be written
	Samples    uint64 // CPU samples that could not be taken or stored
	Labels     uint64 // label frames of goroutines for which there was no room
	Cut        uint64 // files that somebody else cut short while they were written; what was in them is not counted
}

// Markers is how many markers were dropped.
func (d Drops) Markers() uint64 { return d.NoChunk + d.Busy + d.TooBig + d.Dictionary }

// Drops is what was dropped until now; nothing for nil. It costs some loads.
func (r *Recorder) Drops() Drops {
	if r == nil {
		return Drops{}
	}
	return Drops{
		NoChunk:    r.lost[rawformat.LostNoChunk].count.Load(),
		Busy:       r.lost[rawformat.LostBusy].count.Load(),
		TooBig:     r.lost[rawformat.LostTooBig].count.Load(),
		Dictionary: r.lost[rawformat.LostDictionary].count.Load(),
		Samples:    r.lost[rawformat.LostSamples].count.Load(),
		Labels:     r.lost[rawformat.LostLabels].count.Load(),
		Cut:        r.lost[rawformat.LostCut].count.Load(),
	}
}
