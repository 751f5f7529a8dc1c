package buildid_test

import (
	"encoding/binary"
	"fmt"

	"gprof/rawformat/buildid"
)

// The notes of a program, or of the kernel (/sys/kernel/notes), hold the id that
// the linker gave it: in a note of type 3 of the owner GNU.
func ExampleInNotes() {
	note := binary.LittleEndian.AppendUint32(nil, 4)  // bytes of the owner
	note = binary.LittleEndian.AppendUint32(note, 4)  // bytes of the id
	note = binary.LittleEndian.AppendUint32(note, 3)  // NT_GNU_BUILD_ID
	note = append(note, "GNU\x00\xca\xfe\xba\xbe"...) // owner and id
	fmt.Println(buildid.InNotes(binary.LittleEndian, note))
	// Output:
	// cafebabe
}
