package dedupe

// Texts interns strings. The zero Texts is empty and ready to use.
type Texts[ID ~int32] struct{ set Set[string, ID] }

// Intern returns the id of s; the empty string has the id 0.
func (t *Texts[ID]) Intern(s string) ID {
	if s == "" {
		return 0
	}
	return t.set.Intern(s)
}

// InternBytes is Intern of string(b); it allocates only for a new string.
func (t *Texts[ID]) InternBytes(b []byte) ID {
	if len(b) == 0 {
		return 0
	}
	if id, ok := t.set.ids[string(b)]; ok {
		return id
	}
	return t.set.Intern(string(b))
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
