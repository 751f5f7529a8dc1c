package flame

import (
	"fmt"
	"hash/fnv"
	"strings"
	"time"

	"gprof/stream"
)

// Caption is the text above a graph.
type Caption struct {
	Title      string // service and version
	Range      string // of time, UTC, with its length
	Processes  string // their number and hosts
	Losses     string // in short; "" if nothing is missing
	Start, End stream.Time
}

// NewCaption describes the run of t with ledger lines.
func NewCaption(t *stream.Tables, lines []stream.Line) Caption {
	c := Caption{Title: title(t.Processes), Processes: processes(t.Processes), Losses: losses(lines)}
	for _, p := range t.Processes {
		if p.Start != 0 && (c.Start == 0 || p.Start < c.Start) {
			c.Start = p.Start
		}
		c.End = max(c.End, p.End)
	}
	c.Range = timeRange(c.Start, c.End)
	return c
}

// title names each service with its versions, in process order.
func title(all []stream.Process) string {
	var names []string
	seen := make(map[string]bool)
	for _, p := range all {
		name := p.Service
		if name == "" {
			name = p.Name
		}
		if name = strings.TrimSpace(name + " " + p.Version); name != "" && !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	}
	return Names(names, "Recording")
}

// Names lists the first names, or says none if there are none.
func Names(names []string, none string) string {
	const most = 3
	switch {
	case len(names) == 0:
		return none
	case len(names) > most:
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}

func processes(all []stream.Process) string {
	hosts := make(map[string]bool)
	for _, p := range all {
		if p.Host != "" {
			hosts[p.Host] = true
		}
	}
	switch {
	case len(all) == 1 && len(hosts) == 1:
		return "1 process on " + all[0].Host
	case len(hosts) > 1:
		return fmt.Sprintf("%d processes on %d hosts", len(all), len(hosts))
	case len(hosts) == 1 && all[0].Host != "":
		return fmt.Sprintf("%d processes on %s", len(all), all[0].Host)
	}
	return Count(int64(len(all)), "process", "processes")
}

// Count writes a number with the word for it: "1,024 samples".
func Count(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	digits := fmt.Sprint(n)
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits + " " + many
}

// timeRange is exact to the millisecond, with the day once if it is the same.
func timeRange(start, end stream.Time) string {
	const day, clock = "2006-01-02 ", "15:04:05.000"
	if start <= 0 {
		return "time unknown"
	}
	from, to := time.Unix(0, int64(start)).UTC(), time.Unix(0, int64(end)).UTC()
	if end <= start {
		return "from " + from.Format(day+clock) + " UTC"
	}
	last := to.Format(clock)
	if from.YearDay() != to.YearDay() || from.Year() != to.Year() {
		last = to.Format(day + clock)
	}
	return fmt.Sprintf("%s – %s UTC (%s)", from.Format(day+clock), last, span(to.Sub(from)))
}

// span writes a duration with a few digits: a length, not a measurement.
func span(d time.Duration) string {
	switch {
	case d >= time.Minute:
		return d.Round(time.Second / 10).String()
	case d >= time.Second:
		return d.Round(time.Second / 100).String()
	}
	return d.Round(time.Microsecond).String()
}

// losses sums up what is missing, the first few in the ledger's order of reasons.
func losses(lines []stream.Line) string {
	const most = 3
	type loss struct {
		reason stream.Reason
		what   string
	}
	counts := make(map[loss]int64)
	var order []loss
	for _, line := range lines {
		if line.Reason.Severity() != stream.Loss || line.Reason.Quiet() {
			continue
		}
		key := loss{line.Reason, line.What}
		if _, known := counts[key]; !known {
			order = append(order, key)
		}
		counts[key] += line.Count
	}
	var texts []string
	for _, key := range order[:min(len(order), most)] {
		texts = append(texts, fmt.Sprintf("%s (%s)", Count(counts[key], key.what, key.what), key.reason.String()))
	}
	if len(order) > most {
		texts = append(texts, fmt.Sprintf("%d other losses", len(order)-most))
	}
	return strings.Join(texts, "; ")
}

// categoryHex are the colors of categories by Firefox Profiler's names: light enough for dark text,
// dark enough for a white page.
var categoryHex = map[string]string{
	"transparent": "#e3e6ea", "purple": "#c3a6e8", "green": "#8fcf9b", "orange": "#f3b26b", "yellow": "#ecd266",
	"lightblue": "#9fd4ea", "blue": "#8fb4f0", "brown": "#d0ae8a", "magenta": "#e79fd0", "red": "#ef8f84", "lightred": "#f5b5ab",
	"darkgrey": "#b0b7c1", "grey": "#ccd2d9",
}

// CategoryHex is the color of that name.
func CategoryHex(name string) string {
	if hex, ok := categoryHex[name]; ok {
		return hex
	}
	return categoryHex["grey"]
}

// packageHex are the colors that packages get by name, always the same, so that graphs can be
// compared.
var packageHex = []string{
	"#f0a48a", "#8fb4f0", "#8fcf9b", "#ecd266", "#c3a6e8", "#9fd4ea", "#e79fd0", "#d0ae8a", "#f3b26b", "#a9d8c4", "#b8c4f2", "#d6d98a",
}

// PackageHex is the color of a package; none is grey.
func PackageHex(name string) string {
	if name == "" {
		return categoryHex["grey"]
	}
	return packageHex[hash(name)%uint32(len(packageHex))]
}

func hash(s string) uint32 {
	h := fnv.New32a()
	h.Write([]byte(s))
	return h.Sum32()
}

// splitName returns the package in a Go function's name, as "net/http" in "net/http.(*conn).serve",
// and the name without the path: "http.(*conn).serve". Type arguments and receivers contain slashes
// and dots, too.
func splitName(function, module string) (pkg, short string) {
	head := function
	if i := strings.IndexAny(head, "[("); i >= 0 {
		head = head[:i]
	}
	slash := strings.LastIndexByte(head, '/') + 1
	if dot := strings.IndexByte(head[slash:], '.'); dot > 0 {
		return head[:slash+dot], function[slash:]
	}
	return module, function
}
