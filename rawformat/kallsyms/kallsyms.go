// Package kallsyms is the list that a Linux kernel gives of its functions. Each line has an
// address, a kind and a name, followed by the module in brackets if the function is of one.
package kallsyms

import (
	"bufio"
	"cmp"
	"errors"
	"io"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// Name is the file name of such a list, and Path the running kernel's.
const (
	Name = "kallsyms"
	Path = "/proc/" + Name
)

// ErrHidden says that a list has no addresses.
var ErrHidden = errors.New("kallsyms without addresses: read it as root, or set kernel.kptr_restrict to 0")

// maxSymbols bounds the symbols; kernels have some 200,000.
const maxSymbols = 1 << 22

// List is the functions of a kernel in one boot.
type List struct {
	Text    uint64   // address of the kernel's text, different after each boot
	symbols []Symbol // by address; perf takes the last of several at one
}

// Symbol is where a function begins.
type Symbol struct {
	Address uint64
	Name    string
	Module  string // "": the function is the kernel's own
}

// Read reads a list up to a read error. It returns that, or [ErrHidden].
func Read(r io.Reader) (*List, error) {
	l := &List{}
	in := bufio.NewScanner(r)
	for in.Scan() && len(l.symbols) < maxSymbols {
		s, ok := parse(in.Text())
		if !ok {
			continue
		}
		if s.Name == "_text" || s.Name == "_stext" && l.Text == 0 {
			l.Text = s.Address
		}
		l.symbols = append(l.symbols, s)
	}
	if err := in.Err(); err != nil {
		return nil, err
	}
	if l.Text == 0 {
		return nil, ErrHidden
	}
	slices.SortStableFunc(l.symbols, func(a, b Symbol) int { return cmp.Compare(a.Address, b.Address) })
	return l, nil
}

// parse parses a line. It is not ok if the line is not a function, or hides the address, which is
// 0 then.
func parse(line string) (s Symbol, ok bool) {
	f := strings.Fields(line)
	if len(f) < 3 || len(f[1]) != 1 || !strings.Contains("tTwW", f[1]) {
		return s, false
	}
	address, err := strconv.ParseUint(f[0], 16, 64)
	s = Symbol{Address: address, Name: f[2]}
	if len(f) > 3 {
		s.Module = strings.Trim(f[3], "[]")
	}
	return s, err == nil && address != 0
}

// At is the function at an address, as in perf: the last one that begins at or before it.
func (l *List) At(address uint64) (s Symbol, ok bool) {
	i := sort.Search(len(l.symbols), func(i int) bool { return l.symbols[i].Address > address })
	if i == 0 {
		return s, false
	}
	return l.symbols[i-1], true
}
