package perf

import (
	"fmt"
	"maps"
	"slices"

	"gprof/rawformat/perfevent"
	"gprof/stream"
)

// What records tell that has no place here.
const (
	ofTracing  = "of hardware tracing"
	ofCounting = "of perf stat, which counts and samples nothing"
	ofValues   = "of counters at the ends of threads"
	ofDeferred = "of user stacks that came late"
)

// skipped is the records that are passed over here: what is lost with each, ""
// nothing. Kinds that are not in it are of later versions.
var skipped = map[uint32]string{
	perfevent.KindMmap: "", perfevent.KindComm: "", perfevent.KindExit: "", perfevent.KindFork: "", perfevent.KindMmap2: "",
	6: "", 8: ofValues, // unthrottled, read
	perfevent.KindAux: ofTracing, 12: ofTracing, 21: ofTracing,
	16: "", 17: "", 18: "", 19: "", 20: "", // namespaces, symbols of what the kernel compiled, its programs, control groups, changes of its code
	22: ofDeferred,

	recordAttr: "", 65: "", recordTracingData: "", recordBuildID: "", 69: "", // and event types, the index of ids
	70: ofTracing, recordAuxtrace: ofTracing, 72: ofTracing,
	73: "", 74: "", 78: "", 79: "", recordFeature: "", recordCompressed: "", 82: "", recordCompressed2: "", 84: "", // and maps of threads and processors, updates, rates of clocks, ends of what perf itself adds
	75: ofCounting, 76: ofCounting, 77: ofCounting,
}

// maxKind is where kinds are not told apart any more.
const maxKind = 255

// skips counts records that are passed over, by kind.
type skips map[uint32]int64

func (k skips) add(kind uint32) { k[min(kind, maxKind)]++ }

// tell tells the ledger what is lost with them.
func (k skips) tell(note func(stream.Line)) {
	lost := map[string]int64{}
	for _, kind := range slices.Sorted(maps.Keys(k)) {
		where, known := skipped[kind]
		switch {
		case !known:
			note(stream.Line{Reason: stream.ReasonUnknownKind, What: "records", Where: fmt.Sprintf("of kind %d", kind), Count: k[kind]})
		case where != "":
			lost[where] += k[kind]
		}
	}
	for _, where := range slices.Sorted(maps.Keys(lost)) {
		note(stream.Line{Reason: stream.ReasonUnsupported, What: "records", Where: where, Count: lost[where]})
	}
}
