package roots_test

import (
	"fmt"

	"gprof/rawformat/roots"
)

// The track of goroutines is called after the function in which they begin.
func ExampleName() {
	fmt.Println(roots.Name("runtime.main", "main.main"))
	fmt.Println(roots.Name("net/http.(*conn).serve", "net/http.serverHandler.ServeHTTP"))
	// Output:
	// main.main
	// net/http.(*conn).serve
}
