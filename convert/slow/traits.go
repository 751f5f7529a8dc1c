package slow

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
	"strconv"

	"gprof/stream"
)

// traits counts what intervals have, in each group.
type traits struct {
	tables *stream.Tables
	fields map[traitField]*field
	order  []*field
	all    []trait
	list   []int32
}

// traitField is a field, such as an argument, of all events.
type traitField struct{ kind, name string }

type field struct {
	traitField
	values map[string]int32
	many   bool // more than maxValues: it says nothing that intervals have in common
	coarse bool // numbers are classes
}

type trait struct {
	*field
	value string
	count [numGroups]int64
}

const (
	// maxValues bounds the values of a field: of more, few intervals share one.
	maxValues = 1000
	// maxNumbers is from how many different numbers on they are put into classes, each twice as large as the one
	// before.
	maxNumbers = 16
)

func newTraits(t *stream.Tables) *traits { return &traits{tables: t, fields: map[traitField]*field{}} }

// of lists the traits of row i of b, valid for good.
func (t *traits) of(b *stream.Batch, i int) []int32 {
	t.list = nil
	owner, e := b.Owner(i), t.tables.Event(b.Series.Event)
	t.has("process", "", t.tables.Process(b.Series.Process).Title())
	if name := t.tables.Tracks.At(b.Series.Track).Name; name != "" {
		t.has("track", "", name)
	}
	if owner.Labels != 0 {
		for key, value := range t.tables.Labels.At(owner.Labels).All() {
			t.has("label", key, value)
		}
	}
	for k := range b.Args {
		switch c := &b.Args[k]; c.TypeAt(i) {
		case stream.Text:
			t.has("argument", e.Fields[k].Name, string(c.TextAt(i)))
		case stream.Int:
			t.hasNumber(e.Fields[k].Name, int64(c.BitsAt(i)))
		case stream.Uint:
			t.hasNumber(e.Fields[k].Name, int64(min(c.BitsAt(i), math.MaxInt64)))
		}
	}
	return t.list
}

func (t *traits) field(kind, name string) *field {
	key := traitField{kind, name}
	f := t.fields[key]
	if f == nil {
		f = &field{traitField: key, values: map[string]int32{}}
		t.fields[key] = f
		t.order = append(t.order, f)
	}
	return f
}

func (t *traits) has(kind, name, value string) {
	f := t.field(kind, name)
	n, ok := f.values[value]
	if !ok {
		if f.many = f.many || len(f.values) >= maxValues; f.many {
			return
		}
		n = int32(len(t.all))
		f.values[value] = n
		t.all = append(t.all, trait{field: f, value: value})
	}
	t.list = append(t.list, n)
}

// hasNumber has both the number, as long as there are few, and its class.
func (t *traits) hasNumber(name string, v int64) {
	f := t.field("argument", name)
	if _, ok := f.values[strconv.FormatInt(v, 10)]; !ok && len(f.values) >= maxNumbers {
		f.coarse = true
	}
	if !f.coarse {
		t.has("argument", name, strconv.FormatInt(v, 10))
	}
	t.has("range", name, class(v))
}

// class is a range of numbers of one number of binary digits.
func class(v int64) string {
	switch n := bits.Len64(uint64(v)); {
	case v < 0:
		return "below 0"
	case n <= 1:
		return strconv.FormatInt(v, 10)
	default:
		return strconv.FormatInt(1<<(n-1), 10) + " to " + strconv.FormatInt(int64(uint64(1)<<n-1), 10)
	}
}

func (t *traits) count(group int, list []int32) {
	for _, n := range list {
		t.all[n].count[group]++
	}
}

// compared are the traits that more of the slow ones have, and the fields with too many values.
func (t *traits) compared(slowOnes, others int64) (list []Trait, unlike []string) {
	for i := range t.all {
		x := &t.all[i]
		switch {
		case x.many, x.kind == "range" && !t.field("argument", x.name).coarse, x.kind != "range" && x.coarse:
			continue
		case x.count[slow]*others <= x.count[rest]*slowOnes:
			continue
		}
		kind := x.kind
		if kind == "range" {
			kind = "argument"
		}
		p := 1.0
		if x.count[slow] >= fewest {
			p = fisher(x.count[slow], slowOnes, x.count[rest], others)
		}
		list = append(list, Trait{Kind: kind, Name: x.name, Value: x.value, Slow: x.count[slow], Rest: x.count[rest], P: p})
	}
	for _, f := range t.order {
		if f.many {
			unlike = append(unlike, f.name)
		}
	}
	slices.SortFunc(list, func(a, b Trait) int {
		return cmp.Or(cmp.Compare(a.P, b.P), cmp.Compare(b.Slow, a.Slow), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Value, b.Value))
	})
	slices.Sort(unlike)
	return list, unlike
}

// fisher is how likely it is that a or more of n have something that, of them and m others, a and b have, if it has
// nothing to do with being one of the n.
func fisher(a, n, b, m int64) (p float64) {
	have := a + b
	for k := a; k <= min(n, have); k++ {
		p += math.Exp(choose(n, k) + choose(m, have-k) - choose(n+m, have))
	}
	return min(p, 1)
}

// choose is the logarithm of a binomial coefficient.
func choose(n, k int64) float64 {
	if k < 0 || k > n {
		return math.Inf(-1)
	}
	return factorial(n) - factorial(k) - factorial(n-k)
}

func factorial(n int64) float64 {
	v, _ := math.Lgamma(float64(n) + 1)
	return v
}
