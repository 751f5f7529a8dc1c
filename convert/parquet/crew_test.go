package parquet

import (
	"slices"
	"sync"
	"testing"

	pq "github.com/parquet-go/parquet-go"
)

// Work on a column is done in order, by no more goroutines than the crew has.
func TestQueue(t *testing.T) {
	const columns, jobs, each = 5, 3, 200
	c := newCrew(jobs)
	var queues [columns]queue
	var done [columns][]int
	var all sync.WaitGroup
	inUse := map[*[]pq.Value]int{}
	var mu sync.Mutex
	for i := range each {
		for column := range queues {
			all.Add(1)
			queues[column].add(c, func(cells *[]pq.Value) {
				defer all.Done()
				mu.Lock()
				inUse[cells]++
				if inUse[cells] > 1 {
					t.Error("two have the same scratch memory")
				}
				mu.Unlock()
				done[column] = append(done[column], i)
				mu.Lock()
				inUse[cells]--
				mu.Unlock()
			})
		}
	}
	all.Wait()
	if len(inUse) > jobs {
		t.Errorf("%d goroutines at once, want at most %d", len(inUse), jobs)
	}
	for column := range queues {
		if len(done[column]) != each || !slices.IsSorted(done[column]) {
			t.Errorf("column %d: %d pieces of work, in order: %v", column, len(done[column]), slices.IsSorted(done[column]))
		}
	}
}
