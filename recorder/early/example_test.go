package early_test

import (
	"log"
	"os"

	"gprof/recorder"
	_ "gprof/recorder/early"
)

// loaded is marked before Start, and in the recording all the same.
var loaded = recorder.NewEvent1("loaded", recorder.Path("file"))

func Example() {
	loaded.Mark("settings.toml")

	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	rec, err := recorder.Start(recorder.Options{Dir: dir, Service: "example", Limit: 1 << 20})
	if err != nil {
		log.Print(err)
	}
	defer rec.Stop()
	// Output:
}
