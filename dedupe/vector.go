package dedupe

// A page has that many rows: few enough to waste little on a small table.
const (
	pageBits = 10
	pageRows = 1 << pageBits
)

// vector is a slice that grows without being copied, so that growing takes no
// more memory than it gives.
type vector[T any] struct {
	pages []*[pageRows]T
	n     int
}

func (v *vector[T]) at(i int) *T { return &v.pages[i>>pageBits][i&(pageRows-1)] }

func (v *vector[T]) push(x T) {
	if v.n&(pageRows-1) == 0 {
		v.pages = append(v.pages, new([pageRows]T))
	}
	v.n++
	*v.at(v.n - 1) = x
}
