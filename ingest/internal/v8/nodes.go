package v8

import "gprof/ingest/internal/jsonfile"

// Nodes reads the nodes of a profile into a tree.
type Nodes struct {
	Tree *Tree
	Room func() bool // for more nodes; it is asked now and then

	Lines   int64 // samples in functions that were sampled in several lines
	Reasons int64 // for which functions lost their optimized code
	Odd     int64 // nodes and parts of them that can't be

	counted []hit
}

type hit struct{ id, count int64 }

// definition is what is said of a node.
type definition struct {
	id       int64
	known    bool // it has an id
	parent   int64
	called   bool // it has a parent
	hits     int64
	frame    CallFrame
	children []int64
}

// List reads a list of nodes. The error is that of the file.
func (r *Nodes) List(s *jsonfile.Scanner) error {
	for s.Array(); s.More(); {
		if s.Kind() != jsonfile.Object {
			r.Odd++
			s.Skip()
			continue
		}
		var n definition
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
		if r.define(&n); r.Tree.Len()%1024 == 0 && !r.Room() {
			break
		}
	}
	r.Room()
	return s.Err()
}

// member reads a member of a node.
func (r *Nodes) member(n *definition, key string, s *jsonfile.Scanner) {
	switch key {
	case "id":
		n.id, n.known = jsonfile.Int(s.Raw())
	case "parent":
		n.parent, n.called = jsonfile.Int(s.Raw())
	case "hitCount":
		n.hits, _ = jsonfile.Int(s.Raw())
	case "callFrame":
		if !n.frame.Read(s.Raw(), 0) {
			r.Odd++
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
				r.Odd++
			}
		}
	case "positionTicks":
		r.ticks(n, s.Raw())
	case "deoptReason":
		if text := jsonfile.AppendText(nil, s.Raw()); len(text) > 0 && string(text) != "no reason" {
			r.Reasons++
		}
	default:
		s.Skip()
	}
}

// ticks finds the line that all samples of a node have.
func (r *Nodes) ticks(n *definition, raw []byte) {
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
		r.Lines += ticks
	}
}

// define adds a node to the tree.
func (r *Nodes) define(n *definition) {
	if !n.known || !r.Tree.Define(n.id, n.frame) {
		r.Odd++
		return
	}
	if n.called {
		r.Tree.Call(n.parent, n.id)
	}
	for _, child := range n.children {
		r.Tree.Call(n.id, child)
	}
	if n.hits > 0 {
		r.counted = append(r.counted, hit{n.id, n.hits})
	}
}

// Hits calls each for the nodes that were hit, when all are known.
func (r *Nodes) Hits(each func(id, count int64)) {
	for _, h := range r.counted {
		each(h.id, h.count)
	}
}

// maxNested bounds how deep nodes lie in each other: V8 follows 255 calls.
const maxNested = 1 << 12

// Nested reads a node that has its callees in it, as in the form of before 2017.
func (r *Nodes) Nested(s *jsonfile.Scanner) error {
	r.inner(s, 0)
	r.Room()
	return s.Err()
}

func (r *Nodes) inner(s *jsonfile.Scanner, depth int) (id int64, ok bool) {
	if s.Kind() != jsonfile.Object || depth > maxNested || !r.Room() {
		r.Odd++
		s.Skip()
		return 0, false
	}
	var n definition
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
