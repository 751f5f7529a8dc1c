package symbols

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
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
	set, errs := Open([]string{object})
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
