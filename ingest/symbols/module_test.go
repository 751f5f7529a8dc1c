package symbols

import (
	"bytes"
	"compress/gzip"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// moduleSource is sections as a kernel's module has them, of sizes that tell where each
// will be.
const moduleSource = `
	.section .note.gnu.build-id, "a", %note
	.long 4, 8, 3
	.asciz "GNU"
	.quad 0x4242424242424242
	.macro function name size
	.type \name, %function
\name: .skip \size
	.size \name, . - \name
	.endm
	.text
	.balign 16
	function first 0x10
	function second 0x11
	.section .init.text, "ax"
	function begin 0x100
	.section .text.unlikely, "ax"
	.balign 16
	function unlikely 0x10
	.section .data, "aw"
	.skip 0x100
	.section .exit.text, "ax"
	function leave 8
	.section .plt, "ax"
	.byte 0
	.section .text.behind, "ax"
	function behind 8
`

// Functions of a kernel's module are where the kernel puts its sections.
func TestModule(t *testing.T) {
	dir := t.TempDir()
	source, object := filepath.Join(dir, "m.s"), filepath.Join(dir, "m.ko")
	if err := os.WriteFile(source, []byte(moduleSource), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("gcc", "-c", "-o", object, source).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, packed := range []string{"", ".gz", ".zst"} {
		t.Run("ko"+packed, func(t *testing.T) { checkModule(t, compressed(t, object, packed)) })
	}
	if _, errs := Open([]string{compressed(t, object, ".xz")}); !errors.Is(errs[0], ErrXZ) {
		t.Errorf("of a module that xz compressed the error is %v, want %v", errs[0], ErrXZ)
	}
}

// compressed is a copy of a file in a folder of its own, compressed as the end of its name
// says.
func compressed(t *testing.T, name, end string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	switch end {
	case "":
		out.Write(b)
	case ".gz":
		z := gzip.NewWriter(&out)
		z.Write(b)
		err = z.Close()
	case ".zst":
		var z *zstd.Encoder
		if z, err = zstd.NewWriter(&out); err == nil {
			z.Write(b)
			err = z.Close()
		}
	}
	name = filepath.Join(t.TempDir(), filepath.Base(name)+end)
	if err := errors.Join(err, os.WriteFile(name, out.Bytes(), 0o600)); err != nil {
		t.Fatal(err)
	}
	return name
}

func checkModule(t *testing.T, object string) {
	t.Helper()
	set, errs := Open([]string{filepath.Dir(object)})
	if errs[0] != nil {
		t.Fatal(errs[0])
	}
	for offset, want := range map[uint64]string{0: "first", 0xf: "first", 0x10: "second", 0x20: "second", 0x21: "", 0x30: "unlikely", 0x40: "leave", 0x47: "leave", 0x48: "", 0x50: "", 1 << 40: ""} {
		got := ""
		for _, f := range set.Lookup(strings.Repeat("42", 8), offset) {
			got += f.Name
		}
		if got != want {
			t.Errorf("at %#x is %q, want %q", offset, got, want)
		}
	}
}
