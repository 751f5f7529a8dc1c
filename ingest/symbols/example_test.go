package symbols_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"gprof/ingest/symbols"
)

// A list of a kernel's symbols, kept below the kernel's build id as perf keeps it,
// names offsets in that kernel's text.
func ExampleOpen() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	build := strings.Repeat("ab", 20)
	if err := os.Mkdir(filepath.Join(dir, build), 0o700); err != nil {
		log.Fatal(err)
	}
	list := "ffffffff81000000 T _text\nffffffff81000140 t do_one\n"
	if err := os.WriteFile(filepath.Join(dir, build, "kallsyms"), []byte(list), 0o600); err != nil {
		log.Fatal(err)
	}

	programs, errs := symbols.Open([]string{dir})
	if errs[0] != nil {
		log.Fatal(errs[0])
	}
	for _, f := range programs.Lookup(build, 0x150) {
		fmt.Println(f.Name)
	}
	fmt.Println(programs.Lookup("another build", 0x150))
	// Output:
	// do_one
	// []
}
