package main

import (
	"fmt"
	"regexp"
	"slices"

	"gprof/stream"
)

// line is a line of the table.
type line struct {
	name   string
	work   work
	goals  []goal
	beside []string // the lines that its goals name
	tables bool     // it reads the tables that were written beforehand
}

// base is the line that all others are compared with: it writes nothing.
const base = "nothing"

// Lines that others are compared with.
const (
	geckoLists   = "gecko by encoding/json, lists of any, gzip 1"
	geckoSonic   = "gecko by sonic, lists of any, gzip 1"
	geckoTyped   = "gecko by encoding/json, typed rows, gzip 1"
	geckoTyped2  = "gecko by sonic, typed rows, gzip 1"
	firefoxTyped = "firefox by encoding/json, typed columns, gzip 1"
	firefoxSonic = "firefox by sonic, typed columns, gzip 1"
	googlePprof  = "pprof by google/pprof"
	collectors   = "otlp by the collector's library"
	duckSamples  = "samples by DuckDB's COPY, zstd"
	duckSamples2 = "samples by DuckDB's COPY, zstd 1, v2"
	duckMarkers  = "markers by DuckDB's COPY, zstd"
	duckMarkers2 = "markers by DuckDB's COPY, zstd 1, v2"
)

// lines is in the order of the table.
var lines = []line{
	{name: "decode", work: decodeOnly},
	{name: base, work: convertTo("")},
	{name: "gecko's rows of samples", work: formatRows("gecko.json"), goals: []goal{likeMemcpy(1. / 20)}},
	{name: "firefox", work: convertTo("firefox.json"), goals: []goal{fast(4)}},
	{name: "perfetto", work: convertTo("perfetto.pftrace")},
	{name: "chrometrace", work: convertTo("chrome.trace.json")},
	{name: "gecko", work: convertTo("gecko.json"), goals: []goal{fast(1.7)}},
	{name: "folded", work: convertTo("folded")},
	beside(line{name: "firefox, gzip as it comes", work: convertTo("firefox.json.gz")}, cost{firefoxTyped, 3, 30}, cost{firefoxSonic, 3, 30}),
	beside(line{name: "gecko, gzip as it comes", work: convertTo("gecko.json.gz")},
		cost{geckoLists, 6, 30}, cost{geckoTyped, 6, 30}, cost{geckoSonic, 3, 30}, cost{geckoTyped2, 3, 30}),
	beside(line{name: "firefox, gzip 1", work: convertAt("firefox.json.gz", 1)}, cost{firefoxTyped, 6, 30}, cost{firefoxSonic, 3, 30}),
	{name: "firefox, gzip 6", work: convertAt("firefox.json.gz", 6)},
	{name: firefoxTyped, work: marshal(newColumns, standardJSON)},
	{name: firefoxSonic, work: marshal(newColumns, sonicJSON)},
	beside(line{name: "gecko, gzip 1", work: convertAt("gecko.json.gz", 1)},
		cost{geckoLists, 6, 30}, cost{geckoTyped, 6, 30}, cost{geckoSonic, 3, 30}, cost{geckoTyped2, 3, 30}),
	{name: "gecko, gzip 6", work: convertAt("gecko.json.gz", 6)},
	{name: geckoLists, work: marshal(newLists, standardJSON)},
	{name: geckoTyped, work: marshal(newTyped, standardJSON)},
	{name: geckoSonic, work: marshal(newLists, sonicJSON)},
	{name: geckoTyped2, work: marshal(newTyped, sonicJSON)},
	beside(line{name: "pprof", work: convertTo("pb.gz")}, cost{googlePprof, 5, 30}),
	{name: googlePprof, work: buildProfile},
	beside(line{name: "otlp", work: convertTo("otlp")}, cost{collectors, 5, 5}),
	{name: collectors, work: collect},
	{name: "parquet", work: writeTables},
	besideDuckDB(line{name: "samples in parquet", work: writeTable(stream.Samples, "samples"), goals: []goal{rows(5)}}, duckSamples, duckSamples2, 1.2, 1.05),
	{name: duckSamples, work: duckDB("", "samples"), tables: true},
	{name: duckSamples2, work: duckDB(duckLikeOurs, "samples"), tables: true},
	besideDuckDB(line{name: "markers in parquet", work: writeTable(stream.Markers, "markers", "typed_markers")}, duckMarkers, duckMarkers2, 1.5, 1),
	{name: duckMarkers, work: duckDB("", "markers", "typed_markers/*"), tables: true},
	{name: duckMarkers2, work: duckDB(duckLikeOurs, "markers", "typed_markers/*"), tables: true},
}

// beside is a line that is to take less than others.
func beside(l line, others ...cost) line {
	for _, c := range others {
		l.beside = append(l.beside, c.line)
		l.goals = append(l.goals, c.goal())
	}
	return l
}

// besideDuckDB is a line of a table that DuckDB writes, too: as it does unless
// it is told otherwise, and as we do, with goals for that.
func besideDuckDB(l line, usual, same string, cpu, bytes float64) line {
	l.beside = []string{usual, same}
	l.goals = append(l.goals, copied(usual, 1.2, 1.05), copied(same, cpu, bytes))
	return l
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
			for _, name := range l.beside {
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
