package dedupe

import (
	"unsafe"
)

// Tree interns paths as (parent, key) nodes: a stack is its caller's stack and one more frame. The
// zero Tree is empty and ready to use.
//
// Paths are interned whole, so the child of a node mostly is the next node: lookups begin there, in
// memory that they have just touched. Only the other nodes, the branches, are in an open-addressed
// table. This is seven times faster than a map keyed by the pair. A node takes 8 bytes, and a branch
// 10 to 21 more.
//
// A large table is in no cache. Bulk operations first touch all places that they need, so that
// their cache misses overlap.
type Tree[K ~int32, ID ~int32] struct {
	nodes    vector[node[K, ID]]
	branches int            // nodes that are not next to their parents, or some more
	table    []place[K, ID] // of branches; its length is a power of two; nil before the first lookup, and after Pack
	listed   int            // nodes whose branches are in the table; the others were appended since
}

type node[K ~int32, ID ~int32] struct {
	parent ID
	key    K
}

// place is a slot of the table. The key tells most nodes of one slot apart without a look at them.
type place[K ~int32, ID ~int32] struct {
	key K
	id  ID // 0: free
}

// Intern returns the id of the child of parent with that key; parent is 0 for
// a root, else an id of t. A parent's id is lower than its children's.
func (t *Tree[K, ID]) Intern(parent ID, key K) ID {
	if id := t.Next(parent, key); id != 0 {
		return id
	}
	if int(parent) == t.nodes.n {
		return t.push(parent, key) // the last node has no child yet
	}
	t.list()
	i, id := t.find(parent, key)
	if id == 0 {
		id = t.push(parent, key)
		t.table[i] = place[K, ID]{key, id}
		t.listed++
	}
	return id
}

// Lookup returns the id of the child of parent with that key, 0 if it has not been seen.
func (t *Tree[K, ID]) Lookup(parent ID, key K) ID {
	if id := t.Next(parent, key); id != 0 {
		return id
	}
	t.list()
	_, id := t.find(parent, key)
	return id
}

// Next returns the child of parent with that key if it is the node after parent, as it mostly is;
// else 0.
func (t *Tree[K, ID]) Next(parent ID, key K) ID {
	if next := int(parent); next < t.nodes.n && *t.nodes.at(next) == (node[K, ID]{parent, key}) {
		return parent + 1
	}
	return 0
}

// together is the size of bulk lookups and insertions.
const together = 64

// LookupBranches sets ids to the children of parents with keys, 0 where not seen, in a fraction of the
// time of Intern. It is for those that [Tree.Next] does not find.
func (t *Tree[K, ID]) LookupBranches(parents []ID, keys []K, ids []ID) {
	t.list()
	for len(parents) > 0 {
		n := min(len(parents), together)
		t.lookupSome(parents[:n], keys[:n], ids[:n])
		parents, keys, ids = parents[n:], keys[n:], ids[n:]
	}
}

func (t *Tree[K, ID]) lookupSome(parents []ID, keys []K, ids []ID) {
	var places [together]place[K, ID]
	var callers [together]ID
	mask := len(t.table) - 1
	for i, parent := range parents {
		places[i] = t.table[slot(parent, keys[i])&mask]
	}
	for i, p := range places[:len(parents)] {
		if p.id != 0 && p.key != keys[i] {
			p.id = t.next(slot(parents[i], keys[i])&mask, keys[i])
		}
		if ids[i] = p.id; p.id != 0 {
			callers[i] = t.nodes.at(int(p.id - 1)).parent
		}
	}
	for i, parent := range parents {
		if ids[i] != 0 && callers[i] != parent {
			_, ids[i] = t.find(parent, keys[i])
		}
	}
}

// FollowAll goes from some nodes, 0 for none, along a path each, whose next key is its last, as far as t has it. It cuts the
// paths to what is left.
func (t *Tree[K, ID]) FollowAll(nodes []ID, paths [][]K) {
	t.list()
	for len(nodes) > 0 {
		n := min(len(nodes), together)
		t.followSome(nodes[:n], paths[:n])
		nodes, paths = nodes[n:], paths[n:]
	}
}

// followSome goes one branch further on all paths at a time.
func (t *Tree[K, ID]) followSome(nodes []ID, paths [][]K) {
	var open [together]int // indexes of paths
	var parents, ids [together]ID
	var keys [together]K
	for i := range nodes {
		open[i] = i
	}
	for n := len(nodes); n > 0; {
		left := 0
		for _, i := range open[:n] {
			node, path := t.skim(nodes[i], paths[i])
			if nodes[i], paths[i] = node, path; len(path) > 0 {
				open[left], parents[left], keys[left] = i, node, path[len(path)-1]
				left++
			}
		}
		t.lookupSome(parents[:left], keys[:left], ids[:left])
		n = 0
		for k, i := range open[:left] {
			if ids[k] != 0 {
				nodes[i], paths[i] = ids[k], paths[i][:len(paths[i])-1]
				open[n] = i
				n++
			}
		}
	}
}

// skim goes along a path as far as each node is next to its parent, and returns what is left.
func (t *Tree[K, ID]) skim(at ID, path []K) (ID, []K) {
	for len(path) > 0 && int(at) < t.nodes.n {
		in := int(at) & (pageRows - 1)
		page := t.nodes.pages[int(at)>>pageBits][in:min(pageRows, in+t.nodes.n-int(at))]
		for i := range page {
			if len(path) == 0 || page[i] != (node[K, ID]{at, path[len(path)-1]}) {
				return at, path
			}
			at, path = at+1, path[:len(path)-1]
		}
	}
	return at, path
}

// next is the id in the first slot with the same key after one, 0 if a free slot comes first.
func (t *Tree[K, ID]) next(i int, key K) ID {
	mask := len(t.table) - 1
	for {
		i = (i + 1) & mask
		if p := t.table[i]; p.id == 0 || p.key == key {
			return p.id
		}
	}
}

// find returns the id of a node, or 0 and a free slot.
func (t *Tree[K, ID]) find(parent ID, key K) (free int, id ID) {
	mask := len(t.table) - 1
	for i := slot(parent, key) & mask; ; i = (i + 1) & mask {
		p := t.table[i]
		if p.id == 0 || p.key == key && t.nodes.at(int(p.id-1)).parent == parent {
			return i, p.id
		}
	}
}

func (t *Tree[K, ID]) push(parent ID, key K) ID {
	if int(parent) != t.nodes.n {
		t.branches++
	} else if t.listed == t.nodes.n {
		t.listed++
	}
	t.nodes.push(node[K, ID]{parent, key})
	return ID(t.nodes.n)
}

// Append adds a node without looking whether it is in t. The next lookup adds it to the table.
func (t *Tree[K, ID]) Append(parent ID, key K) ID { return t.push(parent, key) }

// Extend is Append for n nodes, of which the first one's id is returned. Before any other use of t each is to be Set.
func (t *Tree[K, ID]) Extend(n int) (first ID) {
	first = ID(t.nodes.n + 1)
	t.nodes.extend(n)
	t.branches += n // hardly any is next to its parent
	return first
}

// Set sets a node after Extend, which may be done for several at a time.
func (t *Tree[K, ID]) Set(id, parent ID, key K) { *t.nodes.at(int(id - 1)) = node[K, ID]{parent, key} }

// Pack frees the table until the next lookup.
func (t *Tree[K, ID]) Pack() { t.table, t.listed = nil, 0 }

// list makes the table hold all branches, with room for one more.
func (t *Tree[K, ID]) list() {
	if t.table == nil || crowded(t.branches, len(t.table)) {
		t.Pack() // for the garbage collector
		t.table = make([]place[K, ID], slotsFor(t.branches))
	}
	for t.listed < t.nodes.n {
		t.listSome()
	}
}

// listSome adds the next branches to the table.
func (t *Tree[K, ID]) listSome() {
	var slots [together]int
	var places [together]place[K, ID]
	n, mask := 0, len(t.table)-1
	for n < together && t.listed < t.nodes.n {
		next := *t.nodes.at(t.listed)
		if t.listed++; int(next.parent) == t.listed-1 {
			continue
		}
		slots[n], places[n] = slot(next.parent, next.key)&mask, place[K, ID]{next.key, ID(t.listed)}
		if t.table[slots[n]].id != 0 {
			slots[n] = (slots[n] + 1) & mask
		}
		n++
	}
	for k, i := range slots[:n] {
		for t.table[i].id != 0 {
			i = (i + 1) & mask
		}
		t.table[i] = places[k]
	}
}

func slot[K ~int32, ID ~int32](parent ID, key K) int {
	h := (uint64(uint32(parent))<<32 | uint64(uint32(key))) * 0x9e3779b97f4a7c15
	return int(h >> 32)
}

// crowded is full for a tree, whose table is fuller because it is most of a large tree's memory,
// and keys make skipping slots cheap.
func crowded(n, slots int) bool { return n*6 > slots*5 }

// full reports whether a table of that many slots should grow for n rows.
func full(n, slots int) bool { return n*4 > slots*3 }

// slotsFor is the size of a table for n rows that is not full.
func slotsFor(n int) int {
	slots := 64
	for full(n, slots) {
		slots *= 2
	}
	return slots
}

// At returns the parent and key of a node of t.
func (t *Tree[K, ID]) At(id ID) (parent ID, key K) {
	n := t.nodes.at(int(id - 1))
	return n.parent, n.key
}

// Len is the number of nodes, and the highest id.
func (t *Tree[K, ID]) Len() int { return t.nodes.n }

// Bytes is the approximate memory of t.
func (t *Tree[K, ID]) Bytes() int64 {
	return int64(unsafe.Sizeof(node[K, ID]{}))*int64(t.nodes.n) + int64(unsafe.Sizeof(place[K, ID]{}))*int64(len(t.table))
}

// A page has that many rows: few enough to waste little on a small table.
const (
	pageBits = 10
	pageRows = 1 << pageBits
)

// vector is a slice that grows without being copied.
type vector[T any] struct {
	pages []*[pageRows]T
	n     int
}

func (v *vector[T]) at(i int) *T { return &v.pages[i>>pageBits][i&(pageRows-1)] }

func (v *vector[T]) extend(n int) {
	v.n += n
	for len(v.pages)<<pageBits < v.n {
		v.pages = append(v.pages, new([pageRows]T))
	}
}

func (v *vector[T]) push(x T) {
	if v.n&(pageRows-1) == 0 {
		v.pages = append(v.pages, new([pageRows]T))
	}
	v.n++
	*v.at(v.n - 1) = x
}
