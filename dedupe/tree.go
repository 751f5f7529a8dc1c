package dedupe

import "unsafe"

// Tree interns paths as (parent, key) nodes: a stack is its caller's stack and
// one more frame. The zero Tree is empty and ready to use.
//
// Most lookups repeat the last child of a node, so each node remembers it;
// the rest go to an open-addressed table. (Measured seven times faster than a
// map keyed by the pair.) A node takes 8 bytes, and 13 to 19 more for lookups.
type Tree[K ~int32, ID ~int32] struct {
	nodes vector[node[K, ID]]
	last  vector[lastChild[K, ID]] // by id; fewer than nodes after Append or Pack
	table []ID                     // 0 free; its length is a power of two
}

type node[K ~int32, ID ~int32] struct {
	parent ID
	key    K
}

type lastChild[K ~int32, ID ~int32] struct {
	key K
	id  ID
}

// Intern returns the id of the child of parent with that key; parent is 0 for
// a root, else an id of t. A parent's id is lower than its children's.
func (t *Tree[K, ID]) Intern(parent ID, key K) ID {
	if t.last.n <= t.nodes.n {
		t.index()
	}
	if last := t.last.at(int(parent)); last.key == key && last.id != 0 {
		return last.id
	}
	id := t.find(parent, key)
	*t.last.at(int(parent)) = lastChild[K, ID]{key, id}
	return id
}

func (t *Tree[K, ID]) find(parent ID, key K) ID {
	mask := len(t.table) - 1
	for i := slot(parent, key) & mask; ; i = (i + 1) & mask {
		id := t.table[i]
		if id == 0 {
			return t.add(i, parent, key)
		}
		if n := t.nodes.at(int(id - 1)); n.parent == parent && n.key == key {
			return id
		}
	}
}

func (t *Tree[K, ID]) add(i int, parent ID, key K) ID {
	t.nodes.push(node[K, ID]{parent, key})
	t.last.push(lastChild[K, ID]{})
	t.table[i] = ID(t.nodes.n)
	if full(t.nodes.n, len(t.table)) {
		t.rehash(2 * len(t.table))
	}
	return ID(t.nodes.n)
}

// Append adds a node as the next id, without a look whether it is in t. It takes
// no memory for lookups; the next Intern makes up for that.
func (t *Tree[K, ID]) Append(parent ID, key K) ID {
	if t.last.n > 0 {
		t.Pack()
	}
	t.nodes.push(node[K, ID]{parent, key})
	return ID(t.nodes.n)
}

// Pack gives back what only Intern needs. Intern takes it again.
func (t *Tree[K, ID]) Pack() { t.last, t.table = vector[lastChild[K, ID]]{}, nil }

// index makes Intern possible.
func (t *Tree[K, ID]) index() {
	for t.last.n <= t.nodes.n {
		t.last.push(lastChild[K, ID]{})
	}
	t.rehash(slotsFor(t.nodes.n))
}

// rehash makes a table of size slots.
func (t *Tree[K, ID]) rehash(size int) {
	t.table = nil // for the garbage collector
	t.table = make([]ID, size)
	mask := size - 1
	for id := 1; id <= t.nodes.n; id++ {
		n := t.nodes.at(id - 1)
		i := slot(n.parent, n.key) & mask
		for t.table[i] != 0 {
			i = (i + 1) & mask
		}
		t.table[i] = ID(id)
	}
}

func slot[K ~int32, ID ~int32](parent ID, key K) int {
	h := (uint64(uint32(parent))<<32 | uint64(uint32(key))) * 0x9e3779b97f4a7c15
	return int(h >> 32)
}

// full says whether a table of that many slots should be larger for n rows.
func full(n, slots int) bool { return n*4 > slots*3 }

// slotsFor is the size of a table for n rows, which is not full.
func slotsFor(n int) int {
	slots := 64
	for full(n, slots) {
		slots *= 2
	}
	return slots
}

// At returns the parent and the key of a node; the id must have come from t.
func (t *Tree[K, ID]) At(id ID) (parent ID, key K) {
	n := t.nodes.at(int(id - 1))
	return n.parent, n.key
}

// Len is the number of nodes, which is the highest id.
func (t *Tree[K, ID]) Len() int { return t.nodes.n }

// Bytes is about how much memory t takes.
func (t *Tree[K, ID]) Bytes() int64 {
	return int64(unsafe.Sizeof(node[K, ID]{}))*int64(t.nodes.n+t.last.n) + 4*int64(len(t.table))
}
