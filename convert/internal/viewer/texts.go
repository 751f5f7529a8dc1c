package viewer

// Texts numbers strings from 0 in the order of their first use. The zero Texts
// takes none; Reset it first.
type Texts struct {
	number map[string]int32
	list   []string
}

// List is all strings, by number.
func (x *Texts) List() []string { return x.list }

// Intern returns the number of s.
func (x *Texts) Intern(s string) int32 {
	if n, ok := x.number[s]; ok {
		return n
	}
	return x.add(s)
}

// InternBytes is Intern of string(b); it allocates only for a new string.
func (x *Texts) InternBytes(b []byte) int32 {
	if n, ok := x.number[string(b)]; ok {
		return n
	}
	return x.add(string(b))
}

func (x *Texts) add(s string) int32 {
	n := int32(len(x.list))
	x.number[s] = n
	x.list = append(x.list, s)
	return n
}

// Reset forgets all strings and gives their memory back.
func (x *Texts) Reset() {
	x.number = make(map[string]int32)
	x.list = nil
}
