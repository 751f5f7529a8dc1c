package perfetto_test

import (
	"bytes"
	"fmt"
	"log"

	"gprof/convert"
	"gprof/rawformat/perfettoproto"
	"gprof/rawformat/protobuf"
	"gprof/stream"
	"gprof/stream/streamtest"
)

// An interval becomes two packets: the beginning and the end of a slice.
func Example() {
	b := streamtest.NewBuilder()
	p := b.Process(stream.Process{Instance: 1, Pid: 7, Name: "shop", Start: 1000, End: 9000})
	p.Track("worker").Interval(2000, 500, b.Event(stream.Event{Name: "order"}))

	format, options, err := convert.ByName("shop.pftrace")
	if err != nil {
		log.Fatal(err)
	}
	var out bytes.Buffer
	sink, err := format.New(&out, options)
	if err != nil {
		log.Fatal(err)
	}
	if err := stream.Copy(sink, b.Source(), stream.CopyOptions{}); err != nil {
		log.Fatal(err)
	}
	trace := protobuf.Message{Rest: out.Bytes()}
	for packet, ok := trace.Read(); ok; packet, ok = trace.Read() {
		var at uint64
		fields := protobuf.Message{Rest: packet.Bytes}
		for f, ok := fields.Read(); ok; f, ok = fields.Read() {
			switch f.Number {
			case perfettoproto.PacketTimestamp:
				at = f.Value
			case perfettoproto.PacketTrackEvent:
				var event protobuf.Numbers
				event.Read(f.Bytes)
				fmt.Println("at", at, "type", event[perfettoproto.EventType], "on track", event[perfettoproto.EventTrack])
			}
		}
	}
	// Output:
	// at 2000 type 1 on track 4
	// at 2500 type 2 on track 4
	// at 1000 type 1 on track 2
	// at 9000 type 2 on track 2
}
