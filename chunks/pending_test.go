package chunks

import (
	"reflect"
	"testing"
)

// The rules of Gecko's Update::Fold.
func TestPending(t *testing.T) {
	part := func(done uint64) ReleasedPart { return ReleasedPart{Done: done, Bytes: 10} }
	for name, c := range map[string]struct {
		updates []Update
		want    Update
	}{
		"the first one is taken as it is": {
			[]Update{{Unreleased: 1, Released: 2, OldestDone: 5, Newly: []ReleasedPart{part(4)}}},
			Update{Unreleased: 1, Released: 2, OldestDone: 5, Newly: []ReleasedPart{part(4)}},
		},
		"bytes are the new ones, what was released is added": {
			[]Update{{Unreleased: 1, Released: 2, OldestDone: 5, Newly: []ReleasedPart{part(5)}}, {Unreleased: 3, Released: 4, OldestDone: 5, Newly: []ReleasedPart{part(6)}}},
			Update{Unreleased: 3, Released: 4, OldestDone: 5, Newly: []ReleasedPart{part(5), part(6)}},
		},
		"what is older than the oldest was discarded, at its time it was not": {
			[]Update{{OldestDone: 5, Newly: []ReleasedPart{part(5), part(6), part(7)}}, {OldestDone: 6, Newly: []ReleasedPart{part(8)}}},
			Update{OldestDone: 6, Newly: []ReleasedPart{part(6), part(7), part(8)}},
		},
		"only what leads": {
			[]Update{{OldestDone: 5, Newly: []ReleasedPart{part(7), part(5)}}, {OldestDone: 6}},
			Update{OldestDone: 6, Newly: []ReleasedPart{part(7), part(5)}},
		},
		"and not of what comes with it": {
			[]Update{{OldestDone: 5}, {OldestDone: 6, Newly: []ReleasedPart{part(4)}}},
			Update{OldestDone: 6, Newly: []ReleasedPart{part(4)}},
		},
		"without an oldest nothing is dropped": {
			[]Update{{Released: 9, OldestDone: 5, Newly: []ReleasedPart{part(5)}}, {Released: 0}},
			Update{OldestDone: 5, Newly: []ReleasedPart{part(5)}},
		},
		"a final one replaces all": {
			[]Update{{Unreleased: 1, Released: 2, OldestDone: 5, Newly: []ReleasedPart{part(5)}}, {Final: true}},
			Update{Final: true},
		},
	} {
		var p Pending
		for _, u := range c.updates {
			p.Fold(u)
		}
		got, ok := p.Take()
		if !reflect.DeepEqual(got, c.want) || !ok {
			t.Errorf("%s: %v %v\nwant %v", name, ok, got, c.want)
		}
		if again, ok := p.Take(); ok != c.want.Final || again.Final != c.want.Final {
			t.Errorf("%s: taken again: %+v, %v", name, again, ok)
		}
	}
}

// What a manager tells, folded, is its state.
func TestPendingOfLocalLimit(t *testing.T) {
	m := NewLocalLimit(400, 100)
	var p Pending
	m.OnUpdate(p.Fold)
	for done := range uint64(20) {
		m.Release(use(get(t, m), done+1))
		if done%3 != 0 {
			continue
		}
		u, _ := p.Take()
		if u.Unreleased != m.unreleased || u.Released != m.released || u.OldestDone != m.list.first.done() || u.Newly[len(u.Newly)-1].Done != done+1 {
			t.Errorf("update %+v of %d, %d", u, m.unreleased, m.released)
		}
	}
	m.OnUpdate(nil)
	if u, ok := p.Take(); !ok || !u.Final {
		t.Errorf("in the end %+v, %v", u, ok)
	}
	defer func() {
		if recover() == nil {
			t.Error("an update behind the final one is taken")
		}
	}()
	p.Fold(Update{})
}
