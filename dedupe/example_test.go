package dedupe_test

import (
	"fmt"

	"gprof/dedupe"
)

func ExampleSet() {
	var names dedupe.Set[string, int32]
	a, b := names.Intern("read"), names.Intern("write")
	fmt.Println(a, b, names.Intern("read"), names.At(b))
	fmt.Println(names.Lookup("close")) // 0 is no value
	// Output:
	// 1 2 1 write
	// 0
}

// A stack is its caller's stack and one more frame.
func ExampleTree() {
	var frames dedupe.Texts[int32]
	var stacks dedupe.Tree[int32, int32]
	main := stacks.Intern(0, frames.Intern("main.main"))
	read := stacks.Intern(main, frames.Intern("os.ReadFile"))
	for id := read; id != 0; {
		parent, frame := stacks.At(id)
		fmt.Println(frames.At(frame))
		id = parent
	}
	// Output:
	// os.ReadFile
	// main.main
}
