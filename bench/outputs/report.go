package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"
)

// report is the table.
func report(lines []line, all results, samples int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %s, %s/%s; %d samples and %d markers; one core\n\n", model(), runtime.Version(), runtime.GOOS, runtime.GOARCH, samples, samples/5)
	b.WriteString("| what | CPU s | of it output | + system s | M samples/CPU s | peak MB | of it output | file MB | asked | reached |\n")
	b.WriteString("|---|--:|--:|--:|--:|--:|--:|--:|---|---|\n")
	for _, l := range lines {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", l.name, all.took(all[l.name]), more(mb(all[l.name].Bytes), "%.1f"), l.asked(), l.reached(all))
	}
	return b.String()
}

// took are the columns of time and memory. Of a part there is only its time.
func (all results) took(r result) string {
	if r.part() {
		return fmt.Sprintf("%.2f |  |  |  |  | ", r.cpu.Seconds())
	}
	return fmt.Sprintf("%.2f | %s | %.2f | %.1f | %.0f | %s", r.cpu.Seconds(), more(all.output(r).Seconds(), "%.2f"), r.system.Seconds(),
		rate(r.samples, r.cpu), mb(r.Peak), more(all.memory(r), "%.0f"))
}

// output is the CPU time that the output takes: more than decoding and sorting.
func (all results) output(r result) time.Duration {
	if r.part() {
		return r.cpu
	}
	return r.cpu - all[base].cpu
}

// memory is the MB that the output takes.
func (all results) memory(r result) float64 { return mb(r.Peak - all[base].Peak) }

// noise is by how many MB the memory of two runs of one line may differ.
const noise = 10

func rate(n int64, cpu time.Duration) float64 { return float64(n) / cpu.Seconds() / 1e6 }

func mb(bytes int64) float64 { return float64(bytes) / 1e6 }

// more is a number, nothing if it is not above 0.
func more(x float64, format string) string {
	if x <= 0 {
		return ""
	}
	return fmt.Sprintf(format, x)
}

// appendRuns appends the runs of all lines to a file, as the lines of Go's benchmarks.
func appendRuns(file string, lines []line, runs map[string][]result) error {
	var b strings.Builder
	for _, l := range lines {
		for _, r := range runs[l.name] {
			fmt.Fprintf(&b, "BenchmarkOutputs/%s 1 %d cpu-ns/op", strings.ReplaceAll(l.name, " ", "_"), r.cpu.Nanoseconds())
			if !r.part() {
				fmt.Fprintf(&b, " %d peak-B %d file-B", r.Peak, r.Bytes)
			}
			b.WriteByte('\n')
		}
	}
	w, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	_, err = w.WriteString(b.String())
	return errors.Join(err, w.Close())
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
