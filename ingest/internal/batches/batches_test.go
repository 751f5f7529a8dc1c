package batches

import (
	"testing"

	"gprof/stream"
)

func TestBatches(t *testing.T) {
	q := Batches{Index: 5}
	a, b := stream.Series{Process: 1, Track: 1}, stream.Series{Process: 1, Track: 2}
	for i := range handRows {
		s := a
		if i%2 == 1 {
			s = b
		}
		if q.Full() {
			t.Fatalf("full after %d rows", i)
		}
		q.Row(s, 0, stream.Time(i))
	}
	if !q.Full() {
		t.Error("not full")
	}
	var got stream.Batch
	if q.Take(&got) {
		t.Error("rows are ready that were not handed over")
	}
	q.Hand()
	for i, s := range []stream.Series{a, b} {
		if !q.Take(&got) || got.Series != s || got.Len() != handRows/2 || got.Index[0] != uint64(5+i) || got.Index[1] != uint64(7+i) {
			t.Errorf("batch %d: %v", i, got.Series)
		}
	}
	if q.Take(&got) || q.Full() {
		t.Error("rows are left")
	}
	for at := range stream.Time(2) {
		q.Row(b, 0, at)
		q.Hand()
	}
	for at := range stream.Time(2) {
		if !q.Take(&got) || got.Len() != 1 || got.Time[0] != at {
			t.Errorf("row %d of those that were handed over one by one: %v", at, got.Time)
		}
	}
	q.Row(b, 0, 1)
	q.Hand()
	q.Row(a, 0, 2)
	q.Drop()
	if q.Row(a, 0, 3); q.Index != 5+handRows+5 {
		t.Errorf("the next index is %d", q.Index)
	}
	if q.Hand(); !q.Take(&got) || got.Len() != 1 || got.Time[0] != 3 || q.Take(&got) {
		t.Errorf("not one row behind those that were dropped: %v", got.Time)
	}
}
