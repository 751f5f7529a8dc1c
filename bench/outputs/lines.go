package main

import (
	"fmt"
	"regexp"
	"slices"
)

// line is a line of the table.
type line struct {
	name string
	work work
	ours []string // the lines that do the same in our way; nil for ours
}

// base is the line that all others are compared with: it writes nothing.
const base = "nothing"

// lines is in the order of the table.
var lines = []line{
	{name: "decode", work: decodeOnly},
	{name: base, work: convertTo("")},
	{name: "firefox", work: convertTo("firefox.json")},
	{name: "gecko", work: convertTo("gecko.json")},
	{name: "folded", work: convertTo("folded")},
	{name: "firefox, gzip as it comes", work: convertTo("firefox.json.gz")},
	{name: "gecko, gzip as it comes", work: convertTo("gecko.json.gz")},
	{name: "firefox, gzip 1", work: convertAt("firefox.json.gz", 1)},
	{name: "firefox, gzip 2", work: convertAt("firefox.json.gz", 2)},
	{name: "firefox, gzip 6", work: convertAt("firefox.json.gz", 6)},
	{name: "gecko, gzip 1", work: convertAt("gecko.json.gz", 1)},
	{name: "gecko, gzip 2", work: convertAt("gecko.json.gz", 2)},
	{name: "gecko, gzip 6", work: convertAt("gecko.json.gz", 6)},
	{name: "gecko by encoding/json, gzip 1", work: marshal(standardJSON), ours: []string{"gecko, gzip 1", "firefox, gzip 1"}},
	{name: "gecko by sonic, gzip 1", work: marshal(sonicJSON), ours: []string{"gecko, gzip 1", "firefox, gzip 1"}},
	{name: "pprof", work: convertTo("pb.gz")},
	{name: "pprof by google/pprof", work: buildProfile, ours: []string{"pprof"}},
	{name: "parquet", work: writeTables},
}

// selected are the lines that match, the base, and those they are compared with.
func selected(pattern string) (chosen []line, err error) {
	match, err := regexp.Compile(pattern)
	if err != nil {
		return nil, err
	}
	wanted := map[string]bool{base: true}
	for _, l := range lines {
		if match.MatchString(l.name) {
			wanted[l.name] = true
			for _, name := range l.ours {
				wanted[name] = true
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(lines), func(l line) bool { return !wanted[l.name] }), nil
}

func lineOf(name string) (line, error) {
	for _, l := range lines {
		if l.name == name {
			return l, nil
		}
	}
	return line{}, fmt.Errorf("no line %q", name)
}
