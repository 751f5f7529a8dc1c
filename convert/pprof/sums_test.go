package pprof

import (
	"bytes"
	"fmt"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/pprof/profile"

	"gprof/convert/internal/pipeline"
	"gprof/stream"
	"gprof/stream/streamtest"
)

func newSumSink(w io.Writer) stream.Sink {
	out, err := pipeline.New(w, pipeline.Options{Jobs: 2, Gzip: true})
	if err != nil {
		panic(err)
	}
	return New(out, Options{Sum: true})
}

func summed(t *testing.T, src stream.Source) *profile.Profile {
	t.Helper()
	var out bytes.Buffer
	if err := stream.Copy(newSumSink(&out), src, stream.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	return parse(t, out.Bytes())
}

func TestSumSink(t *testing.T) {
	streamtest.TestSink(t, newSumSink, func(t *testing.T, output []byte) { parse(t, output) })
}

// Sums over all tracks are those that pprof makes of the samples without the
// labels for process, track, goroutine and span, unless the program itself set these.
func TestSum(t *testing.T) {
	for _, c := range streamtest.Cases {
		t.Run(c.Name, func(t *testing.T) {
			b := streamtest.NewBuilder()
			c.Build(b)
			apart := convert(t, b.Source())
			programs := map[string]bool{}
			for id := range b.Tables.Labels.Len() {
				programs[b.Tables.Labels.At(stream.LabelsID(id+1)).Get(labelTrace)] = true
			}
			for _, s := range apart.Sample {
				for _, key := range []string{labelProcess, labelInstance, labelTrack} {
					delete(s.Label, key)
				}
				delete(s.NumLabel, labelGoroutine)
				for _, key := range []string{labelTrace, labelSpan} {
					if own := s.Label["label."+key]; own != nil {
						s.Label[key] = own
						delete(s.Label, "label."+key)
					} else if len(s.Label[labelTrace]) == 1 && !programs[s.Label[labelTrace][0]] {
						delete(s.Label, labelSpan)
						delete(s.Label, labelTrace)
					}
				}
			}
			merged, err := profile.Merge([]*profile.Profile{apart})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(valuesOf(merged), valuesOf(summed(t, b.Source()))); diff != "" {
				t.Error("merged by pprof, summed:", diff)
			}
		})
	}
}

// valuesOf are the values of samples by stack and labels.
func valuesOf(p *profile.Profile) map[string][]int64 {
	all := map[string][]int64{}
	for _, s := range p.Sample {
		key := fmt.Sprint(s.Label, s.NumLabel)
		for _, l := range s.Location {
			key += fmt.Sprintf(" %x", l.Address)
			for _, line := range l.Line {
				key += fmt.Sprint(" ", line.Function.Name, line.Function.Filename, line.Line)
			}
		}
		values := make([]int64, len(s.Value))
		copy(values, all[key])
		for i, v := range s.Value {
			values[i] += v
		}
		all[key] = values
	}
	return all
}

// A stack is one sample, whichever processes, tracks and goroutines it is of.
func TestSumIsOne(t *testing.T) {
	b := streamtest.NewBuilder()
	stack := b.Stack("main.main")
	for i := range 3 {
		p := b.Process(stream.Process{Instance: uint64(i + 1), Name: "shop", Start: begin})
		for _, track := range []*streamtest.Track{p.Main, p.Track("checkout")} {
			for k := range 2 {
				track.Add(streamtest.Row{Time: begin, Stack: stack, Weight: 1, CPU: 10, Owner: stream.Owner{Goroutine: int64(k)}})
			}
		}
	}
	got := summed(t, b.Source()).Sample
	if len(got) != 1 || got[0].Value[0] != 12 || got[0].Value[1] != 120 || len(got[0].Label)+len(got[0].NumLabel) > 0 {
		t.Error("samples, want one of 12 and 120 without labels:", got)
	}
}

// There may be as many sets of labels as requests: only some are held at a time,
// and all are counted.
func TestManySums(t *testing.T) {
	const requests = maxOtherSums + 10
	b := streamtest.NewBuilder()
	track := b.Process(stream.Process{Instance: 1, Pid: 1, Name: "shop", Start: begin}).Track("checkout")
	stack := b.Stack("main.main")
	for i := range stream.Time(requests) {
		labels := b.Tables.Labels.Intern(stream.NewLabelSet(stream.Attr{Key: "request", Value: fmt.Sprint(i)}))
		track.Add(streamtest.Row{Series: stream.Series{Kind: stream.Samples}, Time: begin + i, Stack: stack, Weight: 1, CPU: 1, Owner: stream.Owner{Labels: labels}})
	}
	seen := map[string]bool{}
	for _, s := range summed(t, b.Source()).Sample {
		seen[s.Label["request"][0]] = true
	}
	if len(seen) != requests {
		t.Errorf("%d requests, want %d", len(seen), requests)
	}
}

// A track may have more stacks than are held at a time; each is one sample all the same.
func TestSumOfManyStacks(t *testing.T) {
	const stacks = 20_000
	b := streamtest.NewBuilder()
	track := b.Process(stream.Process{Instance: 1, Pid: 1, Name: "shop", Start: begin}).Track("checkout")
	for i := range stream.Time(2 * stacks) {
		track.Add(streamtest.Row{Time: begin + i, Stack: b.Stack(fmt.Sprint("main.f", i%stacks)), Weight: 1, CPU: 1})
	}
	got := summed(t, b.Source()).Sample
	if len(got) != stacks {
		t.Fatalf("%d samples, want %d", len(got), stacks)
	}
	for _, s := range got {
		if s.Value[0] != 2 {
			t.Fatalf("%v, want 2 of each", s)
		}
	}
}
