//go:build !linux

package ingest

import (
	"os"
	"testing"
)

// narrow leaves a pipe as it is: its size can be set on Linux alone.
func narrow(*testing.T, *os.File) {}
