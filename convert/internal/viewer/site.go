package viewer

import (
	"slices"
	"strconv"

	"gprof/convert/internal/jsontext"
	"gprof/stream"
)

// Attributes of a browser's process that each of its threads has in a profile: whose
// pages it showed. The viewer titles a process by its site, and leaves out what was
// browsed in private when a profile is shared.
const (
	siteKey      = "eTLD+1"
	privateKey   = "isPrivateBrowsing"
	containerKey = "userContextId"
)

// WriteSite writes these members of a thread of p, those that there are.
func WriteSite(out *jsontext.Writer, p *stream.Process) {
	value := func(key string) string {
		i := slices.IndexFunc(p.Attrs, func(a stream.Attr) bool { return a.Key == key })
		if i < 0 {
			return ""
		}
		return p.Attrs[i].Value
	}
	if site := value(siteKey); site != "" {
		member(out, siteKey, site)
	}
	if private, err := strconv.ParseBool(value(privateKey)); err == nil {
		out.Key(privateKey)
		out.Bool(private)
	}
	if container, err := strconv.ParseUint(value(containerKey), 10, 32); err == nil {
		number(out, containerKey, int64(container))
	}
}
