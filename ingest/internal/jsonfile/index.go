package jsonfile

import (
	"bytes"
	"errors"
	"io"
	"unsafe"
)

// Value is a value's kind and place. Objects, and the lists that Index was asked for, have their
// contents. A nil Value is a missing one.
type Value struct {
	Kind Kind
	Off  int64  // of its first byte
	Raw  []byte // JSON of a short one that is neither object nor list
	in   *children
}

// children are the contents of a value, which few have.
type children struct {
	members []Named
	list    []Value
}

// Members are an object's members in file order.
func (v *Value) Members() []Named {
	if v == nil || v.in == nil {
		return nil
	}
	return v.in.members
}

// List are the elements of an indexed list.
func (v *Value) List() []Value {
	if v == nil || v.in == nil {
		return nil
	}
	return v.in.list
}

// Named is a member of an object.
type Named struct {
	Key string
	Value
}

// Get returns the member with that key, the last of several, nil if there is none or it is null.
func (v *Value) Get(keys ...string) *Value {
	for _, key := range keys {
		v = v.member(key)
	}
	return v
}

func (v *Value) member(key string) *Value {
	members := v.Members()
	for i := len(members) - 1; i >= 0; i-- {
		if members[i].Key == key {
			if members[i].Kind == Null {
				return nil
			}
			return &members[i].Value
		}
	}
	return nil
}

// Is reports whether v exists and is of that kind.
func (v *Value) Is(kind Kind) bool { return v != nil && v.Kind == kind }

// Limits of what Index keeps.
const (
	maxBytes = 128 << 20 // of memory, as for the tables of twenty thousand threads
	maxLevel = 12        // nesting of objects and lists
	maxShort = 4 << 10   // bytes of a kept value
	maxKey   = 1 << 10
)

// Memory of values, with room for slices to grow.
const (
	namedBytes = int64(unsafe.Sizeof(Named{})) * 5 / 4
	valueBytes = int64(unsafe.Sizeof(Value{})) * 5 / 4
	innerBytes = int64(unsafe.Sizeof(children{}))
	keyBytes   = 64 // of the map, beside the key
)

// ErrMany ends Index.
var ErrMany = errors.New("has more objects than a profile has")

// Index scans a file of size bytes and returns its value, with the members of all objects in it,
// and the elements of lists that are a member of such an object and for whose key list is true; it
// does not look into other lists. Short values are kept; held is the memory of all. If the file is
// broken, the value is what stands before that, and the error tells where.
func Index(r io.ReaderAt, size int64, list func(key string) bool) (root *Value, held int64, err error) {
	return index(r, size, list, maxBytes)
}

func index(r io.ReaderAt, size int64, list func(key string) bool, most int64) (root *Value, held int64, err error) {
	x := indexer{most: most, Scanner: NewScanner(r, 0, size), list: list, keys: map[string]string{}}
	if x.space() && x.buf[x.pos] == 0xef { // a byte order mark
		x.pos = min(x.pos+3, len(x.buf))
	}
	root = new(Value)
	x.value(root, false, 0)
	if x.err == nil && x.space() {
		x.fail(ErrSyntax, "the end of the file")
	}
	return root, x.held, x.err
}

type indexer struct {
	*Scanner
	list func(key string) bool
	keys map[string]string // interned
	held int64
	most int64 // limit of held
}

// hold counts memory.
func (x *indexer) hold(bytes int64) {
	if x.held += bytes; x.held > x.most {
		x.fail(ErrMany, "")
	}
}

// value indexes the next value; elements says whether a list's are wanted.
func (x *indexer) value(v *Value, elements bool, level int) {
	v.Kind = x.Kind()
	v.Off = x.Off()
	switch {
	case v.Kind == Object && level < maxLevel:
		x.object(v, level)
	case v.Kind == Array && elements && level < maxLevel:
		x.array(v, level)
	case v.Kind == Object, v.Kind == Array:
		x.Skip()
	default:
		x.short(v)
	}
}

// short indexes a value without children.
func (x *indexer) short(v *Value) {
	x.mark = x.pos
	x.Skip()
	if x.mark >= 0 && x.pos-x.mark <= maxShort {
		v.Raw = bytes.Clone(x.buf[x.mark:x.pos])
		x.hold(int64(cap(v.Raw)))
	}
	x.mark = -1
}

func (x *indexer) object(v *Value, level int) {
	v.in = new(children)
	x.hold(innerBytes)
	x.Object()
	for {
		key, ok := x.Key()
		if !ok {
			return
		}
		x.hold(namedBytes)
		v.in.members = append(v.in.members, Named{Key: x.key(key)})
		m := &v.in.members[len(v.in.members)-1]
		x.value(&m.Value, x.list(m.Key), level+1)
	}
}

func (x *indexer) array(v *Value, level int) {
	v.in = new(children)
	x.hold(innerBytes)
	x.Array()
	for x.More() {
		x.hold(valueBytes)
		v.in.list = append(v.in.list, Value{})
		x.value(&v.in.list[len(v.in.list)-1], false, level+1)
	}
}

// key interns a key.
func (x *indexer) key(text []byte) string {
	text = text[:min(len(text), maxKey)] // no key of a profile is as long
	if key, ok := x.keys[string(text)]; ok {
		return key
	}
	key := string(text)
	x.keys[key] = key
	x.hold(keyBytes + int64(len(key)))
	return key
}

// Offset is v's offset, 0 if missing.
func (v *Value) Offset() int64 {
	if v == nil {
		return 0
	}
	return v.Off
}
