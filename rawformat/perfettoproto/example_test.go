package perfettoproto_test

import (
	"fmt"

	"gprof/rawformat/perfettoproto"
	"gprof/rawformat/protobuf"
)

// A trace is its packets. This one has the name of a process.
func Example() {
	process := protobuf.AppendNumber(nil, perfettoproto.ProcessPid, 7)
	process = protobuf.AppendBytes(process, perfettoproto.ProcessName, "shop")
	track := protobuf.AppendNumber(nil, perfettoproto.TrackUUID, 1)
	track = protobuf.AppendBytes(track, perfettoproto.TrackProcess, process)
	packet := protobuf.AppendBytes(nil, perfettoproto.PacketTrackDescriptor, track)
	fmt.Printf("%q\n", protobuf.AppendBytes(nil, perfettoproto.TracePacket, packet))
	// Output:
	// "\n\x0f\xe2\x03\f\b\x01\x1a\b\b\a2\x04shop"
}
