package session_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"gprof/chunks/folder"
	"gprof/chunks/session"
)

// A process locks its directory and takes a slot, in which it says what it holds.
// Others see from the lock that it lives.
func ExampleControl_Join() {
	root, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(root)
	dir := filepath.Join(root, "00000000000000e1")
	if err := folder.MakeInstance(dir, 0o700); err != nil {
		log.Fatal(err)
	}
	lock, err := session.Lock(dir)
	if err != nil {
		log.Fatal(err)
	}
	defer lock.Close()
	control, err := session.Open(root, session.Options{Limit: 64 << 20})
	if err != nil {
		log.Fatal(err)
	}
	defer control.Close()
	slot, err := control.Join(session.Member{Instance: 0xe1, Pid: 300})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(session.Alive(dir), slot.Grow(1<<20))
	members, err := control.Slots()
	fmt.Println(len(members), err)
	fmt.Println(slot.Leave())
	// Output:
	// true true
	// 1 <nil>
	// <nil>
}
