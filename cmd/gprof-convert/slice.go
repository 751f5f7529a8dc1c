package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"gprof/ingest"
)

type sliceCmd struct {
	Inputs []string `arg:"" name:"input" help:"Packed files, session directories or process directories."`
	From   string   `placeholder:"T" help:"Leave out what ended before."`
	To     string   `placeholder:"T" help:"Leave out what began after."`
	packOutput
	reading
}

func (c *sliceCmd) Help() string {
	return `Examples:
  gprof-convert slice checkout.gprof --from=-60s -o last-minute.gprof
  gprof-convert slice out/session --from 2026-11-21T17:02:00Z --to 2026-11-21T17:03:30Z -o slice.gprof
  gprof-convert slice out/session --from 90s --to 2m -o slice.gprof

A time T is one of

  2026-11-21T17:02:00.5Z   a moment, RFC 3339
  1795280520.5             a moment, in seconds since 1970
  90s, 1h2m                that long after the first process began
  -60s                     that long before the last process ended, or before now

Chunks are kept or left out whole: a slice holds a little more than was asked for,
never less, and of a packed file the rest is not even read. It is raw again, and
an input of every command; what was left out is not counted as lost.`
}

// Run packs the chunks that hold something of the time asked for.
func (c *sliceCmd) Run(s *streams) error {
	if c.From == "" && c.To == "" {
		return &exitError{exitUsage, fmt.Errorf("--from or --to is missing; without them it is gprof-convert pack")}
	}
	found, err := s.open(c.Inputs, &c.reading)
	if err != nil {
		return err
	}
	defer found.Close()
	start, end := found.Times(time.Now())
	span := ingest.PackSpan{From: math.MinInt64, To: math.MaxInt64}
	if err := parseMoment(c.From, start, end, &span.From); err != nil {
		return &exitError{exitUsage, fmt.Errorf("--from: %w", err)}
	}
	if err := parseMoment(c.To, start, end, &span.To); err != nil {
		return &exitError{exitUsage, fmt.Errorf("--to: %w", err)}
	}
	if span.From > span.To {
		return &exitError{exitUsage, fmt.Errorf("--from %s is later than --to %s", utc(span.From), utc(span.To))}
	}
	return c.write(s, found, span)
}

// utc shows nanoseconds since the Unix epoch.
func utc(ns int64) string { return time.Unix(0, ns).UTC().Format(time.RFC3339Nano) }

// parseMoment reads a time into at, which stays what it is if there is none.
// start and end are those of the recording, in nanoseconds since the Unix epoch.
func parseMoment(text string, start, end int64, at *int64) error {
	if text == "" {
		return nil
	}
	if d, err := time.ParseDuration(text); err == nil && strings.ContainsAny(text, "hmsuµn") {
		if strings.HasPrefix(text, "-") {
			*at = end + int64(d)
		} else {
			*at = start + int64(d)
		}
		return nil
	}
	if t, err := time.Parse(time.RFC3339, text); err == nil && t.Year() > 1677 && t.Year() < 2262 {
		*at = t.UnixNano()
		return nil
	}
	seconds, err := strconv.ParseFloat(text, 64)
	if err == nil && seconds >= 0 && seconds < math.MaxInt64/1e9 {
		whole, part := math.Modf(seconds)
		*at = int64(whole)*1e9 + int64(part*1e9)
		return nil
	}
	return fmt.Errorf("%q is no time; want one such as 2026-11-21T17:02:00Z, 1795280520, 90s after the start, or -60s before the end", text)
}
