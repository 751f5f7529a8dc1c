//go:build !unix && !windows

package counters

import "errors"

func processCPU() (int64, error) { return 0, errors.ErrUnsupported }
