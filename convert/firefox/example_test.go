package firefox_test

import (
	"fmt"

	"gprof/convert/firefox"
	"gprof/stream"
)

// A link opens the viewer with a profile that it fetches, here with the second
// second of the run selected.
func ExampleURL() {
	run := &stream.Tables{Processes: []stream.Process{{Start: 0, End: 10_000_000_000}}}
	fmt.Println(firefox.URL("http://127.0.0.1:8000/shop.json", "", run, 1_000_000_000, 2_000_000_000))
	// Output:
	// https://profiler.firefox.com/from-url/http%3A%2F%2F127.0.0.1%3A8000%2Fshop.json/?range=1000000u1000000&v=10
}
