package main

import (
	"fmt"
	"strings"
	"time"

	"gprof/convert"
)

// buckets is the flag that keeps time in formats that have none.
type buckets struct {
	Buckets bucket `placeholder:"TIME" help:"Sum up the samples of a pprof profile by steps of time, too, such as 1s, which are its label time."`
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

// set sets the option of all targets that know it. It is an error if none does.
func (b *buckets) set(targets []target) error {
	any := b.Buckets == 0
	for i := range targets {
		if t := &targets[i]; t.format.Buckets {
			any, t.options.Buckets = true, time.Duration(b.Buckets)
		}
	}
	if any {
		return nil
	}
	var names []string
	for _, f := range convert.Formats() {
		if f.Buckets {
			names = append(names, f.Name)
		}
	}
	return fmt.Errorf("--buckets is for %s, which no output is", strings.Join(names, ", "))
}
