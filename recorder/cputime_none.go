//go:build !unix && !windows

package recorder

import "errors"

func processCPU() (int64, error) { return 0, errors.ErrUnsupported }
