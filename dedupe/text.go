package dedupe

import "unsafe"

// Texts interns strings. The zero Texts is empty and ready to use.
type Texts[ID ~int32] struct {
	set  Set[string, ID]
	size int64 // of all strings
}

// Intern returns the id of s; the empty string has the id 0.
func (t *Texts[ID]) Intern(s string) ID {
	if s == "" {
		return 0
	}
	seen := t.set.Len()
	id := t.set.Intern(s)
	if int(id) > seen {
		t.size += int64(len(s))
	}
	return id
}

// InternBytes is Intern of string(b); it allocates only for a new string.
func (t *Texts[ID]) InternBytes(b []byte) ID {
	if len(b) == 0 {
		return 0
	}
	// The string is not kept.
	if id := t.set.Lookup(unsafe.String(&b[0], len(b))); id != 0 {
		return id
	}
	return t.Intern(string(b))
}

// At returns the string with that id, "" for 0.
func (t *Texts[ID]) At(id ID) string {
	if id == 0 {
		return ""
	}
	return t.set.At(id)
}

// Len is the number of strings, which is the highest id.
func (t *Texts[ID]) Len() int { return t.set.Len() }

// Bytes is about how much memory t takes, TextBytes that of the strings alone.
func (t *Texts[ID]) Bytes() int64 { return t.set.Bytes() + t.size }

func (t *Texts[ID]) TextBytes() int64 { return t.size }
