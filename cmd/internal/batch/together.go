package batch

import (
	"errors"
	"fmt"
	"slices"

	"gprof/cmd/internal/conversion"
	"gprof/cmd/internal/fleet"
)

// wholes are what becomes one whole of all inputs: data sets and, if they are to be made
// together, sums. The other formats are left.
func (b *batch) wholes() (all []*fleet.Together, err error) {
	if b.Together && b.Per.By != "" {
		return nil, errors.New("--per makes files of each input, --together a whole of all; give one of them")
	}
	for i, t := range b.formats {
		switch {
		case b.Together && !t.Format.DataSet() && !(t.Options.Sum && t.Format.Sums):
			return nil, fmt.Errorf("--together: %s is no whole of many inputs; give -f parquet, or --sum with -f pprof, or leave --together out", t.Format.Name)
		case !b.Together && t.Format.DataSet():
			all = append(all, b.whole(b.dataSet(t), conversion.Sums{}, b.Format[i]))
		}
	}
	if b.Together {
		all = append(all, b.whole(b.Output, b.Sums, b.Format...))
	}
	b.formats = slices.DeleteFunc(b.formats, func(t conversion.Target) bool { return b.Together || t.Format.DataSet() })
	return all, nil
}

// whole is that of some formats.
func (b *batch) whole(output string, sums conversion.Sums, formats ...string) *fleet.Together {
	w := &fleet.Together{Flags: &b.Flags, Again: b.Again, Keep: b.Keep}
	w.Inputs, w.Output, w.TaskSize = []string{b.Dir}, output, b.TaskSize
	w.Settings = fleet.Settings{Format: formats, SumBy: b.SumBy, Columns: b.Columns, Sums: sums, Reading: b.Reading, Selection: b.Selection}
	w.Machine = fleet.Machine{Quiet: b.Quiet, Resources: b.Resources}
	return w
}
