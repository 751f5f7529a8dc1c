package recorder

import (
	"gprof/rawformat"
	"gprof/recorder/internal/page"
)

// Page is something that a program works on for a while, and that its markers name:
// a document, a tenant, a job. Front ends show which page a marker is of, see
// [PageID]. It is not for requests: there may be some thousand pages open at a time.
//
//	job := recorder.OpenPage("job://nightly/invoices")
//	defer job.Close()
//
//	step.Mark(job.ID(), "render")
//
// A recording has the page as long as it has anything from before its end. Opening
// and closing take a lock and allocate, unlike markers. All methods work on nil, which
// is no page.
type Page struct{ page page.Page }

// PageOption is a property of a page.
type PageOption func(*Page)

// Tab puts the page among others of that number, which front ends let one choose
// together. Without it the page is in that of the page it is embedded in, else in
// one of its own.
func Tab(n uint64) PageOption { return func(p *Page) { p.page.Tab = n } }

// EmbeddedIn says that the page is a part of another one.
func EmbeddedIn(outer *Page) PageOption {
	return func(p *Page) {
		if outer != nil {
			p.page.Embedder = outer.page.ID
			if p.page.Tab == 0 {
				p.page.Tab = outer.page.Tab
			}
		}
	}
}

// Private says that the page's address is a secret; see gprof-convert --redact.
func Private() PageOption { return func(p *Page) { p.page.Private = true } }

// PageID is the page that a marker is of: the value is [Page.ID].
func PageID(name string) Field[uint64] {
	return number[uint64](name, rawformat.WireUint, rawformat.FormatWindow)
}

// OpenPage opens a page. Its URL may be any text that names it; it is cut at 1 KiB.
func OpenPage(url string, opts ...PageOption) *Page {
	p := &Page{page.Page{URL: url}}
	for _, o := range opts {
		o(p)
	}
	page.Open(&p.page)
	return p
}

// ID is the number of the page, 0 for nil: what a marker tells as a field made by
// [PageID].
func (p *Page) ID() uint64 {
	if p == nil {
		return 0
	}
	return p.page.ID
}

// Close ends the page. Closing twice does nothing.
func (p *Page) Close() {
	if p != nil {
		p.page.Close()
	}
}
