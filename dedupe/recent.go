package dedupe

// Recent remembers some strings, so that equal ones that come again share memory: a thousand processes have the same
// names of tracks, hosts and versions. The zero Recent is ready to use.
type Recent [256]string // by hash

// Text is a string of these bytes.
func (r *Recent) Text(text []byte) string {
	known := &r[hashOf(text)%uint(len(r))]
	if *known != string(text) {
		*known = string(text)
	}
	return *known
}

// Share is s itself, or an equal string that came before.
func (r *Recent) Share(s string) string {
	known := &r[hashOf(s)%uint(len(r))]
	if *known != s {
		*known = s
	}
	return *known
}

func hashOf[T string | []byte](text T) (hash uint) {
	for i := range len(text) {
		hash = 31*hash + uint(text[i])
	}
	return hash
}
