package watchdog_test

import (
	"errors"
	"fmt"
	"time"

	"gprof/ingest/watchdog"
)

// An operation that hangs is given up when nothing makes progress for a tick.
func ExampleWatch_Do() {
	never := make(chan struct{})
	err := watchdog.New(time.Millisecond).Do(func() { <-never })
	fmt.Println(errors.Is(err, watchdog.ErrStalled))
	// Output:
	// true
}
