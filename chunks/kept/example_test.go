package kept_test

import (
	"fmt"
	"io"
	"log"
	"os"
	"time"

	"gprof/chunks/kept"
)

// A process keeps something in its session.
func Example() {
	session, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(session)
	f := kept.File{Time: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Instance: 7, Rule: kept.RuleOf("cpu>80%: snapshot")}
	if err := kept.Keep(session, &f, 1<<20, func(w io.Writer) error { _, err := io.WriteString(w, "an archive"); return err }); err != nil {
		log.Fatal(err)
	}
	files, err := kept.List(session)
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range files {
		fmt.Println(f.Name())
	}
	// Output:
	// 20260102T030405.000000000Z-0000000000000007-69b74ae0.gprof
}
