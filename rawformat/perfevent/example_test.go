package perfevent_test

import (
	"encoding/binary"
	"fmt"

	"gprof/rawformat/perfevent"
)

// The layout of a sample depends on how its event was opened.
func ExampleLayout_ParseSample() {
	layout := perfevent.Layout{Sample: perfevent.SampleIP | perfevent.SampleTID | perfevent.SampleTime}
	body := binary.LittleEndian.AppendUint64(nil, 0x401000) // where the thread was
	body = binary.LittleEndian.AppendUint32(body, 7)        // pid
	body = binary.LittleEndian.AppendUint32(body, 8)        // tid
	body = binary.LittleEndian.AppendUint64(body, 1_000)    // when

	var s perfevent.Sample
	fmt.Println(layout.ParseSample(body, &s))
	fmt.Printf("thread %d of process %d was at %#x at %d ns\n", s.Tid, s.Pid, s.IP, s.Time)
	fmt.Println(layout.ParseSample(body[:20], &s))
	// Output:
	// true
	// thread 8 of process 7 was at 0x401000 at 1000 ns
	// false
}
