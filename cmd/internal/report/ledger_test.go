package report

import (
	"bytes"
	"fmt"
	"testing"

	"gprof/stream"
)

func TestPrintLedger(t *testing.T) {
	var out bytes.Buffer
	var l stream.Ledger
	PrintLedger(&out, everyLine, Part{Lines: l.Lines()})
	if out.Len() > 0 {
		t.Errorf("an empty ledger is shown as\n%s", &out)
	}
	l.Add(stream.Line{Process: "a", Reason: stream.ReasonDamaged, What: "blocks", Where: "chunk-00000 page 1", Count: 3, Bytes: 4096})
	l.Add(stream.Line{Process: "a", Reason: stream.ReasonDamaged, What: "blocks", Where: "chunk-00001 page 5", Count: 4, Bytes: 4096})
	l.Add(stream.Line{Reason: stream.ReasonUnreadable, What: "inputs", Where: "x.tar", Count: 1})
	PrintLedger(&out, everyLine, Part{Lines: l.Lines()})
	want := `LEDGER  process  count  what             why                where
loss    -        1      inputs           could not be read  x.tar
loss    a        7      blocks (8192 B)  checksum differs   several places
`
	if out.String() != want {
		t.Errorf("shown:\n%swant:\n%s", &out, want)
	}
}

// If there are many processes only the reasons are shown.
func TestPrintLedgerMany(t *testing.T) {
	var out bytes.Buffer
	var l stream.Ledger
	for i := range 1000 {
		l.Add(stream.Line{Process: fmt.Sprintf("%016x", i), Reason: stream.ReasonUnproven, What: "blocks", Where: "chunk-00000", Count: 2, Bytes: 10})
	}
	l.Add(stream.Line{Process: "0000000000000007", Reason: stream.ReasonGap, What: "places", Where: "index 1 to 9", Count: 1})
	PrintLedger(&out, everyLine, Part{Lines: l.Lines()})
	want := `LEDGER  process           count  what              why                      where
loss    0000000000000007  1      places            chunk is missing         index 1 to 9
unsure  1000 of them      2000   blocks (10000 B)  read without a checksum  chunk-00000
`
	if out.String() != want {
		t.Errorf("shown:\n%swant:\n%s", &out, want)
	}
}

func everyLine(stream.Line) bool { return true }
