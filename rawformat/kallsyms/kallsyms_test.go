package kallsyms_test

import (
	"errors"
	"strings"
	"testing"

	"gprof/rawformat/kallsyms"
)

const list = `0000000000000000 A fixed_percpu_data
0000000000000000 T hidden
ffffffffc0000300 t do_two	[module]
ffffffff81000000 T _stext
ffffffff81000000 T _text
ffffffff81000140 W weak
ffffffff81000140 t __do_one
ffffffff81000140 t do_one
ffffffff81000180 T memset
ffffffff81000180 T __memset
ffffffff81000180 T __pi_memset
ffffffff81000200 D data
no address T at_all
`

// Each address has the symbol that perf finds for it.
func TestAt(t *testing.T) {
	l, err := kallsyms.Read(strings.NewReader(list))
	if err != nil || l.Text != 0xffffffff81000000 {
		t.Fatalf("%+v, %v", l, err)
	}
	for address, want := range map[uint64]string{
		l.Text: "_text", l.Text + 0x13f: "_text", l.Text + 0x140: "do_one", l.Text + 0x17f: "do_one", l.Text + 0x201: "__pi_memset",
		0xffffffffc0000300: "do_two module", 1<<64 - 1: "do_two module",
	} {
		if s, ok := l.At(address); !ok || strings.TrimSpace(s.Name+" "+s.Module) != want {
			t.Errorf("%#x: %+v, want %s", address, s, want)
		}
	}
	if s, ok := l.At(l.Text - 1); ok {
		t.Errorf("below the text: %+v", s)
	}
}

func TestHidden(t *testing.T) {
	if _, err := kallsyms.Read(strings.NewReader("0000000000000000 T _text\n0000000000000000 T do_one\n")); !errors.Is(err, kallsyms.ErrHidden) {
		t.Errorf("%v", err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(list), uint64(0xffffffff81000150))
	f.Fuzz(func(t *testing.T, data []byte, address uint64) {
		l, err := kallsyms.Read(strings.NewReader(string(data)))
		if (l == nil) != (err != nil) {
			t.Fatalf("%+v, %v", l, err)
		}
		if l == nil {
			return
		}
		if s, ok := l.At(address); ok && s.Address > address {
			t.Errorf("%+v is at %#x", s, address)
		}
	})
}
