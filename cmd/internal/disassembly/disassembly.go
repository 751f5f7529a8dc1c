// Package disassembly writes machine code as text.
package disassembly

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/arch/arm64/arm64asm"
	"golang.org/x/arch/x86/x86asm"

	"gprof/ingest/symbols"
)

// ErrMachine says that there is no disassembler for a machine.
var ErrMachine = errors.New("no disassembler for this machine")

// Listing is the instructions of a function.
type Listing struct {
	Arch         string // x86_64 or aarch64
	Syntax       string // of the instructions: Go or GNU
	Size         int    // of the code, in bytes
	Instructions []Instruction
}

// Instruction is one of them, at a distance from the first.
type Instruction struct {
	Offset int
	Text   string
}

// Of lists the instructions of a function: of Go in the syntax of Go's assembler, of others in GNU's. Addresses
// of code are places in the file, as they are in profiles. The error is [ErrMachine].
func Of(c *symbols.Code) (*Listing, error) {
	l := &Listing{Syntax: "GNU"}
	if c.Go {
		l.Syntax = "Go"
	}
	var decode func(code []byte, at uint64, c *symbols.Code) (text string, size int)
	switch c.Machine {
	case elf.EM_X86_64:
		l.Arch, decode = "x86_64", x86
	case elf.EM_AARCH64:
		l.Arch, decode = "aarch64", arm64
	default:
		return nil, fmt.Errorf("%w: %v", ErrMachine, c.Machine)
	}
	used := 0 // instructions up to what pads the function
	for at := 0; at < len(c.Bytes); {
		text, size := decode(c.Bytes[at:], c.Start+uint64(at), c)
		l.Instructions = append(l.Instructions, Instruction{at, strings.TrimSpace(text)})
		if code := string(c.Bytes[at : at+size]); !c.Go || code != "\xcc" && code != "\x00\x00\x00\x00" {
			used, l.Size = len(l.Instructions), at+size
		}
		at += size
	}
	l.Instructions = l.Instructions[:used]
	return l, nil
}

func x86(code []byte, at uint64, c *symbols.Code) (string, int) {
	inst, err := x86asm.Decode(code, 64)
	if err != nil || inst.Len == 0 {
		return data(code[:1]), 1
	}
	if inst.Op == x86asm.VZEROUPPER || inst.Op == x86asm.VZEROALL {
		inst.Len = bytes.IndexByte(code, opZero) + 1 // x/arch v0.33 takes a byte of the next instruction, too
	}
	if c.Go {
		return x86asm.GoSyntax(inst, at, c.Symbol), inst.Len
	}
	return x86asm.GNUSyntax(inst, at, c.Symbol), inst.Len
}

// opZero ends VZEROUPPER and VZEROALL.
const opZero = 0x77

func arm64(code []byte, at uint64, c *symbols.Code) (string, int) {
	const size = 4
	if len(code) < size {
		return data(code), len(code)
	}
	inst, err := arm64asm.Decode(code)
	switch {
	case err != nil:
		return data(code[:size]), size
	case c.Go:
		return arm64asm.GoSyntax(inst, at, c.Symbol, nil), size
	}
	return arm64asm.GNUSyntax(inst), size
}

// data writes bytes that are no instruction.
func data(b []byte) string {
	text := make([]string, len(b))
	for i, x := range b {
		text[i] = fmt.Sprintf("0x%02x", x)
	}
	return ".byte " + strings.Join(text, ", ")
}
