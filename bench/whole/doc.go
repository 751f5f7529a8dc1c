// Whole measures what recording costs a whole program: a known server under load,
// beside the same server without a recorder and with what one would use instead. It
// prints a table in Markdown for each of PocketBase, Caddy and Badger.
//
//	go -C bench/whole run .
//
// Whole runs differ by several percent, so they cannot show half a percent. Here one
// process goes through hundreds of short blocks of each kind. Each block in which something records
// stands between two in which nothing does, and is compared with these two alone; the
// order is random. Two arms show what the method is worth: one is nothing again, which
// has to come out as zero; the other is the control, which burns a known half percent of
// the CPU time in each request. Clients are another process, so their CPU time doesn't count.
//
// The figure is the mean without the tenth at each end, and the interval is the one in
// which 95 % of such means lie when trios of blocks are drawn again, with replacement.
// Work that comes once in many seconds is in few blocks, which the tenth may take
// away: heap samples, for example. Such work is in the recorder's own counter of CPU time.
//
// gprof is paused and resumed. While it is paused its thread still wakes ten times a
// second. Those wakes are in both kinds of blocks, so a ratio lacks them. A FlightRecorder
// and a CPU profile are started and stopped; neither start nor stop is part of a block.
// The first round after a resumption does all that is due once a second, so blocks must
// not be much shorter than they are: with 50 ms it weighs several times as much.
// Pyroscope's SDK uploads once in 15 s, so its blocks are longer, and few.
//
// It is a module of its own, and not in .ci/modules: its dependencies are those of
// whole servers, which no check has to download and build.
package main
