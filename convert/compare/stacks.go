package compare

import (
	"slices"
	"unsafe"

	"gprof/convert/internal/calls"
	"gprof/stream"
)

// stacks is the call tree of a set. Its nodes are functions under their callers; node 0 is the root,
// and callers have lower numbers than what they call.
type stacks struct {
	caller []int32
	key    []calls.Key // of Set.functions
	file   []string    // by calls.Key: where the function lies, "" unknown
}

// nodeSum is what one process' samples at a node add up to.
type nodeSum struct {
	node int32
	self calls.Amount
}

// merger puts the stacks of a set's samples together that are the same functions.
type merger struct {
	tables *stream.Tables
	nodes  []int32        // by StackID
	self   []calls.Amount // by node, of the process being read
	used   []int32        // nodes in self that have samples
}

// mergerBytes is the memory of a merger, and of the tree that a comparison makes of stacks.
var mergerBytes = stream.RowBytes{Stack: stream.MergedStack + 3*4 + int64(unsafe.Sizeof(calls.Amount{})) + int64(unsafe.Sizeof(Node{})+unsafe.Sizeof(tally{}))}

// newMerger fills the stacks of a set. keys are by FrameID. The error is a [stream.ErrMemory].
func newMerger(set *Set, t *stream.Tables, keys []calls.Key) (*merger, error) {
	if err := t.Reserve(mergerBytes.In(t)); err != nil {
		return nil, err
	}
	m := &merger{tables: t, nodes: make([]int32, t.Stacks.Len()+1)}
	var merged stream.Tables // Stacks alone, whose frames are keys
	for id := stream.StackID(1); int(id) <= t.Stacks.Len(); id++ {
		caller, frame := t.Stacks.At(id)
		m.nodes[id] = int32(merged.Stacks.Intern(stream.StackID(m.nodes[caller]), stream.FrameID(keys[frame])))
	}
	tree := stacks{caller: make([]int32, merged.Stacks.Len()+1), key: make([]calls.Key, merged.Stacks.Len()+1), file: make([]string, len(set.functions))}
	for id := stream.StackID(1); int(id) < len(tree.caller); id++ {
		caller, frame := merged.Stacks.At(id)
		tree.caller[id], tree.key[id] = int32(caller), calls.Key(frame)
	}
	for id := 1; id <= t.Frames.Len(); id++ {
		if f := t.Frames.At(stream.FrameID(id)); tree.file[keys[id]] == "" && f.Function != 0 {
			tree.file[keys[id]] = t.Strings.At(f.File)
		}
	}
	m.self = make([]calls.Amount, len(tree.caller))
	set.stacks = tree
	return m, nil
}

func (m *merger) add(id stream.StackID, self calls.Amount) {
	node := m.nodes[id]
	if m.self[node] == (calls.Amount{}) {
		m.used = append(m.used, node)
	}
	m.self[node].Add(self)
}

// take returns the sums of a process, by node, and begins another one.
func (m *merger) take() ([]nodeSum, error) {
	if err := m.tables.Reserve(int64(len(m.used)) * int64(unsafe.Sizeof(nodeSum{}))); err != nil {
		return nil, err
	}
	slices.Sort(m.used)
	sums := make([]nodeSum, 0, len(m.used))
	for _, node := range m.used {
		sums = append(sums, nodeSum{node, m.self[node]})
		m.self[node] = calls.Amount{}
	}
	m.used = m.used[:0]
	return sums, nil
}
