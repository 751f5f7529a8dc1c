package folder_test

import (
	"fmt"
	"io/fs"
	"log"

	"gprof/chunks/folder"
)

// A folder in memory takes the place of a directory where nothing has to outlive
// the process.
func ExampleMemory() {
	files := folder.NewMemory()
	f, err := files.Create("meta.new")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Fprint(f, "service=shop")
	if err := f.Close(); err != nil {
		log.Fatal(err)
	}
	if err := files.Rename("meta.new", "meta"); err != nil {
		log.Fatal(err)
	}
	text, err := fs.ReadFile(files, "meta")
	fmt.Printf("%s %v\n", text, err)
	// Output:
	// service=shop <nil>
}
