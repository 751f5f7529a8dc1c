package recorder

import "sync/atomic"

// automatic is the recorder of package auto, until the program takes it over.
var automatic atomic.Pointer[Recorder]

// StartAutomatic is for package auto: a Start with what the environment says.
// The program's own Start takes the recorder over.
func StartAutomatic() (*Recorder, error) {
	r, err := Start(Options{})
	automatic.Store(r)
	return r, err
}

// takeOver returns the recorder of package auto if it runs and the program has
// not taken it over yet, else nil.
func takeOver() *Recorder {
	r := automatic.Load()
	if r == nil || running.Load() != r || !automatic.CompareAndSwap(r, nil) {
		return nil
	}
	return r
}
