package pprof

// trail is a stack that was looked up last: its sites, the outermost first, and the
// ids of the stacks that end there. Most stacks have the outer part of the one before
// them, which is not looked up again.
type trail[ID ~int32] struct {
	sites []siteID
	ids   []ID
}

func (t *trail[ID]) reset() { t.sites, t.ids = t.sites[:0], t.ids[:0] }

// follow cuts t to what it has in common with a stack, whose innermost site is the
// first, and returns the id of that, 0 if it is nothing, and what is left of the
// stack.
func (t *trail[ID]) follow(stack []siteID) (id ID, left []siteID) {
	n, common := len(stack), 0
	for common < min(n, len(t.sites)) && t.sites[common] == stack[n-1-common] {
		common++
	}
	t.sites, t.ids = t.sites[:common], t.ids[:common]
	if common > 0 {
		id = t.ids[common-1]
	}
	return id, stack[:n-common]
}

// add adds the next site inward.
func (t *trail[ID]) add(s siteID, id ID) {
	t.sites, t.ids = append(t.sites, s), append(t.ids, id)
}
