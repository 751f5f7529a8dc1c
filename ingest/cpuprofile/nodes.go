package cpuprofile

import (
	"gprof/ingest/internal/jsonfile"
	"gprof/ingest/internal/v8"
)

// reader reads the nodes of a profile into a tree.
type reader struct {
	tree *v8.Tree
	odd  *odd
	hits func(id, count int64)
	room func() bool

	counted []hit // to be told when all callers are known
}

type hit struct{ id, count int64 }

// node is what is said of one.
type node struct {
	id       int64
	known    bool // it has an id
	hits     int64
	frame    v8.CallFrame
	children []int64
}

// flat reads a list of nodes. The error is that of the file.
func (r *reader) flat(s *jsonfile.Scanner) error {
	for s.Array(); s.More(); {
		if s.Kind() != jsonfile.Object {
			r.odd.nodes++
			s.Skip()
			continue
		}
		var n node
		for s.Object(); ; {
			key, ok := s.Key()
			if !ok {
				break
			}
			r.member(&n, string(key), s)
		}
		if s.Err() != nil {
			break // the node may lack what follows
		}
		if r.define(&n); r.tree.Len()%1024 == 0 && !r.room() {
			break
		}
	}
	r.room()
	return s.Err()
}

// member reads a member of a node.
func (r *reader) member(n *node, key string, s *jsonfile.Scanner) {
	switch key {
	case "id":
		n.id, n.known = jsonfile.Int(s.Raw())
	case "parent":
		if parent, ok := jsonfile.Int(s.Raw()); ok && n.known {
			r.tree.Call(parent, n.id)
		}
	case "hitCount":
		n.hits, _ = jsonfile.Int(s.Raw())
	case "callFrame":
		if !n.frame.Read(s.Raw(), 0) {
			r.odd.nodes++
		}
	case "children":
		if s.Kind() != jsonfile.Array {
			s.Skip()
			return
		}
		for s.Array(); s.More(); {
			if id, ok := jsonfile.Int(s.Raw()); ok {
				n.children = append(n.children, id)
			} else {
				r.odd.nodes++
			}
		}
	case "positionTicks":
		r.ticks(n, s.Raw())
	case "deoptReason":
		if text := jsonfile.AppendText(nil, s.Raw()); len(text) > 0 && string(text) != "no reason" {
			r.odd.reasons++
		}
	default:
		s.Skip()
	}
}

// ticks finds the line that all samples of a node have.
func (r *reader) ticks(n *node, raw []byte) {
	if len(raw) == 0 || raw[0] != '[' {
		return
	}
	lines, ticks := 0, int64(0)
	s := jsonfile.Bytes(raw, 0)
	for s.Array(); s.More(); lines++ {
		if s.Kind() != jsonfile.Object {
			s.Skip()
			continue
		}
		for s.Object(); ; {
			key, ok := s.Key()
			if !ok {
				break
			}
			value, _ := jsonfile.Int(s.Raw())
			switch {
			case string(key) == "line" && value > 0 && value < 1<<31:
				n.frame.Line = int32(value)
			case string(key) == "ticks" && value > 0:
				ticks += value
			}
		}
	}
	if lines != 1 {
		n.frame.Line = 0
		r.odd.lines += ticks
	}
}

// define adds a node to the tree.
func (r *reader) define(n *node) {
	if !n.known || !r.tree.Define(n.id, n.frame) {
		r.odd.nodes++
		return
	}
	for _, child := range n.children {
		r.tree.Call(n.id, child)
	}
	if n.hits > 0 {
		r.counted = append(r.counted, hit{n.id, n.hits})
	}
}

// hit tells the hits of all nodes.
func (r *reader) hit() {
	for _, h := range r.counted {
		r.hits(h.id, h.count)
	}
}

// maxNested bounds how deep nodes lie in each other: V8 follows 255 calls.
const maxNested = 1 << 12

// nested reads a node that has its callees in it.
func (r *reader) nested(s *jsonfile.Scanner) error {
	r.inner(s, 0)
	r.room()
	return s.Err()
}

func (r *reader) inner(s *jsonfile.Scanner, depth int) (id int64, ok bool) {
	if s.Kind() != jsonfile.Object || depth > maxNested || !r.room() {
		r.odd.nodes++
		s.Skip()
		return 0, false
	}
	var n node
	for s.Object(); ; {
		key, ok := s.Key()
		if !ok {
			break
		}
		switch string(key) {
		case "children":
			for s.Array(); s.More(); {
				if id, ok := r.inner(s, depth+1); ok {
					n.children = append(n.children, id)
				}
			}
		case "functionName", "url", "lineNumber", "columnNumber":
			name := string(key)
			n.frame.Take(name, s.Raw(), 1)
		default:
			r.member(&n, string(key), s)
		}
	}
	if s.Err() != nil {
		return 0, false
	}
	r.define(&n)
	return n.id, n.known
}
