package parquet

import (
	"fmt"
	"testing"

	"gprof/stream"
	"gprof/stream/streamtest"
)

// Functions of scripts are told apart by where they begin, and are no functions of a
// module.
func TestScripts(t *testing.T) {
	t.Parallel()
	b := streamtest.NewBuilder()
	p := b.Process(stream.Process{Instance: 1, Pid: 1, Name: "page", Start: 1e15, End: 1e15 + 9, CPUName: "Fast 3000", Cores: 4,
		Module: "example.org/x", SlowedBy: []string{"race"}, Settings: stream.Settings{Limit: 1 << 20, Features: []string{"markers"}, Tracks: []string{"-a"}}})
	run, file := b.Tables.Strings.Intern("run"), b.Tables.Strings.Intern("x.js")
	for i, f := range []stream.Frame{
		{Script: true, Function: run, File: file, Start: 3, StartColumn: 4, Line: 5, Column: 6},
		{Script: true, Function: run, File: file, Start: 3, StartColumn: 40, Line: 5},
		{Function: run, File: file, Start: 7, Line: 8},
	} {
		p.Main.Sample(1e15+stream.Time(i), b.StackOf(f))
	}
	dir, _ := convert(t, b.Source())
	answers := ask(t, dir, `SELECT script, function_line, function_column, line, "column" FROM 'frames/**/*.parquet' ORDER BY script, function_line, function_column`,
		`SELECT module, modified, slowed_by[1] AS slow, cpu_name, cores, limit_bytes, features[1] AS feature, track_filter[1] AS filter FROM 'processes/**/*.parquet'`)
	want := `[[map[column:<nil> function_column:<nil> function_line:7 line:8 script:false] ` +
		`map[column:6 function_column:4 function_line:3 line:5 script:true] map[column:<nil> function_column:40 function_line:3 line:5 script:true]] ` +
		`[map[cores:4 cpu_name:Fast 3000 feature:markers filter:-a limit_bytes:1048576 modified:false module:example.org/x slow:race]]]`
	if got := fmt.Sprint(answers); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}
