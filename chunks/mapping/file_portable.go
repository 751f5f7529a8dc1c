//go:build !linux

package mapping

import (
	"errors"
	"os"
)

func Reserve(*os.File, int64) error { return errors.ErrUnsupported }

func freeBytes(*os.File) int64 { return 0 }

func populate([]byte) bool { return false }
