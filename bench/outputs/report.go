package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"
)

// report is the table.
func report(lines []line, results map[string]result, samples int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %s, %s/%s; %d samples and %d markers; one core\n\n", model(), runtime.Version(), runtime.GOOS, runtime.GOARCH, samples, samples/5)
	b.WriteString("| what | CPU s | of it output | + system s | M samples/CPU s | peak MB | of it output | file MB | ours takes less |\n")
	b.WriteString("|---|--:|--:|--:|--:|--:|--:|--:|---|\n")
	for _, l := range lines {
		r, zero := results[l.name], results[base]
		fmt.Fprintf(&b, "| %s | %.2f | %s | %.2f | %.1f | %.0f | %s | %s | %s |\n", l.name, r.cpu.Seconds(), more(r.cpu.Seconds()-zero.cpu.Seconds(), "%.2f"),
			r.system.Seconds(), rate(samples, r.cpu), mb(r.Peak), more(mb(r.Peak-zero.Peak), "%.0f"), more(mb(r.Bytes), "%.1f"), l.compared(results))
	}
	return b.String()
}

// compared says how much less our own way takes. In brackets the time of the
// system is counted, too.
func (l line) compared(results map[string]result) string {
	var parts []string
	for _, name := range l.ours {
		parts = append(parts, fmt.Sprintf("%s: %s", name, results[l.name].less(results[name], results[base])))
	}
	return strings.Join(parts, "; ")
}

// less says how much less of each ours takes, of what both take more than zero.
func (r result) less(ours, zero result) string {
	program := (r.cpu - zero.cpu).Seconds() / (ours.cpu - zero.cpu).Seconds()
	all := (r.all() - zero.all()).Seconds() / (ours.all() - zero.all()).Seconds()
	above, took := "", mb(ours.Peak-zero.Peak)
	if took < noise {
		above, took = "> ", noise
	}
	return fmt.Sprintf("%.1fx CPU (%.1fx), %s%.0fx memory", program, all, above, mb(r.Peak-zero.Peak)/took)
}

// noise is by how many MB the memory of two runs of one line may differ.
const noise = 10

// all is the CPU time of program and system.
func (r result) all() time.Duration { return r.cpu + r.system }

func rate(samples int, cpu time.Duration) float64 { return float64(samples) / cpu.Seconds() / 1e6 }

func mb(bytes int64) float64 { return float64(bytes) / 1e6 }

// more is a number, nothing if it is not above 0.
func more(x float64, format string) string {
	if x <= 0 {
		return ""
	}
	return fmt.Sprintf(format, x)
}

// model names the machine.
func model() string {
	text, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(text)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
			return fmt.Sprintf("%s, %d cores", strings.TrimSpace(value), runtime.NumCPU())
		}
	}
	return fmt.Sprintf("%d cores", runtime.NumCPU())
}
