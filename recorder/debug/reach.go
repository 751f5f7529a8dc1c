package debug

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strings"
)

// A program that can be reached from somebody's browser can be reached from every page that the browser shows. A page of
// another site may send requests here, and a page whose owner has its host name resolve to this machine (DNS rebinding) may
// even read the answers. Browsers mark such requests: the first kind in Sec-Fetch-Site and Origin, the second in Host.

// Option is a property of a [Handler].
type Option func(*handler)

// AllowHosts names hosts by which the handler may be reached, besides addresses, names
// without a dot, the machine's own, and those below .localhost, .local, .internal and
// .svc, none of which a stranger can have point here: "debug.example.com", say, or "*"
// for any, where the server looks at that itself.
func AllowHosts(hosts ...string) Option {
	return func(h *handler) { h.hosts = append(h.hosts, hosts...) }
}

// AllowOrigins names other sites whose pages may send requests, as browsers do in
// Origin: "https://dashboard.example.com", or "*" for any.
func AllowOrigins(origins ...string) Option {
	return func(h *handler) { h.origins = append(h.origins, origins...) }
}

// refusal is why a request is refused, "" if it is answered.
func (h *handler) refusal(r *http.Request) string {
	if host := hostname(r.Host); !h.knows(host) {
		return fmt.Sprintf("the host %q is not known here: ask by an address, or give debug.Handler the option debug.AllowHosts(%q)", host, host)
	}
	if origin := r.Header.Get("Origin"); origin != "" && !h.sameSite(r, origin) {
		return fmt.Sprintf("a page of %q asks: give debug.Handler the option debug.AllowOrigins(%q) if it may", origin, origin)
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "cross-site", "same-site":
		origin := r.Header.Get("Origin")
		follows := r.Method == http.MethodGet && r.URL.Path == root && r.Header.Get("Sec-Fetch-Mode") == "navigate" // a link to the list
		if !follows && (origin == "" || !h.sameSite(r, origin)) && !slices.Contains(h.origins, "*") {
			return "a page of another site asks: open " + root + " in the browser and go on from there, or see debug.AllowOrigins"
		}
	}
	return ""
}

// knows reports whether a host is one that no stranger can have point here.
func (h *handler) knows(host string) bool {
	if _, err := netip.ParseAddr(host); err == nil || !strings.Contains(host, ".") {
		return true
	}
	own, _ := os.Hostname() // "" is no host
	for _, top := range []string{".localhost", ".local", ".internal", ".svc"} {
		if strings.HasSuffix(host, top) {
			return true
		}
	}
	return strings.EqualFold(host, own) || slices.Contains(h.hosts, "*") || slices.ContainsFunc(h.hosts, func(s string) bool { return strings.EqualFold(s, host) })
}

// sameSite reports whether an origin is the handler's own, or allowed.
func (h *handler) sameSite(r *http.Request, origin string) bool {
	if slices.Contains(h.origins, "*") || slices.Contains(h.origins, origin) {
		return true
	}
	_, host, ok := strings.Cut(origin, "://")
	return ok && strings.EqualFold(host, r.Host)
}

// hostname is a host without its port, an address without brackets, in small letters.
func hostname(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.TrimSuffix(strings.ToLower(strings.Trim(host, "[]")), ".")
}
