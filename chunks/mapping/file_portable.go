//go:build !linux

package mapping

import (
	"errors"
	"os"
)

func Reserve(*os.File, int64) error { return errors.ErrUnsupported }

func populate([]byte) bool { return false }
