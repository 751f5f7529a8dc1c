package main

import (
	"fmt"
	"strings"

	"gprof/convert"
)

// compressing is the flag of what writes formats that compress by columns.
type compressing struct {
	Compression string `placeholder:"HOW" help:"Of the columns of arrow and parquet: none, lz4 or zstd, which is the default."`
}

// compress sets how targets compress, those of which the format takes it. At
// least one must.
func (c compressing) compress(targets []target) error {
	if c.Compression == "" {
		return nil
	}
	how, err := convert.ParseCompression(c.Compression)
	if err != nil {
		return err
	}
	var others []string
	for i := range targets {
		if targets[i].format.Directory() {
			targets[i].options.Compression = how
		} else {
			others = append(others, targets[i].format.Name)
		}
	}
	if len(others) == len(targets) {
		return fmt.Errorf("--compression is for formats of columns, not for %s; end the name of a file with .gz to compress it", strings.Join(others, ", "))
	}
	return nil
}
