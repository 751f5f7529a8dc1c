package gecko

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"gprof/ingest/internal/jsonfile"
	"gprof/stream"
)

// code holds the strings and stacks that a thread's rows refer to. From version 60 on all threads
// of a processed profile share one.
type code struct {
	texts   *texts
	modules *modules
	frames  []frame
	stacks  []stream.StackID // by number
	calling *brancher        // for stacks that were captured in a call; nil if stacks serves

	frameTable, stackTable, funcTable, resourceTable, sources part

	claim stream.Claim
}

// loadCode loads the strings and stacks of a thread, unless they are loaded already.
func (r *reader) loadCode(x *process, t *thread) *code {
	if r.code != nil && r.codeOf == r.home(t) {
		return r.code
	}
	r.dropCode()
	shared := r.root.object("shared")
	c := &code{texts: r.textsOf(t)}
	r.code, r.codeOf = c, r.home(t)
	r.claimCode(c.texts.bytes())
	own := func(key string) part {
		if t.at(key).v != nil {
			return t.object(key)
		}
		return shared.object(key)
	}
	c.frameTable, c.stackTable, c.funcTable = own("frameTable"), own("stackTable"), own("funcTable")
	c.resourceTable, c.sources = own("resourceTable"), shared.object("sources")
	if t.at("libs").v != nil {
		c.modules = r.modules(t.part)
	} else {
		c.modules = r.modules(x.part)
	}
	if r.processed() {
		r.processedFrames(c)
	} else {
		r.geckoFrames(c)
	}
	r.stacks(c)
	if c.calling == nil {
		r.claimCode(-nodeBytes*int64(len(c.stacks)) - frameBytes*int64(len(c.frames)))
		c.frames = nil
	}
	return c
}

// Memory per row. A growing list exists twice; frames and libraries are also in a map.
const (
	mapBytes    = 64
	frameBytes  = 2*int64(unsafe.Sizeof(frame{})) + mapBytes
	moduleBytes = 3*int64(unsafe.Sizeof(module{})) + mapBytes // once more by address
	nodeBytes   = 2 * int64(unsafe.Sizeof(node{}))
	stackBytes  = 2 * int64(unsafe.Sizeof(stream.StackID(0)))
)

// claimCode accounts for memory that is taken as long as the code is loaded.
func (r *reader) claimCode(bytes int64) { r.code.claim.Add(r.t, bytes) }

// home is the object that has the stacks of a thread.
func (r *reader) home(t *thread) *jsonfile.Value {
	if t.at("stackTable").v == nil && r.processed() {
		return r.root.v
	}
	return t.v
}

func (r *reader) dropCode() {
	if r.code != nil {
		r.code.claim.Set(r.t, 0)
		r.code, r.codeOf = nil, nil
	}
}

// textsOf reads the strings of a thread; shared ones are read once.
func (r *reader) textsOf(t *thread) *texts {
	for _, key := range []string{"stringTable", "stringArray"} {
		if own := t.at(key); own.v != nil {
			return r.loadTexts(own)
		}
	}
	if r.sharedTexts == nil {
		r.sharedTexts = r.loadTexts(r.root.object("shared").at("stringArray"))
	}
	return r.sharedTexts
}

func (r *reader) loadTexts(list part) *texts {
	list.is(jsonfile.Array)
	x, err := r.file.texts(list.v, func(bytes int64) bool {
		var claim stream.Claim
		claim.Set(r.t, bytes)
		defer claim.Set(r.t, 0)
		return r.t.Full()
	})
	r.note(err)
	for _, off := range x.odd {
		r.file.notes.add(stream.ReasonMalformed, list.of, off)
	}
	return x
}

// node is a row of the stack table.
type node struct {
	frame    int // -1 unknown
	category stream.CategoryID
	calls    stream.StackID // the stack when it calls another; 0 not interned yet
	caller   stream.StackID
}

// stacks interns the stacks. A stack without a category has its caller's.
func (r *reader) stacks(c *code) {
	t := c.stackTable.columns("frame", "prefix", "prefixOffset", "category", "subcategory")
	b := &brancher{r: r, code: c, returns: r.returns(c), known: map[branch]stream.FrameID{}}
	if b.returns {
		c.calling = b
	}
	for t.next() && !r.full() {
		n := node{frame: -1}
		if parent := r.callerOf(t, len(b.nodes)); parent >= 0 {
			n.caller, n.category = b.calling(parent), b.nodes[parent].category
		}
		if i, ok := t.required(0, len(c.frames)); ok {
			n.frame = i
			if own, ok := r.categoryOf(t, 3, 4); ok {
				n.category = own
			} else if c.frames[i].categorized {
				n.category = c.frames[i].Category
			}
		}
		b.nodes = append(b.nodes, n)
		c.stacks = append(c.stacks, b.stack(&n, false))
		r.claimCode(nodeBytes + stackBytes)
	}
	r.ended(t, "stacks")
}

// returns reports whether some frames are known by address alone; for callers those are return
// addresses.
func (r *reader) returns(c *code) bool {
	return !r.processed() && slices.ContainsFunc(c.frames, func(f frame) bool { return f.byAddress() })
}

// byAddress reports whether only the address tells where the frame is.
func (f *frame) byAddress() bool { return f.Function == 0 && !f.Label && f.Offset > 0 }

// brancher interns the stacks of a table. In a Gecko profile the address of a calling frame is the
// return address, which is behind the call and maybe in another function; one byte before it is in
// the call.
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

// calling is the stack of a node when it calls another.
func (b *brancher) calling(i int) stream.StackID {
	n := &b.nodes[i]
	if n.calls == 0 {
		n.calls = b.stack(n, true)
	}
	return n.calls
}

// stack is the stack of a node, as sampled or as a caller.
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

// callerOf is the row of the caller's stack, -1 for none. Callers come first.
func (r *reader) callerOf(t *table, row int) int {
	if back, ok := t.index(2, row+1); ok {
		if back == 0 {
			return -1
		}
		return row - back
	}
	if i, ok := t.optional(1, row); ok {
		return i
	}
	return -1
}

// stack is the stack in cell i, 0 for none.
func (c *code) stack(t *table, i int) stream.StackID {
	if at, ok := t.index(i, len(c.stacks)); ok {
		return c.stacks[at]
	}
	return 0
}

// captured is the stack in a member of o. It was captured in a call, so its last frame is a caller,
// too.
func (r *reader) captured(c *code, o object, key string) stream.StackID {
	raw := o.raw(key)
	if isNull(raw) {
		return 0
	}
	i, ok := jsonfile.Int(raw)
	switch {
	case !ok:
		o.note(stream.ReasonMalformed, key)
	case i < 0 || i >= int64(len(c.stacks)):
		o.note(stream.ReasonImpossible, key)
	case c.calling != nil:
		return c.calling.calling(int(i))
	default:
		return c.stacks[i]
	}
	return 0
}

// readCategories reads the categories, each with its subcategories, the first of which stands for
// the category itself. Those of the first process hold for all.
func (r *reader) readCategories() {
	meta := r.root.object("meta")
	if r.noCategories = meta.at("categories").v == nil && r.olderThan(firstCategorized, firstCategorizedProcessed); r.noCategories {
		for _, c := range oldCategories {
			r.categoryNames = append(r.categoryNames, c.Name)
			r.categories = append(r.categories, []stream.CategoryID{r.t.Categories.Intern(c)})
		}
	}
	r.note(meta.objects("categories", func(o object) {
		c := stream.Category{Name: o.text("name"), Color: o.text("color")}
		parts := []stream.CategoryID{r.t.Categories.Intern(c)}
		for i, sub := range o.texts("subcategories") {
			if i > 0 {
				c.Sub = sub
				parts = append(parts, r.t.Categories.Intern(c))
			}
		}
		r.categories, r.categoryNames = append(r.categories, parts), append(r.categoryNames, c.Name)
	}))
}

// intern interns a string; the empty one is 0.
func (r *reader) intern(text []byte) stream.StringID {
	if len(text) == 0 {
		return 0
	}
	return r.t.Strings.InternBytes(text)
}

// parseAddress parses a decimal or hexadecimal number.
func parseAddress(text string) (uint64, bool) {
	base := 10
	if hex, ok := strings.CutPrefix(text, "0x"); ok {
		text, base = hex, 16
	}
	n, err := strconv.ParseUint(text, base, 64)
	return n, err == nil
}

// module is a library.
type module struct {
	id         stream.ModuleID
	name       string
	start, end uint64 // address range, in a Gecko profile
	offset     uint64 // file offset of start
}

// modules are the libraries of a thread or process.
type modules struct {
	list   []module // in file order
	sorted []module // by address
	named  map[string]stream.ModuleID
}

// modules reads the libraries of a thread or process.
func (r *reader) modules(owner part) *modules {
	m := &modules{named: map[string]stream.ModuleID{}}
	r.note(owner.objects("libs", func(o object) {
		if r.full() {
			return
		}
		lib := module{name: o.text("name")}
		lib.id = r.t.Modules.Intern(moduleOf(o, r.arch))
		lib.start, lib.end, lib.offset = o.address("start"), o.address("end"), o.address("offset")
		if lib.end < lib.start {
			o.note(stream.ReasonImpossible, "end")
		}
		m.list = append(m.list, lib)
		r.claimCode(moduleBytes)
		if m.named[lib.name] == 0 {
			m.named[lib.name] = lib.id
		}
	}))
	m.sorted = slices.Clone(m.list)
	slices.SortStableFunc(m.sorted, func(a, b module) int { return cmp.Compare(a.start, b.start) })
	return m
}

// moduleOf is the identity of a library. The build id is the viewer's codeId, else the id that
// symbols are found by. Derived names are left out, so that a library is one module whichever
// process lists it.
func moduleOf(o object, arch string) stream.Module {
	setOldSymbols(o)
	name, path := o.text("name"), o.text("path")
	if path == "" && strings.ContainsAny(name, `/\`) { // as older versions have it
		path, name = name, name[strings.LastIndexAny(name, `/\`)+1:]
	}
	out := stream.Module{Build: cmp.Or(o.text("codeId"), o.text("breakpadId")), Name: name}
	if strings.Trim(out.Build, "0") == "" { // which stands for none
		out.Build = ""
	}
	if path != name {
		out.Path = path
	}
	if debug := o.text("debugPath"); debug != path {
		out.DebugPath = debug
	}
	if debug := o.text("debugName"); debug != name {
		out.DebugName = debug
	}
	if id := o.text("breakpadId"); id != "" && id != out.BreakpadID() {
		out.Breakpad = id
	}
	if own := o.text("arch"); own != arch {
		out.Arch = own
	}
	return out
}

// find is the library at an address, and the offset in its file.
func (m *modules) find(address uint64) (id stream.ModuleID, offset uint64) {
	i, _ := slices.BinarySearchFunc(m.sorted, address, func(lib module, address uint64) int {
		if lib.start <= address {
			return -1
		}
		return 1
	})
	if i == 0 || address >= m.sorted[i-1].end {
		return 0, address
	}
	lib := m.sorted[i-1]
	return lib.id, address - lib.start + lib.offset
}

// byName is the library of that name, a new one if it is not listed.
func (r *reader) byName(m *modules, name string) stream.ModuleID {
	id, ok := m.named[name]
	if !ok {
		id = r.t.Modules.Intern(stream.Module{Name: name})
		m.named[name] = id
	}
	return id
}
