package slow

import (
	"encoding/csv"
	"io"
	"strconv"

	"gprof/stream"
)

// groupNames are what rows call the groups.
var groupNames = [numGroups]string{slow: "slow", rest: "rest", open: "still running"}

// columnNames are the names of the columns of the parts, in ns.
var columnNames = [numParts]string{
	CPU: "cpu", Runnable: "runnable", Collector: "collector", Lock: "lock", Network: "network", Calling: "system_call", Waiting: "waiting", Unknown: "unknown",
}

// rows writes a row of comma-separated values for each interval; nil writes none.
type rows struct {
	tables *stream.Tables
	names  []*name
	csv    *csv.Writer
	row    []string
}

func newRows(w io.Writer, t *stream.Tables, names []*name) *rows {
	if w == nil {
		return nil
	}
	r := &rows{tables: t, names: names, csv: csv.NewWriter(w)}
	head := []string{"name", "instance", "goroutine", "ts_ns", "duration_ns", "chosen", "trace_id"}
	for _, c := range columnNames {
		head = append(head, c+"_ns")
	}
	r.csv.Write(append(head, "exact_ns", "estimated_ns")) // Flush has the error
	return r
}

// add adds an interval of a name.
func (r *rows) add(a *active) {
	if r == nil {
		return
	}
	wall, exact, estimated := int64(a.to-a.from), int64(0), int64(0)
	trace := ""
	if a.span != (stream.Span{}) {
		trace = a.span.TraceText()
	}
	n := func(v int64) { r.row = append(r.row, strconv.FormatInt(v, 10)) }
	r.row = append(r.row[:0], r.names[a.stack].Name.Name, r.tables.Process(a.process).InstanceName())
	n(a.goroutine)
	n(int64(a.from))
	n(wall)
	r.row = append(r.row, groupNames[a.value], trace)
	for part := range Unknown {
		n(a.exact[part] + a.estimated[part])
		exact, estimated = exact+a.exact[part], estimated+a.estimated[part]
	}
	n(max(0, wall-exact-estimated))
	n(exact)
	n(estimated)
	r.csv.Write(r.row)
}

func (r *rows) flush() error {
	if r == nil {
		return nil
	}
	r.csv.Flush()
	return r.csv.Error()
}
