package gecko

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gprof/stream"
	"gprof/stream/streamtest"
)

// place is a value in a JSON text, and how to put another one there.
type place struct {
	path  string // by keys; the numbers of elements are left out, those of columns are their names
	value any
	put   func(any)
}

// placesOf are all values in v. A row of a table with a schema has the names of its columns.
func placesOf(path string, v any, put func(any), visit func(place)) {
	if path != "" {
		visit(place{path, v, put})
	}
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			inner := func(x any) { v[key] = x }
			if rows, columns := v["data"], v["schema"]; key == "data" && columns != nil {
				visit(place{join(path, key), rows, inner})
				cellsOf(path, rows, columns, visit)
				continue
			}
			placesOf(join(path, key), v[key], inner, visit)
		}
	case []any:
		for i := range v {
			placesOf(path+"[]", v[i], func(x any) { v[i] = x }, visit)
		}
	}
}

func cellsOf(path string, rows, schema any, visit func(place)) {
	list, _ := rows.([]any)
	columns, _ := schema.(map[string]any)
	for i := range list {
		visit(place{path + "[]", list[i], func(x any) { list[i] = x }})
		row, _ := list[i].([]any)
		for name, at := range columns {
			n, err := strconv.Atoi(fmt.Sprint(at))
			if err == nil && n < len(row) {
				placesOf(join(path, name), row[n], func(x any) { row[n] = x }, visit)
			}
		}
	}
}

// Values that a number, a string and so on may be replaced by. Those of another kind are
// never right; of the same kind are those that no index and no word of a list can be.
var (
	otherKinds = map[string]any{"object": map[string]any{"x": 1}, "list": []any{"x"}, "number": json.Number("7"), "text": "odd", "truth": true}
	otherSame  = map[string][]any{
		"number": {json.Number("-1"), json.Number("-7"), json.Number("7777777"), json.Number("1.5"), json.Number("1e300"), json.Number("9223372036854775807")},
		"text":   {"odd"},
	}
)

func kindOf(v any) string {
	switch v.(type) {
	case map[string]any:
		return "object"
	case []any:
		return "list"
	case json.Number:
		return "number"
	case string:
		return "text"
	case bool:
		return "truth"
	}
	return "null"
}

// The kinds of values that may stand in a place.
var (
	// anything is what is kept as it stands, of whatever kind it is: payloads, formats of
	// their fields, and what meta and logs say beside.
	anything = regexp.MustCompile(`(^|\.)markers\.data(\[\])?\.|\.format$|\.format\.|jsAllocations\.(className|typeName|coarseType|inNursery|weight)(\[\])?$|^meta\.(configuration|misc|oscpu|device|sourceURL|updateChannel|appBuildID|toolkit|extensions|visualMetrics|arguments|extra)\b|(^|\.|\])profil(ing|eGathering)Log\.`)
	// indexes are numbers of which few are right.
	indexes = regexp.MustCompile(`(Table|samples|[aA]llocations)\.(stack|prefix|prefixOffset|frame|location|func|category|subcategory|lib|resource|source|fileName|name|implementation)(\[\])?$|markers\.(name|category|phase)(\[\])?$|schema\.\w+$|sources\.filename`)
	// words are those of a list.
	words = regexp.MustCompile(`\.(weightType|graphType)$`)
	// noneIs is -1 where that stands for no value.
	noneIs = regexp.MustCompile(`\.(prefix|lib|resource|address)(\[\])?$`)
)

// damages are what to put in the place of a value, so that it is wrong.
func (p place) damages() (all []any) {
	if p.value == nil || anything.MatchString(p.path) {
		return nil
	}
	kind := kindOf(p.value)
	for _, other := range slices.Sorted(maps.Keys(otherKinds)) {
		if other != kind && !(plainText.MatchString(p.path) && (other == "text" || other == "number" || other == "truth")) {
			all = append(all, otherKinds[other])
		}
	}
	if kind == "number" && indexes.MatchString(p.path) || kind == "text" && words.MatchString(p.path) {
		for _, other := range otherSame[kind] {
			if fmt.Sprint(other) != "-1" || !noneIs.MatchString(p.path) {
				all = append(all, other)
			}
		}
	}
	return all
}

// plainText is what may be a number or a text.
var plainText = regexp.MustCompile(`\.(pid|tid|userContextId|eTLD\+1|isPrivateBrowsing|historyId|start|end|offset)$`)

// readAll is the rows of a file as text, and the lines of its ledger.
func readAll(t *testing.T, data []byte) (rows, ledger string) {
	t.Helper()
	src, err := open(data)
	if src == nil {
		return "", fmt.Sprint("error ", err)
	}
	sameInstances(src)
	var out bytes.Buffer
	if err := stream.Copy(streamtest.Validate(streamtest.NewText(&out)), src, stream.CopyOptions{}); err != nil {
		if errors.Is(err, streamtest.ErrInvalid) || errors.Is(err, stream.ErrBatch) || errors.Is(err, stream.ErrUndefined) {
			t.Fatal(err)
		}
		return "", fmt.Sprint("error ", err)
	}
	var lines []string
	for line := range strings.Lines(out.String()) {
		if strings.HasPrefix(line, "ledger ") {
			ledger += line
		} else {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, ""), ledger
}

// sameInstances names the processes of a file by their numbers, in the place of its bytes.
func sameInstances(src stream.Source) {
	p := src.(*source).reader.profile
	for i := range p.rows {
		if p.rows[i].Instance == p.seed+uint64(i) {
			src.Tables().Processes[i].Instance = 1 + uint64(i)
		}
	}
	p.seed = 1
}

var every = flag.Bool("every", false, "try each wrong value in each place, not a third of them")

// Each value of a profile is replaced by one that cannot stand there: if the rows differ
// from those of the whole profile, the ledger has a line that it had not.
func TestEveryDifferenceHasALine(t *testing.T) {
	for name, a := range profiles(t) {
		t.Run(filepath.Base(name), func(t *testing.T) {
			decoder := json.NewDecoder(bytes.NewReader(a.Files[0].Data))
			decoder.UseNumber()
			var top any
			if err := decoder.Decode(&top); err != nil {
				t.Fatal(err)
			}
			write := func() []byte {
				text, err := json.Marshal(top)
				if err != nil {
					t.Fatal(err)
				}
				return text
			}
			rows, ledger := readAll(t, write())
			var all []place
			known := map[string]int{}
			placesOf("", top, nil, func(p place) {
				if known[p.path]++; known[p.path] == 1 || known[p.path] == 2 && indexes.MatchString(p.path) {
					all = append(all, p)
				}
			})
			tried, differ, silent := 0, 0, map[string]string{}
			for i, p := range all {
				for k, other := range p.damages() {
					if !*every && (k+i)%3 != 0 && !indexes.MatchString(p.path) {
						continue
					}
					p.put(other)
					gotRows, gotLedger := readAll(t, write())
					tried++
					if gotRows != rows {
						if differ++; gotLedger == ledger {
							silent[fmt.Sprintf("%s = %v", p.path, other)] = firstDifference(rows, gotRows)
						}
					}
				}
				p.put(p.value)
			}
			for _, what := range slices.Sorted(maps.Keys(silent)) {
				t.Errorf("%s: no line, but %s", what, silent[what])
			}
			t.Logf("%d values, %d damages, %d of them change rows, %d kinds without a line", len(all), tried, differ, len(silent))
		})
	}
}

// firstDifference is the first line that differs.
func firstDifference(want, got string) string {
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range a {
		if i >= len(b) || a[i] != b[i] {
			return fmt.Sprintf("%q became %q", a[i], append(b, "nothing")[min(i, len(b))])
		}
	}
	return "there is more"
}
