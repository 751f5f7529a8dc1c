package dedupe

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

func TestSet(t *testing.T) {
	var s Set[string, int32]
	if s.Lookup("a") != 0 || s.Len() != 0 {
		t.Error("an empty set holds something")
	}
	a, b := s.Intern("a"), s.Intern("b")
	if a != 1 || b != 2 || s.Intern("a") != a || s.Lookup("b") != b || s.At(b) != "b" || s.Len() != 2 {
		t.Errorf("a=%d b=%d len=%d", a, b, s.Len())
	}
}

// A guess may be another value, but most often is the right one.
func TestGuess(t *testing.T) {
	var set Set[int, int32]
	if id := set.Guess(1); id != 0 {
		t.Errorf("the empty set has guessed %d", id)
	}
	const n = 1000
	for i := range n {
		set.Intern(i)
	}
	right, free := 0, 0
	for i := range n {
		switch id := set.Guess(i); {
		case id == 0:
			t.Errorf("%d is there, and is not guessed", i)
		case set.At(id) == i:
			right++
		}
		if set.Guess(-1-i) == 0 {
			free++
		}
	}
	if right < n/2 || free == 0 {
		t.Errorf("%d of %d guesses are right, %d of those for other values are none", right, n, free)
	}
}

func TestSetMap(t *testing.T) {
	var s Set[string, int32]
	s.Amend(s.Intern("a"), "x")
	s.Intern("b")
	s.Map(func(k string) string { return k + "!" })
	if s.At(1) != "x!" || s.At(2) != "b!" || s.Lookup("a") != 0 || s.Intern("b!") != 2 || s.Intern("c") != 3 {
		t.Errorf("%q, %q, %d rows", s.At(1), s.At(2), s.Len())
	}
	s.Map(func(string) string { return "same" })
	if s.At(1) != "same" || s.At(3) != "same" || s.Len() != 3 || s.Intern("new") != 4 {
		t.Errorf("%q, %q, %d rows", s.At(1), s.At(3), s.Len())
	}
}

func TestSetAppend(t *testing.T) {
	var texts Texts[int32]
	if a, b, c := texts.Intern("a"), texts.Append("bc"), texts.Append("d"); a != 1 || b != 2 || c != 3 {
		t.Errorf("ids %d, %d and %d", a, b, c)
	}
	if texts.Intern("bc") != 2 || texts.Intern("a") != 1 || texts.Intern("e") != 4 || texts.At(3) != "d" || texts.TextBytes() != 5 {
		t.Errorf("%d texts of %d bytes", texts.Len(), texts.TextBytes())
	}
}

func TestTexts(t *testing.T) {
	var s Texts[int32]
	if s.Intern("") != 0 || s.InternBytes(nil) != 0 || s.At(0) != "" {
		t.Error("the empty string has an id")
	}
	if id := s.InternBytes([]byte("x")); id != 1 || s.Intern("x") != 1 || s.At(1) != "x" {
		t.Errorf("x has the id %d", id)
	}
	key := []byte("x")
	if n := testing.AllocsPerRun(10, func() { s.InternBytes(key) }); n != 0 {
		t.Errorf("a known string allocates %v times", n)
	}
}

// The tree agrees with a map, and parents come before children.
func TestTreeAgainstMap(t *testing.T) {
	var tree Tree[int32, int32]
	type pair struct{ parent, key int32 }
	model := map[pair]int32{}
	r := rand.New(rand.NewPCG(1, 1))
	for range 200000 {
		p := pair{r.Int32N(int32(tree.Len()/4 + 1)), r.Int32N(20)}
		id := tree.Intern(p.parent, p.key)
		want, ok := model[p]
		if !ok {
			want = int32(len(model) + 1)
			model[p] = want
		}
		if id != want || p.parent >= id {
			t.Fatalf("Intern(%v) = %d, want %d", p, id, want)
		}
		if parent, key := tree.At(id); parent != p.parent || key != p.key {
			t.Fatalf("At(%d) = %d, %d; want %v", id, parent, key, p)
		}
	}
	if tree.Len() != len(model) {
		t.Errorf("%d nodes, want %d", tree.Len(), len(model))
	}
}

// Bulk lookups find the same branches as Lookup and Intern, also after a node was appended,
// and just the node after its parent is next.
func TestTreeLookupBranches(t *testing.T) {
	var tree Tree[int32, int32]
	r := rand.New(rand.NewPCG(1, 1))
	for range 5000 {
		tree.Intern(r.Int32N(int32(tree.Len()/4+1)), r.Int32N(20))
	}
	tree.Append(1, 20)
	var parents, keys []int32
	for parent := range int32(300) {
		for key := range int32(21) {
			parents, keys = append(parents, parent), append(keys, key)
		}
	}
	ids := lookup(&tree, parents, keys)
	found, seen := 0, int32(tree.Len())
	for i, id := range ids {
		if alone := tree.Lookup(parents[i], keys[i]); alone != id {
			t.Fatalf("child %d of %d is %d among others, and %d alone", keys[i], parents[i], id, alone)
		}
		want := tree.Intern(parents[i], keys[i])
		if id != want && (id != 0 || want <= seen) {
			t.Fatalf("child %d of %d has id %d, want %d", keys[i], parents[i], id, want)
		}
		if next := tree.Next(parents[i], keys[i]); (next != 0) != (want == parents[i]+1) || next != 0 && next != want {
			t.Fatalf("child %d of %d has id %d, but the next is %d", keys[i], parents[i], want, next)
		}
		if id != 0 {
			found++
		}
	}
	if found == 0 || found == len(ids) {
		t.Errorf("%d of %d were seen", found, len(ids))
	}
}

// lookup returns the children of parents with keys: those that are next to them, and branches.
func lookup(tree *Tree[int32, int32], parents, keys []int32) []int32 {
	ids := make([]int32, len(keys))
	tree.LookupBranches(parents, keys, ids)
	for i := range ids {
		if next := tree.Next(parents[i], keys[i]); next != 0 {
			ids[i] = next
		}
	}
	return ids
}

// Paths are followed together as far as each of them is alone, from any node.
func TestTreeFollowAll(t *testing.T) {
	var tree Tree[int32, int32]
	r := rand.New(rand.NewPCG(1, 2))
	path := func() (path []int32) {
		for range r.IntN(30) {
			path = append(path, r.Int32N(4))
		}
		return path
	}
	for range 2000 {
		node := int32(0)
		for _, key := range path() {
			node = tree.Intern(node, key)
		}
	}
	seen := tree.Len()
	for _, n := range []int{0, 1, together, 1000} {
		nodes, paths := make([]int32, n), make([][]int32, n)
		want, left := make([]int32, n), make([]int, n)
		for i := range paths {
			paths[i], nodes[i] = path(), r.Int32N(2)*r.Int32N(int32(seen))
			want[i], left[i] = nodes[i], len(paths[i])
			for left[i] > 0 {
				next := tree.Lookup(want[i], paths[i][left[i]-1])
				if next == 0 {
					break
				}
				want[i], left[i] = next, left[i]-1
			}
		}
		tree.FollowAll(nodes, paths)
		for i := range paths {
			if nodes[i] != want[i] || len(paths[i]) != left[i] {
				t.Fatalf("path %d of %d ends at node %d, %d before its end; alone at %d, %d before", i, n, nodes[i], len(paths[i]), want[i], left[i])
			}
		}
	}
	if tree.Len() != seen {
		t.Errorf("%d nodes became %d", seen, tree.Len())
	}
}

// Appended nodes, also of Extend, a few or very many between two lookups, are found by both ways of
// looking.
func TestTreeAppend(t *testing.T) {
	var tree Tree[int32, int32]
	for k, n := range []int32{1, 10, 3, 1000, 100, 20_000, 5, 30_000} {
		first := int32(tree.Len()) + 1
		if k%2 == 1 && tree.Extend(int(n)) != first {
			t.Fatal("nodes have other ids")
		}
		var parents, keys []int32
		for i := range n {
			parent, key := max(first-1+i/3, 0), i%3
			if k%2 == 1 {
				tree.Set(first+i, parent, key)
			} else if id := tree.Append(parent, key); id != first+i {
				t.Fatalf("appended as %d, want %d", id, first+i)
			}
			parents, keys = append(parents, parent), append(keys, key)
		}
		for i, id := range lookup(&tree, parents, keys) {
			if want := first + int32(i); id != want || tree.Intern(parents[i], keys[i]) != want {
				t.Fatalf("child %d of %d is %d, want %d", keys[i], parents[i], id, want)
			}
		}
		if id := tree.Intern(int32(tree.Len()), 9); int(id) != tree.Len() {
			t.Fatalf("a new child is %d, want %d", id, tree.Len())
		}
	}
}

// Nodes that are next to their parents take no place in the table, however they were added.
func TestTreeBytes(t *testing.T) {
	const paths, deep = 100, 1000
	for name, add := range map[string]func(*Tree[int32, int32], int32, int32) int32{"interned": (*Tree[int32, int32]).Intern, "appended": (*Tree[int32, int32]).Append} {
		var tree Tree[int32, int32]
		for i := range int32(paths) {
			node := int32(0)
			for range deep {
				node = add(&tree, node, i)
			}
		}
		if tree.Lookup(0, paths) != 0 || tree.Lookup(0, paths-1) == 0 {
			t.Errorf("%s: wrong roots", name)
		}
		if most := int64(8*paths*deep + 8*4*paths); tree.Len() != paths*deep || tree.Bytes() > most {
			t.Errorf("%s: %d nodes take %d bytes, more than %d", name, tree.Len(), tree.Bytes(), most)
		}
	}
}

// go test ./dedupe -bench . | benchstat -col /impl -
func BenchmarkIntern(b *testing.B) {
	for _, fanout := range []int32{1, 4} {
		b.Run(fmt.Sprintf("impl=tree/fanout=%d", fanout), func(b *testing.B) {
			var tree Tree[int32, int32]
			for i := int32(0); b.Loop(); i++ {
				var parent int32
				for depth := range int32(40) {
					parent = tree.Intern(parent, depth*8+i%fanout)
				}
			}
		})
		b.Run(fmt.Sprintf("impl=map/fanout=%d", fanout), func(b *testing.B) {
			var set Set[[2]int32, int32]
			for i := int32(0); b.Loop(); i++ {
				var parent int32
				for depth := range int32(40) {
					parent = set.Intern([2]int32{parent, depth*8 + i%fanout})
				}
			}
		})
	}
}

// Keys with equal hashes stay apart. Among so many texts, some share 32 bits of any
// hash.
func TestManyTexts(t *testing.T) {
	const many = 200_000
	var texts Texts[int32]
	var set Set[string, int32]
	var tree Tree[int32, int32]
	for i := range int32(many) {
		text := fmt.Sprint("text ", i)
		if a, b, c := texts.Intern(text), set.Intern(text), tree.Intern(i%1000, i); a != i+1 || b != i+1 || c != i+1 {
			t.Fatalf("%s has the ids %d, %d and %d", text, a, b, c)
		}
	}
}
