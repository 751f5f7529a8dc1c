package human

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"gprof/stream/wording"
)

// table is lines of numbers, each followed by a name.
type table struct {
	out   io.Writer
	width int // 0: as wide as necessary
	rows  [][]string
}

func NewTable(out io.Writer, width int, head ...string) *table {
	return &table{out, width, [][]string{head}}
}

func (t *table) Row(cells ...string) { t.rows = append(t.rows, cells) }

// Flush prints the rows, and cuts names that would not fit.
func (t *table) Flush() {
	var numbers strings.Builder
	w := tabwriter.NewWriter(&numbers, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, r := range t.rows {
		fmt.Fprintln(w, strings.Join(r[:len(r)-1], "\t")+"\t")
	}
	w.Flush()
	i := 0
	for line := range strings.Lines(numbers.String()) {
		line = strings.TrimSuffix(line, "\n") + "  "
		name := wording.Printable(t.rows[i][len(t.rows[i])-1])
		if t.width > 0 {
			name = CutFront(name, t.width-len([]rune(line)))
		}
		fmt.Fprintln(t.out, line+name)
		i++
	}
}

// minName is how many characters of a name are shown on the narrowest terminal.
const minName = 16

// CutFront makes a text fit by cutting its beginning, which says less than its end.
func CutFront(s string, width int) string {
	runes := []rune(s)
	width = max(width, minName)
	if len(runes) <= width {
		return s
	}
	return "…" + string(runes[len(runes)-width+1:])
}
