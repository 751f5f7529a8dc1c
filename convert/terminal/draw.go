package terminal

import (
	"fmt"
	"math"
	"time"

	"github.com/clipperhouse/displaywidth"
	"github.com/gdamore/tcell/v3"
	"github.com/gdamore/tcell/v3/color"

	"gprof/convert/internal/calls"
	"gprof/stream"
	"gprof/stream/wording"
)

// painter draws a state.
type painter struct {
	*state
	screen        tcell.Screen
	width, height int
	mono          bool // there are no colours: boxes differ by their edges
}

// draw draws all: two lines of what is chosen, the time line, the graph, and a line about the selected function.
func draw(screen tcell.Screen, s *state) {
	p := painter{state: s, screen: screen, mono: screen.Colors() == 0}
	p.width, p.height = screen.Size()
	screen.Clear()
	screen.HideCursor()
	if s.help {
		p.drawHelp()
	} else {
		y := p.drawHead()
		y = p.drawTimes(y)
		p.drawGraph(y)
		p.drawFoot()
	}
	screen.Show()
}

var (
	plain  = tcell.StyleDefault
	bold   = plain.Bold(true)
	faint  = plain.Dim(true)
	chosen = plain.Reverse(true)
)

// text writes a text of a recording or ours from x on, in cells before limit. It returns where the text ends.
func (p *painter) text(x, y, limit int, text string, style tcell.Style) int {
	limit = min(limit, p.width)
	for rest := wording.Printable(text); rest != "" && x < limit; {
		next, width := p.screen.Put(x, y, rest, style)
		if len(next) >= len(rest) {
			break
		}
		if x+width > limit { // of a wide character half would be outside
			p.screen.Put(x, y, " ", style)
			return x + 1
		}
		x, rest = x+width, next
	}
	return x
}

func (p *painter) drawHead() (y int) {
	who := fmt.Sprintf("all %d processes", len(p.run.tables.Processes))
	if p.process != 0 {
		who = p.run.tables.Process(p.process).Title()
	} else if len(p.run.tables.Processes) == 1 {
		who = p.run.tables.Process(1).Title()
	}
	x := p.text(0, 0, p.width, p.run.caption.Title+"  ", bold)
	p.text(x, 0, p.width, who, plain)
	if len(p.run.bases) == 0 {
		p.text(0, 1, p.width, "no samples, memory or waits are in it", plain)
		return 2
	}
	x = p.text(0, 1, p.width, p.of().width().Describe(p.totals[0])+"  ", plain)
	period := fmt.Sprintf("%s, %s", clock(p.at(p.from)), time.Duration(p.at(p.to)-p.at(p.from)).Round(time.Millisecond))
	if p.of().of == calls.Heap {
		period = p.heapAge()
	}
	p.text(x, 1, p.width, period, faint)
	return 2
}

// heapAge says how far what is in use can be trusted: of one process; of several, how old the oldest is.
func (p *painter) heapAge() string {
	n, oldest, text := 0, stream.Time(0), ""
	for i := range p.run.tables.Processes {
		proc := &p.run.tables.Processes[i]
		if (p.process == 0 || p.process == stream.ProcessID(i+1)) && proc.Heap.Sampled != 0 {
			n++
			oldest, text = max(oldest, proc.End-proc.Heap.Sampled), "as of "+wording.Heap(&proc.Heap, proc.End)
		}
	}
	switch n {
	case 0:
		return "at the end"
	case 1:
		return text
	}
	return fmt.Sprintf("as of up to %s before the end; p shows one process", time.Duration(oldest).Round(100*time.Millisecond))
}

func clock(t stream.Time) string { return time.Unix(0, int64(t)).UTC().Format("15:04:05.000") }

func share(part, all int64) string {
	if all == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(part)/float64(all))
}

// The least heights with which the time line, and the markers, have room.
const (
	timesHeight = 9
	lanesHeight = 14
)

// labelWidth is the room left of the time line.
func (p *painter) labelWidth() int { return min(16, p.width/4) }

// drawTimes draws the time line, with the markers, and returns where the graph begins.
func (p *painter) drawTimes(y int) int {
	if p.height < timesHeight || len(p.run.bases) == 0 && len(p.run.lanes) == 0 {
		return y
	}
	const rows = 2
	if len(p.run.bases) > 0 {
		p.drawCourse(y, rows)
		y += rows
	}
	if p.height >= lanesHeight {
		tracks := p.run.tracks(p.choice)
		most := min((p.height-lanesHeight)/3+2, 6)
		for _, t := range tracks[:min(len(tracks), most)] {
			p.drawTrack(y, t)
			y++
		}
	}
	return y
}

// column is the slots of a column of the time line.
func (p *painter) column(i, columns int) (from, to int) {
	length := p.to - p.from
	from = p.from + i*length/columns
	return from, max(from+1, p.from+(i+1)*length/columns)
}

var levels = []rune(" ▁▂▃▄▅▆▇█")

// drawCourse draws the first basis over time.
func (p *painter) drawCourse(y, rows int) {
	left := p.labelWidth()
	p.text(0, y, left-1, string(p.run.bases[0].of), faint)
	columns := p.width - left
	density := p.run.density(p.choice)
	heights, most := make([]float64, max(columns, 0)), 0.0
	for i := range heights {
		from, to := p.column(i, columns)
		for _, v := range density[from:to] {
			heights[i] += v
		}
		heights[i] /= float64(to - from)
		most = max(most, heights[i])
	}
	full := len(levels) - 1
	for i, h := range heights {
		level := 0
		if most > 0 && h > 0 {
			level = max(1, int(math.Round(h/most*float64(full*rows))))
		}
		for row := range rows {
			here := min(max(level-full*(rows-1-row), 0), full)
			p.screen.Put(left+i, y+row, string(levels[here]), plain)
		}
	}
}

func (p *painter) drawTrack(y int, t track) {
	left := p.labelWidth()
	p.text(0, y, left-1, t.name, faint)
	for i := range p.width - left {
		from, to := p.column(i, p.width-left)
		most := noMark
		for _, m := range t.marks[from:to] {
			most = max(most, m)
		}
		p.screen.Put(left+i, y, string([]rune(" ·━")[most]), plain)
	}
}

// drawGraph draws the graph from y on, the root first; the line at the bottom stays free. If the selected function
// is too far down, the rows in between are scrolled.
func (p *painter) drawGraph(y int) {
	rows := p.height - 1 - y
	if rows <= 0 || p.totals[p.root] <= 0 {
		return
	}
	depth := 0
	for node := p.selected; node != p.root; node = p.run.tree.Parent[node] {
		depth++
	}
	g := graph{painter: p, top: y, rows: rows, first: max(0, depth-rows+1), unit: float64(p.width) / float64(p.totals[p.root])}
	g.box(p.root, 0, 0)
}

// graph is where boxes go.
type graph struct {
	*painter
	top, rows, first int
	unit             float64 // columns of a weight of 1
}

// box draws a node and those that it calls, from a weight on.
func (g *graph) box(node int32, depth int, left int64) {
	from, to := int(float64(left)*g.unit+0.5), int(float64(left+g.totals[node])*g.unit+0.5)
	if to <= from || depth-g.first >= g.rows {
		return
	}
	if depth >= g.first {
		g.drawBox(node, g.top+depth-g.first, from, to)
	}
	for _, child := range g.children[node] {
		g.box(child, depth+1, left)
		left += g.totals[child]
	}
}

func (g *graph) drawBox(node int32, y, from, to int) {
	style, name := g.style(node), "all"
	if node != 0 {
		name = g.run.tree.Frames[g.run.tree.Frame[node]].Short
	}
	g.screen.FillArea(from, y, to-from, 1, ' ', style)
	if to-from > 1 {
		edge := " "
		if g.mono {
			edge = "|"
		}
		g.screen.Put(from, y, edge, style)
		g.text(from+1, y, to, name, style)
	} else if g.mono {
		g.screen.Put(from, y, "|", style)
	}
}

func (g *graph) style(node int32) tcell.Style {
	marked := g.matches != nil && g.matches[node]
	switch {
	case node == g.selected:
		return chosen.Bold(true)
	case g.mono && marked:
		return plain.Bold(true).Underline(true)
	case g.mono || node == 0:
		return plain
	case g.matches != nil && !marked:
		return plain.Dim(true)
	}
	f := &g.run.tree.Frames[g.run.tree.Frame[node]]
	style := plain.Background(tcell.GetColor(g.run.tree.Color(f))).Foreground(color.Black)
	if marked {
		return style.Bold(true).Underline(true)
	}
	return style
}

// drawFoot says what is selected, or searched.
func (p *painter) drawFoot() {
	y := p.height - 1
	if p.typing {
		x := p.text(0, y, p.width, "/"+p.query, plain)
		p.screen.ShowCursor(x, y)
		return
	}
	hint := "? help"
	if p.wrong != "" {
		hint = p.wrong
	} else if p.query != "" {
		hint = "/" + p.query + " " + share(p.found, p.totals[0])
	}
	room := p.width - displaywidth.String(wording.Printable(hint)) - 1
	if len(p.run.bases) > 0 {
		own := p.totals[p.selected]
		for _, child := range p.children[p.selected] {
			own -= p.totals[child]
		}
		text := fmt.Sprintf("%s %s", p.of().width().Amount(p.totals[p.selected]), share(p.totals[p.selected], p.totals[0]))
		if p.selected != 0 {
			text += ", self " + share(own, p.totals[0])
		}
		x := p.text(0, y, room, text+"  ", bold)
		p.text(x, y, room, p.name(p.selected), plain)
	}
	p.text(max(room+1, 0), y, p.width, hint, faint)
}

var helpLines = []string{
	"arrows, hjkl  select a function: caller, callee, neighbours",
	"Enter, Esc    zoom into it, and back to its caller",
	"/  n          search by a regular expression; next match",
	"+  -          shorter and longer time; <  > earlier and later",
	"0             all of the time, and of the graph",
	"p  P          next and previous process",
	"o             cpu, samples, heap, allocations, waits",
	"q             quit",
}

func (p *painter) drawHelp() {
	for y, line := range helpLines {
		p.text(0, y, p.width, line, plain)
	}
}
