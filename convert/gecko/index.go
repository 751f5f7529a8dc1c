package gecko

// index numbers ids from 0 in the order of their first use.
type index[ID ~int32] struct {
	number []int32 // by id, plus 1; 0 not used yet
	ids    []ID    // by number
}

// allocate makes room for ids up to max.
func (x *index[ID]) allocate(max int) { x.number = make([]int32, max+1) }

// add gives id the next number.
func (x *index[ID]) add(id ID) {
	x.ids = append(x.ids, id)
	x.number[id] = int32(len(x.ids))
}

// reset forgets all ids in the time of those that were used.
func (x *index[ID]) reset() {
	for _, id := range x.ids {
		x.number[id] = 0
	}
	x.ids = x.ids[:0]
}

// texts numbers strings from 0 in the order of their first use.
type texts struct {
	number map[string]int32
	list   []string
}

func (x *texts) intern(s string) int32 {
	if n, ok := x.number[s]; ok {
		return n
	}
	return x.add(s)
}

// internBytes is intern of string(b); it allocates only for a new string.
func (x *texts) internBytes(b []byte) int32 {
	if n, ok := x.number[string(b)]; ok {
		return n
	}
	return x.add(string(b))
}

func (x *texts) add(s string) int32 {
	n := int32(len(x.list))
	x.number[s] = n
	x.list = append(x.list, s)
	return n
}

// reset forgets all strings and gives their memory back.
func (x *texts) reset() {
	x.number = make(map[string]int32)
	x.list = nil
}
