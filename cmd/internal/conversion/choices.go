package conversion

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"gprof/convert"
	"gprof/stream/filter"
)

// Columns are the flags for formats that compress by columns.
type Columns struct {
	Compression string `placeholder:"HOW" help:"Of the columns of arrow and parquet: none, lz4 or zstd, which is the default."`
}

// Compress sets how targets compress. It is an error if no target's format can.
func (c Columns) Compress(targets []Target) error {
	if c.Compression == "" {
		return nil
	}
	how, err := convert.ParseCompression(c.Compression)
	if err != nil {
		return err
	}
	var others []string
	for i := range targets {
		if targets[i].Format.Directory() {
			targets[i].Options.Compression = how
		} else {
			others = append(others, targets[i].Format.Name)
		}
	}
	if len(others) == len(targets) {
		return fmt.Errorf("--compression is for formats of columns, not for %s; end the name of a file with .gz to compress it", strings.Join(others, ", "))
	}
	return nil
}

// Sums are the flags for formats that add up samples.
type Sums struct {
	Buckets bucket `placeholder:"TIME" xor:"sums" help:"Sum up the samples of a pprof profile by steps of time, too, such as 1s, which are its label time."`
	Sum     bool   `xor:"sums" help:"Sum up the samples of a pprof profile over all processes, tracks and goroutines, as go tool pprof does with several profiles. They have no labels that tell which one."`
}

// bucket is the length of a step of time over which samples are added up, 0 for none.
type bucket time.Duration

// UnmarshalText reads a duration.
func (b *bucket) UnmarshalText(text []byte) error {
	d, err := time.ParseDuration(string(text))
	if err != nil || d <= 0 {
		return fmt.Errorf("%q: want a duration above 0, as in 1s", text)
	}
	*b = bucket(d)
	return nil
}

// Set sets the options of all targets that have them. It is an error if none has.
func (s *Sums) Set(table convert.Table, targets []Target) error {
	any := false
	for i := range targets {
		if t := &targets[i]; t.Format.Sums {
			any, t.Options.Buckets, t.Options.Sum = true, time.Duration(s.Buckets), s.Sum
		} else if t.Format.Summed && s.Sum {
			any = true
		}
	}
	sums := func(f *convert.Format) bool { return f.Sums }
	switch {
	case any:
	case s.Buckets != 0:
		return unknownTo(table, "--buckets", sums)
	case s.Sum:
		return unknownTo(table, "--sum", sums)
	}
	return nil
}

// unknownTo is the error that no output knows a flag, with the formats that do.
func unknownTo(table convert.Table, flag string, does func(*convert.Format) bool) error {
	var names []string
	for i := range table {
		if does(&table[i]) {
			names = append(names, table[i].Name)
		}
	}
	return fmt.Errorf("%s is for %s, which no output is", flag, strings.Join(names, ", "))
}

// Shares are the flags for formats in which services count as is asked for.
type Shares struct {
	Weight []weight `sep:"none" placeholder:"NAME=N" help:"Have each service count the same in a .pgo, however much was recorded of it, but services whose processes NAME fits, as for --process, N times as much. May be repeated; the first that fits counts."`
}

// weight is the value of --weight.
type weight convert.Weight

// UnmarshalText reads NAME=N.
func (w *weight) UnmarshalText(text []byte) (err error) {
	at := bytes.LastIndexByte(text, '=')
	if at > 0 {
		w.Of = filter.Pattern(text[:at])
		w.Times, err = strconv.ParseFloat(string(text[at+1:]), 64)
	}
	if at <= 0 || err != nil || !(w.Times > 0) || math.IsInf(w.Times, 0) {
		return fmt.Errorf("%q: want a name of processes and a number above 0, as in checkout=2", text)
	}
	return nil
}

// Set sets the options of all targets that have them. It is an error if none has.
func (s *Shares) Set(table convert.Table, targets []Target) error {
	any := false
	for i := range targets {
		if t := &targets[i]; t.Format.Weighs {
			any = true
			for _, w := range s.Weight {
				t.Options.Weights = append(t.Options.Weights, convert.Weight(w))
			}
		}
	}
	if len(s.Weight) > 0 && !any {
		return unknownTo(table, "--weight", func(f *convert.Format) bool { return f.Weighs })
	}
	return nil
}
