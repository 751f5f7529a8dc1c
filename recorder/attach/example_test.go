package attach_test

import (
	"errors"
	"log"
	"os"
	"path/filepath"
	"time"

	"gprof/recorder/attach"
)

// A process is sampled for a while, in this example itself.
func ExampleStart() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	s, err := attach.Start([]int{os.Getpid()}, attach.Options{Session: filepath.Join(dir, "shop"), Limit: 1 << 20})
	var refusal *attach.Refusal
	if errors.As(err, &refusal) {
		log.Print(err, refusal.Hints) // what would allow it
		return
	} else if err != nil {
		log.Fatal(err)
	}
	select {
	case <-s.Done(): // it has ended
	case <-time.After(10 * time.Millisecond):
	}
	if _, err := s.Stop(); err != nil {
		log.Fatal(err)
	}
	// Output:
}
