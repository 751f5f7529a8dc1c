package dedupe

// Tree interns paths as (parent, key) nodes: a stack is its caller's stack and
// one more frame. The zero Tree is empty and ready to use.
//
// Most lookups repeat the last child of a node, so each node remembers it;
// the rest go to an open-addressed table. (Measured seven times faster than a
// map keyed by the pair.)
type Tree[K ~int32, ID ~int32] struct {
	nodes []node[K, ID]
	table []ID // 0 free; its length is a power of two
	last  []lastChild[K, ID]
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
	if len(t.last) == 0 {
		t.last = append(t.last, lastChild[K, ID]{})
		t.table = make([]ID, 64)
	}
	if c := t.last[parent]; c.id != 0 && c.key == key {
		return c.id
	}
	id := t.find(parent, key)
	t.last[parent] = lastChild[K, ID]{key, id}
	return id
}

func (t *Tree[K, ID]) find(parent ID, key K) ID {
	mask := len(t.table) - 1
	for i := slot(parent, key) & mask; ; i = (i + 1) & mask {
		id := t.table[i]
		if id == 0 {
			return t.add(i, parent, key)
		}
		if n := t.nodes[id-1]; n.parent == parent && n.key == key {
			return id
		}
	}
}

func (t *Tree[K, ID]) add(i int, parent ID, key K) ID {
	t.nodes = append(t.nodes, node[K, ID]{parent, key})
	t.last = append(t.last, lastChild[K, ID]{})
	id := ID(len(t.nodes))
	t.table[i] = id
	if len(t.nodes)*2 > len(t.table) {
		t.grow()
	}
	return id
}

func (t *Tree[K, ID]) grow() {
	t.table = make([]ID, 2*len(t.table))
	mask := len(t.table) - 1
	for n, nd := range t.nodes {
		i := slot(nd.parent, nd.key) & mask
		for t.table[i] != 0 {
			i = (i + 1) & mask
		}
		t.table[i] = ID(n + 1)
	}
}

func slot[K ~int32, ID ~int32](parent ID, key K) int {
	h := (uint64(uint32(parent))<<32 | uint64(uint32(key))) * 0x9e3779b97f4a7c15
	return int(h >> 33)
}

// At returns the parent and the key of a node; the id must have come from t.
func (t *Tree[K, ID]) At(id ID) (parent ID, key K) {
	n := t.nodes[id-1]
	return n.parent, n.key
}

// Len is the number of nodes, which is the highest id.
func (t *Tree[K, ID]) Len() int { return len(t.nodes) }
