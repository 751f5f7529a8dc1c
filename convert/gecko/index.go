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
