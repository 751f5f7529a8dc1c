package gecko

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"gprof/ingest/internal/jsonfile"
	"gprof/stream"
)

// code is what the rows of a thread refer to: strings, and stacks. A processed
// profile has one for all threads, from version 60 on.
type code struct {
	texts   *texts
	modules *modules
	frames  []frame
	stacks  []stream.StackID // by number
	calling *brancher        // of stacks whose last frame calls; nil if they are as in stacks

	frameTable, stackTable, funcTable, resourceTable, sources *jsonfile.Value
	held                                                      int64
}

// loadCode reads what a thread refers to, or takes what is loaded already.
func (r *reader) loadCode(x *process, thread *jsonfile.Value) *code {
	if r.code != nil && r.codeOf == r.home(thread) {
		return r.code
	}
	r.dropCode()
	shared := r.root.Get("shared")
	c := &code{texts: r.textsOf(thread)}
	r.code, r.codeOf = c, r.home(thread)
	r.holdCode(c.texts.bytes())
	own := func(key string) *jsonfile.Value {
		if v := thread.Get(key); v != nil {
			return v
		}
		return shared.Get(key)
	}
	c.frameTable, c.stackTable, c.funcTable = own("frameTable"), own("stackTable"), own("funcTable")
	c.resourceTable, c.sources = own("resourceTable"), shared.Get("sources")
	libs := thread.Get("libs")
	if libs == nil {
		libs = x.value.Get("libs")
	}
	c.modules = r.modules(libs)
	if r.processed() {
		r.processedFrames(c)
	} else {
		r.geckoFrames(c)
	}
	r.stacks(c)
	if c.calling == nil {
		r.holdCode(-nodeBytes*int64(len(c.stacks)) - frameBytes*int64(len(c.frames)))
		c.frames = nil
	}
	return c
}

// What the rows of tables take in memory. A list that grows is there twice; a frame and a
// library are known by a map, too.
const (
	mapBytes    = 64
	frameBytes  = 2*int64(unsafe.Sizeof(frame{})) + mapBytes
	moduleBytes = 3*int64(unsafe.Sizeof(module{})) + mapBytes // once more by address
	nodeBytes   = 2 * int64(unsafe.Sizeof(node{}))
	stackBytes  = 2 * int64(unsafe.Sizeof(stream.StackID(0)))
)

// holdCode counts memory that is needed as long as what is loaded is.
func (r *reader) holdCode(bytes int64) {
	r.code.held += bytes
	r.t.Hold(bytes)
}

// home is the object that has the stacks of a thread.
func (r *reader) home(thread *jsonfile.Value) *jsonfile.Value {
	if thread.Get("stackTable") == nil && r.processed() {
		return r.root
	}
	return thread
}

// dropCode forgets what was loaded.
func (r *reader) dropCode() {
	if r.code != nil {
		r.t.Hold(-r.code.held)
		r.code, r.codeOf = nil, nil
	}
}

// textsOf reads the strings of a thread. Those that are shared are kept.
func (r *reader) textsOf(thread *jsonfile.Value) *texts {
	for _, key := range []string{"stringTable", "stringArray"} {
		if v := thread.Get(key); v != nil {
			return r.loadTexts(v)
		}
	}
	if r.sharedTexts == nil {
		r.sharedTexts = r.loadTexts(r.root.Get("shared", "stringArray"))
	}
	return r.sharedTexts
}

func (r *reader) loadTexts(v *jsonfile.Value) *texts {
	x, err := r.file.texts(v, func(bytes int64) bool {
		r.t.Hold(bytes)
		full := r.t.Full()
		r.t.Hold(-bytes)
		return full
	})
	r.note(err)
	return x
}

// node is a stack of a table.
type node struct {
	frame    int // -1 unknown
	category stream.CategoryID
	calls    stream.StackID // as what calls another: 0 not known yet
	caller   stream.StackID
}

// stacks interns the stacks. What is of no category has that of its caller.
func (r *reader) stacks(c *code) {
	t := r.file.table(c.stackTable, "frame", "prefix", "prefixOffset", "category", "subcategory")
	b := &brancher{r: r, code: c, returns: r.returns(c), known: map[branch]stream.FrameID{}}
	if b.returns {
		c.calling = b
	}
	for t.next() && !r.full() {
		n := node{frame: -1}
		if parent := r.callerOf(t, len(b.nodes)); parent >= 0 {
			n.caller, n.category = b.calling(parent), b.nodes[parent].category
		}
		if i, ok := t.index(0, len(c.frames)); ok {
			n.frame = i
			if own, ok := r.categoryOf(t, 3, 4); ok {
				n.category = own
			} else if c.frames[i].categorized {
				n.category = c.frames[i].Category
			}
		} else {
			r.lose(stream.ReasonUndefined, "frames of stacks", 1)
		}
		b.nodes = append(b.nodes, n)
		c.stacks = append(c.stacks, b.stack(&n, false))
		r.holdCode(nodeBytes + stackBytes)
	}
	r.ended(t, "stacks")
}

// returns reports whether some frames are known by an address, and that of one that
// calls is that to which is returned.
func (r *reader) returns(c *code) bool {
	return !r.processed() && slices.ContainsFunc(c.frames, func(f frame) bool { return f.byAddress() })
}

// byAddress reports whether nothing else tells where the frame is.
func (f *frame) byAddress() bool { return f.Function == 0 && !f.Label && f.Offset > 0 }

// brancher interns the stacks of a table. The address of a frame that calls
// another is, in a Gecko profile, that to which is returned: it lies behind the call,
// maybe in another function. One byte before it is in the call.
type brancher struct {
	r       *reader
	code    *code
	returns bool
	nodes   []node
	known   map[branch]stream.FrameID
}

// branch is a frame in a stack.
type branch struct {
	frame    int
	category stream.CategoryID
	calls    bool
}

// calling is the stack of a node as the caller of another.
func (b *brancher) calling(i int) stream.StackID {
	n := &b.nodes[i]
	if n.calls == 0 {
		n.calls = b.stack(n, true)
	}
	return n.calls
}

// stack is the stack of a node, as it was sampled or as it calls another.
func (b *brancher) stack(n *node, calls bool) stream.StackID {
	if n.frame < 0 {
		return n.caller
	}
	f := b.code.frames[n.frame]
	returns := calls && b.returns && f.byAddress()
	key := branch{n.frame, n.category, returns}
	if b.known[key] == 0 {
		if f.Category = n.category; returns {
			f.Offset--
		}
		b.known[key] = b.r.t.Frames.Intern(f.Frame)
	}
	return b.r.t.Stacks.Intern(n.caller, b.known[key])
}

// callerOf is the number of the stack that called the one of the row, -1 for
// none. Callers come first.
func (r *reader) callerOf(t *table, row int) int {
	if back, ok := t.integer(2); ok {
		if back <= 0 || back > int64(row) {
			return -1
		}
		return row - int(back)
	}
	if t.null(1) {
		return -1
	}
	i, ok := t.index(1, row)
	if !ok {
		if n, number := t.integer(1); !number || n != -1 {
			r.lose(stream.ReasonUndefined, "callers of stacks", 1)
		}
		return -1
	}
	return i
}

// stack is the stack that a cell means, 0 for none.
func (r *reader) stack(c *code, raw []byte) stream.StackID {
	if isNull(raw) {
		return 0
	}
	if i, ok := jsonfile.Int(raw); ok && i >= 0 && i < int64(len(c.stacks)) {
		return c.stacks[i]
	}
	r.lose(stream.ReasonUndefined, "stacks", 1)
	return 0
}

// captured is the stack that a cell means where it was captured by a call, so that
// its last frame calls, too.
func (r *reader) captured(c *code, raw []byte) stream.StackID {
	if i, ok := jsonfile.Int(raw); ok && i >= 0 && i < int64(len(c.stacks)) && c.calling != nil {
		return c.calling.calling(int(i))
	}
	return r.stack(c, raw)
}

// readCategories reads the list of categories: of each its parts, the first of
// which is the category itself. Those of the first process hold for all.
func (r *reader) readCategories(v *jsonfile.Value) {
	if r.noCategories = v == nil; r.noCategories {
		for _, c := range oldCategories {
			r.categoryNames = append(r.categoryNames, c.Name)
			r.categories = append(r.categories, []stream.CategoryID{r.t.Categories.Intern(c)})
		}
	}
	r.note(r.file.objects(v, func(o object) {
		c := stream.Category{Name: o.text("name"), Color: o.text("color")}
		parts := []stream.CategoryID{r.t.Categories.Intern(c)}
		for i, raw := range elements(o["subcategories"]) {
			if i > 0 {
				c.Sub = string(jsonfile.AppendText(nil, raw))
				parts = append(parts, r.t.Categories.Intern(c))
			}
		}
		r.categories, r.categoryNames = append(r.categories, parts), append(r.categoryNames, o.text("name"))
	}))
}

// intern interns a text; an empty one is none.
func (r *reader) intern(text []byte) stream.StringID {
	if len(text) == 0 {
		return 0
	}
	return r.t.Strings.InternBytes(text)
}

// clamp is a line or a column as a frame has it.
func clamp(n int64) int32 { return int32(max(0, min(n, math.MaxInt32))) }

// parseAddress reads a number, which may be hexadecimal, 0 if it is none.
func parseAddress(text string) uint64 {
	if hex, ok := strings.CutPrefix(text, "0x"); ok {
		n, _ := strconv.ParseUint(hex, 16, 64)
		return n
	}
	n, _ := strconv.ParseUint(text, 10, 64)
	return n
}
