package chunks

import (
	"fmt"
	"slices"
	"testing"

	"gprof/rawformat"
)

// use opens c and closes it again at that time.
func use(c *Chunk, done uint64) *Chunk {
	c.openTail(0)
	c.finish(rawformat.Anchor{Monotonic: done})
	return c
}

func get(t testing.TB, m Manager) *Chunk {
	t.Helper()
	c := m.Get()
	if c == nil {
		t.Fatal("no chunk")
	}
	return c
}

func TestSingle(t *testing.T) {
	c := NewChunk(50)
	s := NewSingle(c)
	s.OnDiscard(func(*Chunk) { t.Error("the chunk is discarded") })
	if got := s.Get(); got != c || s.Get() != nil || s.MaxBytes() != 50 {
		t.Errorf("got %p, again %p, %d bytes", got, s.Get(), s.MaxBytes())
	}
	answers := 0
	s.Request(func(c *Chunk) {
		answers++
		if c != nil {
			t.Error("a request gives the chunk again")
		}
	})
	s.Fulfill()
	if answers != 1 {
		t.Errorf("%d answers", answers)
	}
	if s.TakeReleased() != nil {
		t.Error("released before it was")
	}
	s.Release(use(c, 1))
	s.Peek(func(released []*Chunk) {
		if !slices.Equal(released, []*Chunk{c}) {
			t.Errorf("%d chunks to be seen", len(released))
		}
	})
	if got := s.TakeReleased(); !slices.Equal(got, []*Chunk{c}) || s.TakeReleased() != nil {
		t.Error("the released chunk is not handed out just once")
	}
	if s.Get() != nil {
		t.Error("given without a reset")
	}
	s.Reset(c)
	if got := s.Get(); got != c || c.State() != rawformat.StateRecycled {
		t.Errorf("after a reset %p in state %d", got, c.State())
	}
}

// A limit of 1000 and chunks of 100: a chunk is got while the total with it
// stays below the limit, not at it.
func TestLocalLimitGet(t *testing.T) {
	m := NewLocalLimit(1000, 100)
	var gone []*Chunk
	m.OnDiscard(func(c *Chunk) {
		if c.State() != rawformat.StateDone || c.RangeStart() == 0 {
			t.Errorf("discarded as %+v", c.Header())
		}
		gone = append(gone, c)
	})
	var all []*Chunk
	for i := range 9 {
		c := get(t, m)
		c.fixed.RangeStart = uint64(i + 1)
		all = append(all, c)
		m.Release(use(c, uint64(10*i+10)))
	}
	if m.released != 900 || m.unreleased != 0 || len(gone) != 0 {
		t.Fatalf("released %d, unreleased %d, %d discarded", m.released, m.unreleased, len(gone))
	}
	if c := get(t, m); c != all[0] || !slices.Equal(gone, all[:1]) || c.State() != rawformat.StateRecycled || c.RangeStart() != 0 {
		t.Errorf("got chunk %d after %d discards: %+v", slices.Index(all, c), len(gone), c.Header())
	}
	if m.released != 800 || m.unreleased != 100 || m.TotalBytes() != 9*(100+rawformat.HeaderSize) {
		t.Errorf("released %d, unreleased %d, total %d", m.released, m.unreleased, m.TotalBytes())
	}
}

// Unreleased chunks are never discarded, so the limit can be exceeded.
func TestLocalLimitExceeded(t *testing.T) {
	m := NewLocalLimit(300, 100)
	var all []*Chunk
	for range 5 {
		all = append(all, get(t, m))
	}
	for i, c := range all {
		m.Release(use(c, uint64(i+1)))
	}
	if m.released != 500 || m.unreleased != 0 {
		t.Errorf("released %d, unreleased %d: a release discards nothing", m.released, m.unreleased)
	}
	c := get(t, m)
	if m.released != 100 || m.unreleased != 100 || c != all[0] || !slices.Equal(m.recycled, all[1:2]) {
		t.Errorf("released %d, unreleased %d, chunk %d, %d kept", m.released, m.unreleased, slices.Index(all, c), len(m.recycled))
	}
	if c := get(t, m); c != all[1] || m.released != 0 || !slices.Equal(m.recycled, all[4:]) {
		t.Errorf("chunk %d, released %d, %d kept: the first kept is the first used", slices.Index(all, c), m.released, len(m.recycled))
	}
}

// At most two chunks are kept for use again, and none that is too small.
func TestLocalLimitRecycles(t *testing.T) {
	m := NewLocalLimit(1000, 100)
	var all []*Chunk
	for i, size := range []int{100, 99, 150, 100, 100} {
		c := NewChunk(size)
		m.Release(use(c, uint64(i+1)))
		all = append(all, c)
	}
	m.DiscardUpTo(4)
	if !slices.Equal(m.recycled, []*Chunk{all[0], all[2]}) || m.released != 100 {
		t.Errorf("%d kept, released %d", len(m.recycled), m.released)
	}
	if m.DiscardUpTo(4); m.released != 100 {
		t.Error("a later chunk is discarded")
	}
	if m.DiscardUpTo(5); m.released != 0 || len(m.recycled) != 2 {
		t.Errorf("released %d, %d kept", m.released, len(m.recycled))
	}
	if want := int64(100 + 150 + 2*rawformat.HeaderSize); m.TotalBytes() != want {
		t.Errorf("total %d, want %d", m.TotalBytes(), want)
	}
	a, b, c := get(t, m), get(t, m), get(t, m)
	if a != all[0] || b != all[2] || slices.Contains(all, c) {
		t.Error("the kept chunks are not used first, in order")
	}
	if m.unreleased != 350 {
		t.Errorf("unreleased %d", m.unreleased)
	}
}

// Released chunks are in order of their done time; equal times in that of
// their release.
func TestLocalLimitOrder(t *testing.T) {
	m := NewLocalLimit(1000, 100)
	var all []*Chunk
	for range 5 {
		all = append(all, get(t, m))
	}
	for i, done := range []uint64{30, 10, 30, 20, 10} {
		m.Release(use(all[i], done))
	}
	want := []*Chunk{all[1], all[4], all[3], all[0], all[2]}
	m.Peek(func(released []*Chunk) {
		if !slices.Equal(released, want) {
			t.Error("wrong order to be seen")
		}
	})
	if got := m.TakeReleased(); !slices.Equal(got, want) || m.released != 0 || m.TakeReleased() != nil {
		t.Error("wrong order when handed out")
	}
}

// Chunks that were done at a time or before are discarded, the oldest first, and no
// others.
func TestLocalLimitDiscardUpTo(t *testing.T) {
	m := NewLocalLimit(1000, 100)
	var all, gone []*Chunk
	m.OnDiscard(func(c *Chunk) { gone = append(gone, c) })
	for range 5 {
		all = append(all, get(t, m))
	}
	for i, done := range []uint64{30, 10, 30, 20, 10} {
		m.Release(use(all[i], done))
	}
	m.DiscardUpTo(9)
	if len(gone) != 0 {
		t.Errorf("%d chunks went that were done later", len(gone))
	}
	m.DiscardUpTo(20)
	if want := []*Chunk{all[1], all[4], all[3]}; !slices.Equal(gone, want) || m.released != 200 {
		t.Errorf("%d chunks went, want 3, the oldest first; %d bytes are counted", len(gone), m.released)
	}
	if got := m.TakeReleased(); !slices.Equal(got, []*Chunk{all[0], all[2]}) {
		t.Errorf("%d chunks are left", len(got))
	}
}

func TestLocalLimitRequest(t *testing.T) {
	m := NewLocalLimit(1000, 100)
	var got []string
	note := func(name string) func(*Chunk) {
		return func(c *Chunk) { got = append(got, fmt.Sprint(name, " ", c != nil)) }
	}
	m.Fulfill()
	m.Request(func(c *Chunk) {
		note("first")(c)
		m.Request(note("nested"))
	})
	m.Request(note("ignored"))
	if got != nil {
		t.Errorf("answered before it is fulfilled: %q", got)
	}
	m.Fulfill()
	if !slices.Equal(got, []string{"first true"}) {
		t.Errorf("%q", got)
	}
	m.allocate = func(int) *Chunk { return nil }
	m.Fulfill()
	m.Fulfill()
	if !slices.Equal(got, []string{"first true", "nested false"}) || m.unreleased != 100 {
		t.Errorf("%q, unreleased %d", got, m.unreleased)
	}
}

// Chunks that were handed out or forgotten are not counted, and do no harm when
// they come back.
func TestLocalLimitForget(t *testing.T) {
	m := NewLocalLimit(1000, 100)
	a, b := get(t, m), get(t, m)
	m.Forget()
	if m.unreleased != 0 || m.TotalBytes() != 0 {
		t.Errorf("unreleased %d, total %d", m.unreleased, m.TotalBytes())
	}
	c := get(t, m)
	m.Release(use(a, 1))
	if m.unreleased != 100 || m.released != 100 {
		t.Errorf("unreleased %d, released %d", m.unreleased, m.released)
	}
	m.Release(use(c, 2))
	m.TakeReleased()
	c.recycle()
	m.Release(use(c, 3))
	m.Release(use(b, 4))
	if m.unreleased != 0 || m.released != 200 || m.TotalBytes() != 2*(100+rawformat.HeaderSize) {
		t.Errorf("unreleased %d, released %d, total %d", m.unreleased, m.released, m.TotalBytes())
	}
}

func TestLocalLimitUpdates(t *testing.T) {
	m := NewLocalLimit(400, 100)
	var got []string
	see := func(name string) func(Update) {
		return func(u Update) { got = append(got, fmt.Sprintf("%s%+v", name, u)) }
	}
	expect := func(what string, want ...string) {
		t.Helper()
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q\nwant %q", what, got, want)
		}
		got = nil
	}
	m.OnUpdate(see("a"))
	expect("set", "a{Final:false Unreleased:0 Released:0 OldestDone:0 Newly:[]}")
	c := get(t, m)
	expect("got", "a{Final:false Unreleased:100 Released:0 OldestDone:0 Newly:[]}")
	m.Release(use(c, 7))
	expect("released", "a{Final:false Unreleased:0 Released:100 OldestDone:7 Newly:[{Done:7 Bytes:100}]}")
	d := get(t, m)
	m.Release(use(d, 5))
	expect("and one that was done before",
		"a{Final:false Unreleased:100 Released:100 OldestDone:7 Newly:[]}",
		"a{Final:false Unreleased:0 Released:200 OldestDone:5 Newly:[{Done:5 Bytes:100}]}")
	m.DiscardUpTo(5)
	m.Request(func(*Chunk) {})
	expect("discarded, requested")
	m.Fulfill()
	expect("fulfilled", "a{Final:false Unreleased:100 Released:100 OldestDone:7 Newly:[]}")
	m.OnUpdate(see("b"))
	expect("replaced", "a{Final:true Unreleased:0 Released:0 OldestDone:0 Newly:[]}", "b{Final:false Unreleased:100 Released:100 OldestDone:7 Newly:[]}")
	m.allocate = func(int) *Chunk { return nil }
	m.recycled = nil
	if c := m.Get(); c != nil {
		t.Errorf("a chunk without memory: %+v", c.Header())
	}
	expect("nothing got")
	m.TakeReleased()
	expect("taken", "b{Final:false Unreleased:100 Released:0 OldestDone:0 Newly:[]}")
	m.Forget()
	expect("forgotten", "b{Final:false Unreleased:0 Released:0 OldestDone:0 Newly:[]}")
	m.OnUpdate(nil)
	expect("ended", "b{Final:true Unreleased:0 Released:0 OldestDone:0 Newly:[]}")
}
