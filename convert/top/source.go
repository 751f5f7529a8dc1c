package top

import (
	"cmp"
	"slices"
	"strings"

	"gprof/convert/internal/calls"
	"gprof/stream"
)

// Listing is what the lines of a function took.
type Listing struct {
	Of        string     `json:"of"`
	Unit      string     `json:"unit,omitempty"`    // of a measure
	All       Amount     `json:"all"`               // of all samples
	Functions []Function `json:"functions"`         // of that name, those that took most first
	Similar   []string   `json:"similar,omitempty"` // if there is none: some that have the name in theirs
	Recorded  int64      `json:"recorded_ns"`       // when the earliest process began, since the epoch; 0 unknown
	Go        string     `json:"go,omitempty"`      // version, if all processes have the same

	table Table
}

// Function is a function in a file.
type Function struct {
	Name  string `json:"name"`
	File  string `json:"file"`
	Start int    `json:"start"` // the line at which it begins, 0 unknown
	Self  Amount `json:"self"`
	Total Amount `json:"total"`
	Lines []Line `json:"lines"` // that took something, in order

	// Found is where the file was found, and Missing why it has no text. They, and texts, are for a reader of files to fill in.
	Found   string `json:"found,omitempty"`
	Missing string `json:"missing,omitempty"`
	Note    string `json:"note,omitempty"` // why the text may be another
}

// Line is a line of a function. What was inlined there is part of its total.
type Line struct {
	Line  int    `json:"line"` // 0 unknown
	Self  Amount `json:"self"`
	Total Amount `json:"total"`
	Text  string `json:"text,omitempty"`
}

// Table tells what counts of the amounts.
func (l *Listing) Table() *Table { return &l.table }

// SourceSink makes a Listing.
type SourceSink struct {
	Listing *Listing // whole once Close has returned

	function string
	tables   *stream.Tables
	meter    calls.Meter
	places   []place // by key of lines
	owners   []place // by key of whole
	lines    *calls.Sums
	whole    *calls.Sums
}

// place is a function in a file, and a line of it.
type place struct {
	name, file  string
	start, line int32
}

// NewSource returns a Sink that sums up [Auto], or one of its kinds, by the lines of a function. Its name may lack
// what stands before a slash or a dot, such as the path of its package. The error is [ErrOf].
func NewSource(function, of string) (*SourceSink, error) {
	table, err := New("line", of)
	if err != nil {
		return nil, err
	}
	return &SourceSink{Listing: &Listing{Of: of, Functions: []Function{}, table: *table.Table}, function: function, meter: table.meter}, nil
}

// is reports whether a function is the wanted one.
func (s *SourceSink) is(name string) bool {
	rest, ok := strings.CutSuffix(name, s.function)
	return ok && (rest == "" || rest[len(rest)-1] == '/' || rest[len(rest)-1] == '.')
}

// maxSimilar bounds the names that are told of.
const maxSimilar = 5

// Begin prepares for the frames of t.
func (s *SourceSink) Begin(t *stream.Tables) error {
	s.tables = t
	s.places, s.owners = make([]place, 1), make([]place, 1)
	lineKeys, ownerKeys := map[place]calls.Key{}, map[place]calls.Key{}
	lines, owners := make([]calls.Key, t.Frames.Len()+1), make([]calls.Key, t.Frames.Len()+1)
	similar := map[string]bool{}
	for id := 1; id <= t.Frames.Len(); id++ {
		f := t.Frames.At(stream.FrameID(id))
		name := calls.Function(t, f)
		if !s.is(name) {
			if strings.Contains(name, s.function) {
				similar[name] = true
			}
			continue
		}
		at := place{name: name, file: t.Strings.At(f.File), start: f.Start}
		owners[id] = keyOf(ownerKeys, &s.owners, at)
		at.line = f.Line
		lines[id] = keyOf(lineKeys, &s.places, at)
	}
	for name := range similar {
		s.Listing.Similar = append(s.Listing.Similar, name)
	}
	slices.Sort(s.Listing.Similar)
	s.Listing.Similar = s.Listing.Similar[:min(maxSimilar, len(s.Listing.Similar))]
	start, golang := stream.Origin(t.Processes)
	s.Listing.Recorded, s.Listing.Go = int64(start), golang
	var err error
	if s.lines, err = calls.New(t, lines); err != nil {
		return err
	}
	if s.whole, err = calls.New(t, owners); err != nil {
		return err
	}
	s.Listing.table.choose(&s.meter, t)
	s.meter.Give = func(at calls.Place, a calls.Amount) {
		s.lines.AddAmount(at.Stack, a)
		s.whole.AddAmount(at.Stack, a)
	}
	l := s.Listing
	err = l.table.begin(&s.meter, t)
	l.Of, l.Unit = l.table.Of, l.table.Unit
	return err
}

func keyOf(keys map[place]calls.Key, all *[]place, at place) calls.Key {
	key, ok := keys[at]
	if !ok {
		key = calls.Key(len(*all))
		keys[at] = key
		*all = append(*all, at)
	}
	return key
}

// Needs implements [stream.Summer].
func (s *SourceSink) Needs(k stream.Kind, t *stream.Tables) stream.Need {
	return s.Listing.table.needs(&s.meter, k, t)
}

// Sums implements [stream.Summer].
func (s *SourceSink) Sums(sums *stream.Sums) error {
	s.meter.Sums(sums)
	return nil
}

// Segment adds the rows of b.
func (s *SourceSink) Segment(b *stream.Batch) error {
	s.meter.Add(b)
	return nil
}

// Close makes the listing.
func (s *SourceSink) Close() error {
	s.meter.End()
	s.meter.Tell(&s.tables.Ledger)
	l := s.Listing
	l.table.All = l.table.amount(s.whole.All)
	l.All = l.table.All
	at := map[place]int{}
	for _, sum := range s.whole.Take() {
		if owner := s.owners[sum.Key]; sum.Key != 0 && sum.Total.Samples > 0 {
			at[owner] = len(l.Functions)
			l.Functions = append(l.Functions, Function{Name: owner.name, File: owner.file, Start: int(owner.start), Self: l.table.amount(sum.Self), Total: l.table.amount(sum.Total), Lines: []Line{}})
		}
	}
	for _, sum := range s.lines.Take() {
		owner := s.places[sum.Key]
		line := owner.line
		owner.line = 0
		if i, ok := at[owner]; ok && sum.Key != 0 && (sum.Total.Samples > 0 || sum.Self.Samples > 0) {
			l.Functions[i].Lines = append(l.Functions[i].Lines, Line{Line: int(line), Self: l.table.amount(sum.Self), Total: l.table.amount(sum.Total)})
		}
	}
	for i := range l.Functions {
		slices.SortFunc(l.Functions[i].Lines, func(a, b Line) int { return cmp.Compare(a.Line, b.Line) })
	}
	slices.SortFunc(l.Functions, func(a, b Function) int {
		return cmp.Or(cmp.Compare(l.table.Value(b.Total), l.table.Value(a.Total)), cmp.Compare(a.Name, b.Name), cmp.Compare(a.File, b.File))
	})
	if len(l.Functions) > 0 {
		l.Similar = nil
	}
	return nil
}
