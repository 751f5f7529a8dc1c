package input

import (
	"errors"
	"slices"

	"gprof/cmd/internal/console"
	"gprof/cmd/internal/output"
	"gprof/cmd/internal/store"
	"gprof/ingest"
	"gprof/stream"
)

// Classify gives an error that has no exit code yet the code [console.Again] if another try
// may work.
func Classify(err error) error {
	if !console.HasCode(err) && MayWorkAgain(err) {
		return console.Exit(console.Again, err)
	}
	return err
}

// MayWorkAgain reports whether an error is of the machine rather than of the input: another
// try, later, elsewhere or with more memory, may work. A script that keeps a list of bad
// dumps must not put the input on it.
func MayWorkAgain(err error) bool {
	var memory *stream.ErrMemory
	return errors.As(err, &memory) || errors.Is(err, output.ErrPlace) || errors.Is(err, ingest.ErrSpool) || errors.Is(err, ingest.ErrStalled) || errors.Is(err, store.ErrStore) ||
		slices.ContainsFunc(machineErrors, func(e error) bool { return errors.Is(err, e) })
}
