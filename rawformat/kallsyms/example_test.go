package kallsyms_test

import (
	"fmt"
	"log"
	"strings"

	"gprof/rawformat/kallsyms"
)

// An address belongs to the last function that begins before it.
func ExampleRead() {
	functions, err := kallsyms.Read(strings.NewReader(`ffffffff81000000 T _text
ffffffff81000140 t do_one
ffffffffc0000300 t do_two	[module]
`))
	if err != nil {
		log.Fatal(err)
	}
	for _, address := range []uint64{0xffffffff81000150, 0xffffffffc0000300} {
		if s, ok := functions.At(address); ok {
			fmt.Printf("%s+%#x of %q\n", s.Name, address-s.Address, s.Module)
		}
	}
	// Output:
	// do_one+0x10 of ""
	// do_two+0x0 of "module"
}
