package firefox

import (
	"fmt"
	"net/url"
	"strings"

	"gprof/convert/internal/viewer"
	"gprof/stream"
)

// Site is where Firefox Profiler is.
const Site = "https://profiler.firefox.com"

// urlVersion is that of the addresses we write; the viewer upgrades older ones
// to its own.
const urlVersion = 10

// URL is the address at which the viewer shows an output of t that it fetches
// from the address profile: with the time from from to to chosen, unless that is
// all there is.
func URL(profile string, t *stream.Tables, from, to stream.Time) string {
	at := Site + "/from-url/" + strings.ReplaceAll(url.QueryEscape(profile), "+", "%20") + "/"
	start, end := viewer.Range(t)
	from, to = max(from, start), min(to, end)
	if from >= to || from == start && to == end {
		return at
	}
	// The viewer rounds ranges outwards, too.
	const us = 1000
	begin := int64(from-start) / us
	length := (int64(to-start)+us-1)/us - begin
	return fmt.Sprintf("%s?range=%du%d&v=%d", at, begin, length, urlVersion)
}
