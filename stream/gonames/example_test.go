package gonames_test

import (
	"fmt"

	"gprof/stream/gonames"
)

// A function is sorted by its package.
func ExampleCategory() {
	for _, function := range []string{"main.work", "net/http.(*conn).serve", "example.com/shop/cart.Add"} {
		fmt.Println(function, "is", gonames.Category(function).Name)
	}
	// Output:
	// main.work is Program
	// net/http.(*conn).serve is Standard library
	// example.com/shop/cart.Add is Program
}
