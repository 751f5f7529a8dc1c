package mapping

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// Blocks that can't be reserved are written.
func TestWriteZeros(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "f"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	const size = 100_000
	if err := writeZeros(f, size); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(f.Name())
	if err != nil || len(data) != size || bytes.Count(data, []byte{0}) != size {
		t.Errorf("%v; file of %d bytes", err, len(data))
	}
}
