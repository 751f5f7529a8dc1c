package redact

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"strconv"
	"strings"

	"gprof/stream"
)

// digestBytes is how many bytes of a hash are written: so many that among a billion
// values hardly any two have the same.
const digestBytes = 8

// maxDigests bounds the digests that are remembered. Values repeat.
const maxDigests = 4096

// digester makes keyed hashes of values. A value has the same hash in every place and for
// every kind.
type digester struct {
	mac   hash.Hash
	known map[string]string
	sum   []byte
}

func newDigester(key []byte) digester {
	return digester{mac: hmac.New(sha256.New, key), known: make(map[string]string)}
}

// of is the digest of a text, in hexadecimal.
func (d *digester) of(text string) string {
	if got, ok := d.known[text]; ok {
		return got
	}
	d.mac.Reset()
	d.mac.Write([]byte(text))
	d.sum = d.mac.Sum(d.sum[:0])
	if len(d.known) >= maxDigests {
		clear(d.known)
	}
	digest := hex.EncodeToString(d.sum[:digestBytes])
	d.known[strings.Clone(text)] = digest
	return digest
}

// number is the digest of a text as a number, not 0, that a double holds.
func (d *digester) number(text string) int64 {
	n, _ := strconv.ParseUint(d.of(text)[:13], 16, 64)
	return int64(max(1, n))
}

// hashed is the replacement of a value of a kind: "user:5ac1…". It looks like nothing
// that a program would record.
func (d *digester) hashed(k valueKind, text string) string {
	switch k {
	case pathValue:
		return "path:" + d.of(text)
	case urlValue:
		return d.url(text)
	case userValue:
		return "user:" + d.of(text)
	case nameValue:
		return "name:" + d.of(text)
	}
	return "secret:" + d.of(text)
}

// schemes are those that stay in a URL. Anything else before "://" may be private, too.
var schemes = []string{"https", "http", "wss", "ws", "file"}

// url hashes the host of a URL with its port, and the rest with user and password. A text
// that is no such URL is hashed as a whole.
func (d *digester) url(text string) string {
	for _, scheme := range schemes {
		rest, ok := strings.CutPrefix(text, scheme+"://")
		if !ok {
			continue
		}
		host, path := rest, ""
		if i := strings.IndexAny(rest, "/?#"); i >= 0 {
			host, path = rest[:i], rest[i:]
		}
		if i := strings.LastIndexByte(host, '@'); i >= 0 {
			host, path = host[i+1:], host[:i+1]+path
		}
		return scheme + "://" + d.optional(host) + "/" + d.optional(path)
	}
	return "url:" + d.of(text)
}

// optional is the digest of a part, "" if it is empty.
func (d *digester) optional(part string) string {
	if part == "" || part == "/" {
		return ""
	}
	return d.of(part)
}

// text redacts a text of a kind. An empty one reveals nothing.
func (r *Redactor) text(p stream.ProcessID, k valueKind, text string) string {
	how := r.how[k]
	if text == "" || how == Keep {
		return text
	}
	r.count(p, k, how)
	if how == Drop {
		return ""
	}
	return r.digest.hashed(k, text)
}

// name redacts the name of a thing: it becomes the word for such things, followed by a
// digest unless names are dropped.
func (r *Redactor) name(p stream.ProcessID, thing, name string) string {
	how := r.how[nameValue]
	if name == "" || how == Keep {
		return name
	}
	r.count(p, nameValue, how)
	if how == Drop {
		return thing
	}
	return thing + ":" + r.digest.of(name)
}

// baseName is the last element of a path of any operating system.
func baseName(path string) string { return path[strings.LastIndexAny(path, `/\`)+1:] }

// trimmedFile is the name of a source file without the part that depends on the machine
// it was compiled on: the package of the function and the base name, as with go build
// -trimpath. The function's name has the package anyway.
func trimmedFile(function, file string) string {
	if pkg := packageOf(function); pkg != "" {
		return pkg + "/" + baseName(file)
	}
	return baseName(file)
}

// packageOf is the import path in the name of a Go function, "" if it has none.
// Receivers and type arguments have slashes and dots of their own.
func packageOf(function string) string {
	head := function
	if i := strings.IndexAny(head, "[("); i >= 0 {
		head = head[:i]
	}
	slash := strings.LastIndexByte(head, '/') + 1
	if dot := strings.IndexByte(head[slash:], '.'); dot > 0 {
		return head[:slash+dot]
	}
	return ""
}
