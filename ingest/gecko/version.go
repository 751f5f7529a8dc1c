package gecko

import (
	"fmt"

	"gprof/stream"
)

// The newest versions of the two formats that are known here.
const (
	newestGecko     = 36
	newestProcessed = 75
)

// versionKey is the member of meta that tells the version of the profile's format.
func (l *layout) versionKey() string {
	if l.processed() {
		return "preprocessedProfileVersion"
	}
	return "version"
}

// version is that of the profile's format, 0 if it does not say.
func (l *layout) version() int64 { return l.root.object("meta").count(l.versionKey()) }

// noteVersion says if the format is newer than what is known here, and what a profile of
// its version has that this one lacks.
func (r *reader) noteVersion() {
	newest, what, categorized, described := int64(newestGecko), "Gecko profile format", int64(firstCategorized), int64(firstDescribed)
	if r.processed() {
		newest, what, categorized, described = newestProcessed, "processed profile format", firstCategorizedProcessed, firstDescribedProcessed
	}
	version, meta := r.version(), r.root.object("meta")
	if version > newest {
		r.t.Ledger.Add(stream.Line{Process: r.instance, Reason: stream.ReasonNewer, What: "versions", Count: 1,
			Where: fmt.Sprintf("%s %d: the newest that is known here is %d", what, version, newest)})
	}
	if r.root.required("meta"); meta.v == nil {
		return
	}
	meta.required(r.versionKey(), "startTime", "interval")
	if version >= categorized {
		meta.required("categories")
	}
	if version >= described {
		meta.required("markerSchema")
	}
	for table, first := range map[string]int64{"frameTable": firstFrameFlags, "funcTable": firstFuncFlags} {
		if of := r.root.object("shared").object(table); r.processed() && version >= first && of.v != nil {
			of.required("flags")
		}
	}
}

// The versions from which on a profile brings its categories and schemas.
const (
	firstCategorized          = 11
	firstCategorizedProcessed = 15
	firstDescribed            = 22
	firstDescribedProcessed   = 32
	// Those from which on flags say which columns of a row count.
	firstFrameFlags = 71
	firstFuncFlags  = 75
)
