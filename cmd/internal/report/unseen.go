package report

import (
	"fmt"
	"slices"
	"strings"

	"gprof/convert/top"
	"gprof/stream"
)

// Unseen names the kinds of rows with stacks that there are instead of CPU samples: flame
// graphs, top and diff show CPU samples only.
func Unseen(c *stream.Count) (kinds []string) {
	for _, s := range c.Series {
		switch s.Kind {
		case stream.Samples:
			if s.Samples > 0 {
				return nil
			}
		case stream.Allocations, stream.Waits, stream.Measurements:
			kinds = append(kinds, s.Kind.String())
		}
	}
	slices.Sort(kinds)
	return slices.Compact(kinds)
}

// Lacks reports whether an output had no place for rows of a kind.
func Lacks(l *stream.Ledger, kind string) bool {
	return slices.ContainsFunc(l.Lines(), func(line stream.Line) bool {
		return line.Reason == stream.ReasonNoPlace && line.What == kind
	})
}

// UnseenHint says how to see such rows; "" if there are none.
func UnseenHint(kinds []string) string {
	if len(kinds) == 0 {
		return ""
	}
	text := fmt.Sprintf("there are no CPU samples, only %s: ", strings.Join(kinds, " and "))
	for _, sum := range []struct{ kind, of string }{{stream.Allocations.String(), top.Heap}, {stream.Waits.String(), top.Waits}} {
		if slices.Contains(kinds, sum.kind) {
			text += "gprof-convert top --of " + sum.of + " sums them up, "
		}
	}
	return text + "gprof-convert view shows them in Firefox Profiler, as -o profile.json.gz does, and gprof-convert view --pprof shows graphs of each value"
}

// WaitsHint says how to keep waits that --during left out.
func WaitsHint(c *stream.Count) string {
	left := func(l stream.Line) bool {
		return l.Reason == stream.ReasonFiltered && l.What == stream.Waits.String() && l.Where == "during"
	}
	kept := func(s stream.SeriesTally) bool { return s.Kind == stream.Waits }
	if slices.ContainsFunc(c.Tables.Ledger.Lines(), left) && !slices.ContainsFunc(c.Series, kept) {
		return "no waits are left: they are sums over goroutines, and so not a marker's own; --during-all keeps those of that time"
	}
	return ""
}
