// Package chunks is what lies in the directory of one recorded process, an
// instance directory: the names of its files, how each is written, and how all of
// them are read back.
//
//	lock           locked while the process lives                  package session
//	meta           who the process is                              WriteRecords
//	exit           how it ended                                    WriteRecords
//	chunk-NNNNN    blocks, in a mapped file; they form a ring      package ring
//	stacks-TID     samples of a thread, before they go to a chunk  Stacks
//	trace-NNN.out  a window of Go's execution trace                WriteTrace
//	dict-NNN       what the ids in the blocks mean; one file for
//	               each generation of ids                          RecordFile
//
// A name that ends in .new is that of a file which is still being written. Package
// rawformat says what the bytes mean. Package folder makes and opens the files; those
// of a recording in memory are memory, and are read in the same way. A session is a
// directory of instance directories with a control page:
//
//	control      one limit for all processes
//	<instance>/  16 hexadecimal digits
//
// # Record files
//
// Dictionaries, meta and exit are files of records. A [RecordFile] grows by whole
// records, or not at all when the disk is full. [WriteRecords] writes a file
// beside the old one and renames it.
//
// # Traces
//
// trace-000.out, trace-001.out and so on (at least three digits) hold what
// runtime/trace has written and nothing else, so that go tool trace can read them. A
// marker of the event "go trace" refers to each: an interval, as long as what
// was asked for, with the file's name and size. A file that does not end in .new is
// complete. Traces count against the limit. Each is at most [rawformat.MaxTraceFile]
// long, and the oldest are removed to make room for a new one. When chunks of a dead
// instance are removed, the traces that were written before them are removed as well.
//
// # Reading
//
// [OpenProcess] reads the headers, dictionaries, meta and exit of an instance
// directory, of a live process or a dead one. A [Reader] then goes over the intact
// blocks in order of their ranges. Damage is reported as a [Problem], not as an error.
package chunks
