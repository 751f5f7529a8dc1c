package gecko

import (
	"strconv"

	"gprof/ingest/internal/jsonfile"
	"gprof/stream"
)

// pages reads the pages. Nobody says when they were open. In a list of several
// processes each names its own, if a sink of ours wrote it; else all are of the
// first.
func (r *reader) pages(x *process, id stream.ProcessID) {
	first := r.t.Process(id).Start
	r.note(x.objects("pages", func(o object) {
		if pid := o.text("pid"); r.processed() && pid != x.pid && (x != r.processes[0] || r.knows(pid)) {
			return
		}
		tab, window := r.identify(x.v, o)
		b := r.out.row(stream.Series{Process: id, Kind: stream.Pages}, first, first)
		b.Phase, b.Duration = append(b.Phase, stream.PhaseStart), append(b.Duration, 0)
		private := int64(0)
		if o.truth("isPrivateBrowsing") {
			private = 1
		}
		for k, n := range []int64{tab, window, o.integer("embedderInnerWindowID"), private} {
			b.Args[k].AppendBits(stream.Int, uint64(n))
		}
		b.Args[4].AppendText([]byte(o.text("url")))
		if !isNull(o.raw("favicon")) {
			r.lose(stream.ReasonUnsupported, "icons of pages", 1)
		}
	}))
}

// docshell is how a page was known until Gecko 16 and processed 27: a place in the
// history of a docshell, of an object that has pages.
type docshell struct {
	of          *jsonfile.Value
	id, history string
}

// oldPages numbers such pages as the viewer does, which knows pages by one number.
type oldPages struct {
	windows map[docshell]int64
	tabs    map[docshell]int64 // without a place
}

// maxOldPages is how many pages are numbered; browsers keep some hundred.
const maxOldPages = 1 << 16

// docshellOf is what a page, or the payload of a marker, says of it. Keys of the
// two differ.
func docshellOf(of *jsonfile.Value, o object, id, history string) (docshell, bool) {
	return docshell{of, o.text(id), string(o.raw(history))}, o.has(id) && o.has(history)
}

// numberPages numbers the old pages of an object.
func (r *reader) numberPages(of part) {
	old := &r.oldPages
	r.note(of.objects("pages", func(o object) {
		page, ok := docshellOf(of.v, o, "docshellId", "historyId")
		if !ok || len(old.windows) >= maxOldPages {
			return
		}
		if old.windows == nil {
			old.windows, old.tabs = map[docshell]int64{}, map[docshell]int64{}
		}
		enumerate(old.windows, page)
		page.history = ""
		enumerate(old.tabs, page)
	}))
}

// enumerate gives what has no number the next one.
func enumerate(known map[docshell]int64, page docshell) {
	if known[page] == 0 {
		known[page] = int64(len(known) + 1)
	}
}

// identify is the tab and the window of a page.
func (r *reader) identify(of *jsonfile.Value, o object) (tab, window int64) {
	if page, ok := docshellOf(of, o, "docshellId", "historyId"); ok {
		window = r.oldPages.windows[page]
		page.history = ""
		return r.oldPages.tabs[page], window
	}
	return o.integer(firstOf(o, "tabID", "browsingContextID")), o.integer("innerWindowID")
}

// members is members of the payload of the row, with the window that an old one means
// in the place of what it says.
func (m *markerTable) members(visit func(key, value []byte)) {
	if m.r.oldPages.windows == nil {
		members(m.data(), visit)
		return
	}
	page, _ := docshellOf(m.pages, parse(m.data()), "docShellId", "docshellHistoryId")
	window := m.r.oldPages.windows[page]
	members(m.data(), func(key, value []byte) {
		switch {
		case window != 0 && string(key) == "docShellId":
			visit([]byte(windowKey), strconv.AppendInt(nil, window, 10))
		case window != 0 && string(key) == "docshellHistoryId":
		default:
			visit(key, value)
		}
	})
}

// firstOf is the first of keys that an object has.
func firstOf(o object, keys ...string) string {
	for _, key := range keys {
		if o.has(key) {
			return key
		}
	}
	return ""
}
