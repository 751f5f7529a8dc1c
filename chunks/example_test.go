package chunks_test

import (
	"fmt"
	"log"
	"strings"
	"testing/fstest"

	"gprof/chunks"
	"gprof/rawformat"
)

// The directory of one process is opened, and the blocks of its chunks are read.
// Here the files are written as text.
func ExampleOpenProcess() {
	files := fstest.MapFS{}
	for name, text := range map[string]string{
		"00000000000000e1/meta": `gprM instance=0xe1 pid=300
meta key="service" value="mill"`,
		"00000000000000e1/chunk-00000": `gprC instance=0xe1 epoch=1 range-start=1 capacity=4096 pid=300 generation=1 state=3 held=1
open monotonic=1000000000 realtime=1767225600000000000
close monotonic=1050000000 realtime=1767225600050000000
sealed 1
sync index=1 epoch=1 time=1000000000 goroutine=0 track=0
instant event=1 stack=0 time=+1000000 args=(7u)
counter time=+0 counter=1 value=+3 number=0`,
	} {
		data, err := chunks.ParseFile(text + "\n")
		if err != nil {
			log.Fatal(err)
		}
		files[name] = &fstest.MapFile{Data: data}
	}
	p, err := chunks.OpenProcess(files, "00000000000000e1")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(p.Pid, p.Meta[0].Value)
	report := func(found chunks.Problem) { fmt.Println(found.Class, strings.Fields(found.Where)[0]) }
	for r := p.Blocks(report); r.Next(); {
		fmt.Println(r.Block().Index, rawformat.Kinds[r.Block().Kind].Name)
	}
	// Output:
	// 300 mill
	// 1 sync
	// 12 instant
	// 21 counter
}
