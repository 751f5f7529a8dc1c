package main

import (
	"fmt"
	"strings"
	"time"

	"gprof/convert"
)

// sums are the flags for formats that keep sums: over what samples are added up.
type sums struct {
	Buckets bucket `placeholder:"TIME" xor:"sums" help:"Sum up the samples of a pprof profile by steps of time, too, such as 1s, which are its label time."`
	Sum     bool   `xor:"sums" help:"Sum up the samples of a pprof profile over all processes, tracks and goroutines, as go tool pprof does with several profiles. They have no labels that tell which one."`
}

// bucket is how long such a step is, 0 for none.
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

// set sets the options of all targets that know them. It is an error if none does.
func (s *sums) set(targets []target) error {
	any := false
	for i := range targets {
		if t := &targets[i]; t.format.Sums {
			any, t.options.Buckets, t.options.Sum = true, time.Duration(s.Buckets), s.Sum
		}
	}
	switch {
	case any:
	case s.Buckets != 0:
		return unknownTo("--buckets")
	case s.Sum:
		return unknownTo("--sum")
	}
	return nil
}

// unknownTo says that no output knows a flag, and which formats do.
func unknownTo(flag string) error {
	var names []string
	for _, f := range convert.Formats() {
		if f.Sums {
			names = append(names, f.Name)
		}
	}
	return fmt.Errorf("%s is for %s, which no output is", flag, strings.Join(names, ", "))
}
