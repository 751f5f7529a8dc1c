package session

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"gprof/rawformat"
)

// party is a slot in a test of the budget; chunks have 10 bytes.
type party struct {
	kind    rawformat.SlotKind
	held    int64
	oldest  []int64
	request int64
	ended   int64
	guarded int64
	start   uint64
	parent  uint64 // of a child
	mark    uint64
}

const (
	live    = rawformat.SlotLive
	clean   = rawformat.SlotClean
	crashed = rawformat.SlotCrashed
	child   = rawformat.SlotChild
)

// budgetOf is a budget of some parties, the first one being slot 0.
func budgetOf(limit int64, parties []party) *budget {
	b := &budget{}
	b.reset(limit)
	for i, p := range parties {
		s := rawformat.Slot{Instance: uint64(i + 1), Kind: p.kind, Held: p.held, Chunk: 10, Request: p.request, Ended: p.ended, Guarded: p.guarded, Keep: int64(time.Minute),
			Start: p.start, Parent: p.parent, Mark: p.mark}
		copy(s.Oldest[:], p.oldest)
		b.add(i, s)
	}
	b.protect()
	return b
}

// asks lists what each slot is asked for: slot<=time.
func (b *budget) asks() string {
	var all []string
	for _, a := range b.accounts {
		if a.ask != 0 {
			all = append(all, fmt.Sprintf("%d<=%d", a.at, a.ask))
		}
	}
	return strings.Join(all, " ")
}

// The rules of Gecko's global controller, and where ours go beyond them. nobody is the
// slot of a process that holds nothing.
func TestBudget(t *testing.T) {
	const nobody = 99
	for _, c := range []struct {
		name    string
		limit   int64
		want    int64
		own     int
		parties []party
		asks    string
		sum     int64 // what is then counted
	}{
		{"at the limit nothing goes", 100, 0, nobody,
			[]party{{kind: live, held: 50, oldest: []int64{1, 2}}, {kind: live, held: 50, oldest: []int64{3}}}, "", 100},
		{"over the limit the globally oldest goes", 100, 0, nobody,
			[]party{{kind: live, held: 51, oldest: []int64{5, 6}}, {kind: live, held: 50, oldest: []int64{3, 4}}}, "1<=3", 91},
		{"and as many as it takes, whoever owns them", 90, 0, nobody,
			[]party{{kind: live, held: 60, oldest: []int64{3, 6}}, {kind: live, held: 60, oldest: []int64{2, 4, 5}}}, "0<=3 1<=4", 90},
		{"equal times: the lower instance first", 100, 0, nobody,
			[]party{{kind: live, held: 51, oldest: []int64{3}}, {kind: live, held: 51, oldest: []int64{3}}}, "0<=3", 92},
		{"equal times of one owner go together", 100, 0, nobody,
			[]party{{kind: live, held: 60, oldest: []int64{3, 3, 4}}, {kind: live, held: 45, oldest: []int64{9}}}, "0<=3", 85},
		{"what was asked counts as gone", 100, 0, nobody,
			[]party{{kind: live, held: 60, oldest: []int64{3, 5}, request: 3}, {kind: live, held: 50, oldest: []int64{9}}}, "", 100},
		{"a request is for everything at or before", 90, 0, nobody,
			[]party{{kind: live, held: 60, oldest: []int64{3, 5, 6}, request: 5}, {kind: live, held: 55, oldest: []int64{4}}}, "1<=4", 85},
		{"a request before the oldest asks for nothing more", 100, 0, nobody,
			[]party{{kind: live, held: 60, oldest: []int64{5}, request: 4}, {kind: live, held: 50, oldest: []int64{9}}}, "0<=5", 100},
		{"the floor: who is quiet keeps its share", 100, 0, nobody,
			[]party{{kind: live, held: 34, oldest: []int64{1, 2}}, {kind: live, held: 80, oldest: []int64{8, 9}}}, "1<=9", 94},
		{"one chunk down to the floor, not below", 100, 0, nobody,
			[]party{{kind: live, held: 35, oldest: []int64{1, 2}}, {kind: live, held: 80, oldest: []int64{8, 9}}}, "0<=1 1<=8", 95},
		{"nobody has anything to give", 100, 0, nobody,
			[]party{{kind: live, held: 90}, {kind: live, held: 80}}, "", 170},
		{"who waits for room gets the oldest of others", 100, 20, 1,
			[]party{{kind: live, held: 60, oldest: []int64{1, 2, 3}}, {kind: live, held: 40, oldest: []int64{7}}}, "0<=2", 80},
		{"and its own oldest is used again by itself", 100, 20, 1,
			[]party{{kind: live, held: 60, oldest: []int64{4, 5}}, {kind: live, held: 40, oldest: []int64{3}}}, "", 100},
		{"likewise when it is about as old", 100, 20, 1,
			[]party{{kind: live, held: 60, oldest: []int64{4, 5}}, {kind: live, held: 40, oldest: []int64{6, 7, 8}}}, "", 100},
		{"not when it is younger than that", 100, 20, 1,
			[]party{{kind: live, held: 60, oldest: []int64{3, 5}}, {kind: live, held: 40, oldest: []int64{6, 7, 8}}}, "0<=3", 90},
		{"but goes when the limit is exceeded", 100, 20, 1,
			[]party{{kind: live, held: 60, oldest: []int64{4, 5}}, {kind: live, held: 45, oldest: []int64{3, 6}}}, "0<=5 1<=3", 75},
		{"who ended as it should has no floor", 100, 0, nobody,
			[]party{{kind: clean, held: 10, oldest: []int64{1}, ended: 2}, {kind: live, held: 100, oldest: []int64{3}}}, "0<=1", 100},
		{"the newest crash keeps its last data, to half the limit", 100, 0, nobody,
			[]party{{kind: crashed, held: 60, oldest: []int64{1, 2}, ended: 9, guarded: 60}, {kind: live, held: 60, oldest: []int64{20, 21}}}, "0<=1 1<=20", 100},
		{"what it recorded long before does go", 100, 0, nobody,
			[]party{{kind: crashed, held: 60, oldest: []int64{1, 2, 3}, ended: 9, guarded: 30}, {kind: live, held: 70, oldest: []int64{20, 21}}}, "0<=3", 100},
		{"of a crash loop the first and the newest", 100, 0, nobody,
			[]party{{kind: crashed, held: 25, oldest: []int64{1}, ended: 2, guarded: 25}, {kind: crashed, held: 25, oldest: []int64{3, 4}, ended: 5, guarded: 25},
				{kind: crashed, held: 25, oldest: []int64{6}, ended: 7, guarded: 25}, {kind: live, held: 55, oldest: []int64{20}}}, "1<=4 3<=20", 100},
		{"an earlier loop is no part of it", 100, 0, nobody,
			[]party{{kind: crashed, held: 25, oldest: []int64{1}, ended: 2, guarded: 25}, {kind: crashed, held: 25, oldest: []int64{3, 4}, ended: int64(2 * time.Hour), guarded: 25},
				{kind: live, held: 60, oldest: []int64{20}}}, "0<=1", 100},
	} {
		b := budgetOf(c.limit, c.parties)
		b.choose(c.want, c.own)
		if b.asks() != c.asks || b.sum != c.sum {
			t.Errorf("%s: asks %q and counts %d, want %q and %d", c.name, b.asks(), b.sum, c.asks, c.sum)
		}
	}
}

// All processes come to the same result, and do not ask again in the next round for what
// was asked once.
func TestBudgetAgrees(t *testing.T) {
	parties := []party{{kind: live, held: 70, oldest: []int64{1, 4, 5}}, {kind: live, held: 70, oldest: []int64{2, 3}}, {kind: live, held: 30, oldest: []int64{6}}}
	first := budgetOf(150, parties)
	first.choose(0, 0)
	for own := 1; own < 3; own++ {
		b := budgetOf(150, parties)
		if b.choose(0, own); b.asks() != first.asks() {
			t.Errorf("slot %d asks %q, slot 0 %q", own, b.asks(), first.asks())
		}
	}
	for i, a := range first.accounts {
		parties[i].request = a.ask
	}
	again := budgetOf(150, parties)
	if again.choose(0, 0); again.asks() != "" || again.sum != first.sum {
		t.Errorf("asks %q again, counts %d, want %d", again.asks(), again.sum, first.sum)
	}
}

// Guards never add up to more than the limit, so that some process can always give room.
func TestBudgetGuards(t *testing.T) {
	for processes := 1; processes < 40; processes++ {
		for crashes := range 4 {
			parties := slices.Repeat([]party{{kind: live, held: 100}}, processes)
			for i := range crashes {
				parties = append(parties, party{kind: crashed, held: 1000, ended: int64(i + 1), guarded: 1000})
			}
			for children := range 40 {
				sum := int64(0)
				for _, a := range budgetOf(1000, parties).accounts {
					sum += a.guard
				}
				if sum > 1000 {
					t.Errorf("%d processes, %d crashes, %d children: guards of %d", processes, crashes, children, sum)
				}
				parties = append(parties, party{kind: child, held: 1000, parent: 1, ended: int64(children + 1)})
			}
		}
	}
}

// family is a live parent, a sibling of it that holds the newest, and children: each with
// three chunks that are older.
func family(children ...party) []party {
	all := []party{{kind: live, held: 100, start: 50, oldest: []int64{100, 101, 102}}, {kind: live, held: 100, oldest: []int64{110}}}
	for i, c := range children {
		if c.kind == 0 {
			c.kind = child
		}
		c.held, c.oldest = 35, []int64{int64(10 * i), int64(10*i + 1), int64(10*i + 2)}
		c.oldest[0], c.ended = max(1, c.oldest[0]), int64(10*i+3)
		all = append(all, c)
	}
	return all
}

// Each case is children of a process, and what each of them has for a guard, or why it
// has expired.
func TestBudgetChildren(t *testing.T) {
	const expired, orphan = rawformat.MadeWayExpired, rawformat.MadeWayOrphan
	var storm []party
	for range 200 {
		storm = append(storm, party{parent: 1, mark: 60})
	}
	line := []party{{parent: 1, mark: 60}}
	for i := range 8 {
		line = append(line, party{parent: uint64(3 + i)})
	}
	line = append(line, party{parent: 99})
	for _, c := range []struct {
		name    string
		limit   int64
		parties []party
		want    string // of all after the first two
	}{
		{"the floor of a child is that of all, but for the chunk that goes last", 240, family(party{parent: 1, mark: 50}), "30"},
		{"its parent holds nothing from its end any more", 240, family(party{parent: 1, mark: 49}), expired},
		{"nothing is left of its parent", 240, family(party{parent: 99, mark: 60}), orphan},
		{"what ended without a parent goes by its age", 240, family(party{kind: clean, parent: 1, mark: 60}), "0"},
		{"a child of a child that is kept", 320, family(party{parent: 1, mark: 60, start: 5}, party{parent: 3, mark: 5}), "30 30"},
		{"a long line of children", 1800, family(line...), strings.Repeat("40 ", 9) + orphan},
		{"a child of a child that has expired", 320, family(party{parent: 1, mark: 9, start: 5}, party{parent: 3, mark: 5}), expired + " " + expired},
		{"a child of a protected crash", 320, family(party{kind: crashed, start: 5}, party{parent: 3, mark: 5}, party{parent: 3, mark: 4}), "40 30 " + expired},
		{"a child of a crash that is not", 320, family(party{kind: crashed}, party{kind: crashed}, party{kind: crashed}, party{parent: 4, mark: 5}), "40 0 40 " + orphan},
		{"a child of a process that has ended", 240, family(party{kind: clean}, party{parent: 3, mark: 5}), "0 " + orphan},
		{"a process that claims to be its own ancestor", 240, family(party{parent: 4, mark: 5}, party{parent: 3, mark: 5}), orphan + " " + orphan},
		{"more children than others share the floors of so many, the newest", 240, family(slices.Repeat([]party{{parent: 1, mark: 60}}, 5)...), "0 0 10 10 10"},
		{"no more than each can hold two chunks", 80, family(slices.Repeat([]party{{parent: 1, mark: 60}}, 3)...), "0 0 0"},
		{"no more than some at all", 1 << 20, family(storm...), strings.Repeat("0 ", 200-maxKept) + strings.TrimSpace(strings.Repeat("8182 ", maxKept))},
	} {
		var got []string
		for _, a := range budgetOf(c.limit, c.parties).accounts[2:] {
			got = append(got, cmp.Or(a.why, fmt.Sprint(a.guard)))
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%s: %s\nwant %s", c.name, text, c.want)
		}
	}
}

// A child that has expired goes before what is older, even where a process that waits for
// room could use its own oldest chunk again.
func TestBudgetExpiredFirst(t *testing.T) {
	parties := []party{{kind: live, held: 70, start: 50, oldest: []int64{1, 2, 3}}, {kind: child, held: 30, parent: 1, mark: 49, oldest: []int64{4, 5}, ended: 6}}
	b := budgetOf(100, parties)
	if b.choose(10, 0); b.asks() != "1<=4" {
		t.Errorf("asks %q", b.asks())
	}
	parties[1].mark = 50
	b = budgetOf(100, parties)
	if b.choose(10, 0); b.asks() != "" {
		t.Errorf("while it is kept, asks %q", b.asks())
	}
}
