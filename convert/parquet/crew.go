package parquet

import (
	"sync"
	"sync/atomic"

	pq "github.com/parquet-go/parquet-go"
)

// crew writes several columns of a table at the same time: they know nothing of each other. It is
// shared by all tables, of which only one is written at a time.
type crew []*[]pq.Value // scratch of each goroutine

// fewRows are so few that it is not worth a goroutine to write them.
const fewRows = 1024

func newCrew(jobs int) crew {
	c := make(crew, max(jobs, 1))
	for i := range c {
		c[i] = new([]pq.Value)
	}
	return c
}

// each calls write for the columns 0 to n-1, in any order. It returns the error of the first of
// those that failed.
func (c crew) each(n, rows int, write func(column int, cells *[]pq.Value) error) error {
	if rows < fewRows {
		c = c[:1]
	}
	errs := make([]error, n)
	var next atomic.Int32
	work := func(cells *[]pq.Value) {
		for i := next.Add(1) - 1; int(i) < n; i = next.Add(1) - 1 {
			errs[i] = write(int(i), cells)
		}
	}
	var others sync.WaitGroup
	for _, cells := range c[1:] {
		others.Go(func() { work(cells) })
	}
	work(c[0])
	others.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
