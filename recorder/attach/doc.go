// Package attach samples processes from outside, whatever they are written in: the
// kernel's perf_event says where their threads are while they run, and when and where
// they leave the processor. Each process gets a recording as if it recorded itself: a
// ring of chunk files of its own, in a session with one limit for all.
//
// A recording outlives the death of the process and of the sampler. Only what the kernel
// had not handed over yet is lost, a tenth of a second.
//
// # From the kernel into a ring
//
// There is an event for each thread on each processor, because only such events are
// inherited: later threads and processes have the events of the thread that began them.
// All events of a processor write into one mapped buffer. Rounds read the buffers, sort
// the records by time, and write what they mean:
//
//   - A sample of the thread's CPU clock becomes a busy block, one period of CPU time, with
//     frames in the kernel where it allows that.
//   - A switch off the processor and the next one back become an off-cpu block, with the
//     stack that a second event gives for the moment of leaving. A thread that is off the
//     processor when sampling ends has a block up to then.
//   - Names, mappings, forks and exits say which program and code that was. The child of
//     a fork gets a ring when there is something to record, after its parent. A process
//     that runs another program goes on as a child of its former self.
//
// Stacks are found by frame pointers, which Go has, and C if it was compiled with
// -fno-omit-frame-pointer; if [Options.StackBytes] says so also in copies of the stack, by the
// tables of programs, see package callframe. Copies are followed as they come, and not kept. Frames
// of user code are offsets in files with build ids; readers
// find the names, see package ingest/symbols. The names of the kernel's functions are known
// on this machine only, so they are written into the dictionary.
//
// Code that the process makes as it runs is named by the lists that its runtime writes, see package
// jitcode. They are read while it lives, since they may go with it, and only if they are regular
// files of the process' own.
package attach
