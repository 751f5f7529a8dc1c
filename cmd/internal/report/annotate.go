package report

import (
	"fmt"
	"io"
	"strings"

	"gprof/convert/compare"
)

// Annotate writes each outcome as a workflow command of GitHub Actions, which shows it above the
// changes: an error if the condition is met, a warning if that is not known, else a notice.
func Annotate(out io.Writer, outcomes []compare.Outcome) {
	kinds := map[compare.Verdict]string{compare.Holds: "notice", compare.Beyond: "error"}
	for _, o := range outcomes {
		kind := kinds[o.Verdict]
		if kind == "" || !o.Change.Judged {
			kind = "warning"
		}
		fmt.Fprintf(out, "::%s title=%s::%s\n", kind, annotationProperty.Replace("gprof: "+o.Text), annotationText.Replace(OutcomeText(o)))
	}
}

// What would end a command, or a property of it, is written as GitHub's own toolkit does.
var (
	annotationText     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	annotationProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)
