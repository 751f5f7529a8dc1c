package recorder

import (
	"gprof/rawformat"
	"gprof/recorder/internal/page"
)

// Page is something that a program works on for a while and that its markers refer to: a
// document, a tenant, a job. Front ends show the page of a marker, see [PageID]. Pages are
// not for requests: some thousand may be open at a time.
//
//	job := recorder.OpenPage("job://nightly/invoices")
//	defer job.Close()
//
//	step.Mark(job.ID(), "render")
//
// A recording has the page as long as it has anything from before the page's end. Unlike a
// marker, opening or closing a page takes a lock and allocates. All methods work on nil,
// which is no page.
type Page struct{ page page.Page }

// PageOption is a property of a page.
type PageOption func(*Page)

// Tab puts the page into the tab of that number; front ends let people choose all pages of
// a tab at once. Default: the tab of the page that it is embedded in, else a tab of its
// own.
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

// PageID is a field that says which page a marker belongs to: its value is [Page.ID].
func PageID(name string) Field[uint64] {
	return number[uint64](name, rawformat.WireUint, rawformat.FormatWindow)
}

// OpenPage opens a page. Its URL may be any text that names it, and is cut at 1 KiB.
func OpenPage(url string, opts ...PageOption) *Page {
	p := &Page{page.Page{URL: url}}
	for _, o := range opts {
		o(p)
	}
	page.Open(&p.page)
	return p
}

// ID is the number of the page, for fields made by [PageID]; 0 for nil.
func (p *Page) ID() uint64 {
	if p == nil {
		return 0
	}
	return p.page.ID
}

// Close ends the page. A second call does nothing.
func (p *Page) Close() {
	if p != nil {
		p.page.Close()
	}
}
