package firefox

import (
	"net/url"
	"slices"

	"gprof/convert/internal/viewer"
)

// Types of resources, as the viewer numbers them.
const (
	isLibrary = 1
	isSite    = 3
	isURL     = 5
)

// origin is where scripts come from: a site, or one place that is on none. Numbers
// are places in the list of strings; the host is -1 for none.
type origin struct{ name, host int32 }

func (o *origin) kind() int64 {
	if o.host < 0 {
		return isURL
	}
	return isSite
}

// siteSchemes are those of URLs whose scripts the viewer puts together by site.
var siteSchemes = []string{"http", "https", "moz-extension"}

// origin is the place of a script's origin in the list of resources.
func (c *code) origin(texts *viewer.Texts, known map[string]int32, script string) int32 {
	name, host := script, ""
	if u, err := url.Parse(script); err == nil && u.Host != "" && slices.Contains(siteSchemes, u.Scheme) {
		name, host = u.Scheme+"://"+u.Host, u.Host
	}
	n, ok := known[name]
	if !ok {
		n = int32(len(c.modules) - 1 + len(c.origins))
		known[name] = n
		row := origin{texts.Intern(name), -1}
		if host != "" {
			row.host = texts.Intern(host)
		}
		c.origins = append(c.origins, row)
	}
	return n
}
