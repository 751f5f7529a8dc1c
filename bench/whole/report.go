//go:build linux

package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// A trio is a block of an arm, and those of nothing before and after it.
type trio struct{ before, with, after block }

// resamples of the trios give the interval in which 95 % of the means lie.
const resamples = 400

// fewest trios that show how much they scatter.
const fewest = 10

func printHead() {
	fmt.Println("| arm | blocks | CPU per request | requests per second | p50 | p99 | p99.9 |")
	fmt.Println("|---|--:|--:|--:|--:|--:|--:|")
}

func printArm(a *arm, found []trio, random *rand.Rand) {
	columns := []func([]trio) float64{
		meanOf(block.cpuPerRequest), meanOf(block.rate), latencyAt(0.5), latencyAt(0.99), latencyAt(0.999),
	}
	fmt.Printf("| %s | %d |", a.name, len(found))
	for _, c := range columns {
		if len(found) < fewest {
			fmt.Printf(" %+.2f %% |", 100*c(found))
			continue
		}
		low, high := interval(found, c, random)
		fmt.Printf(" %+.2f %% (%+.2f to %+.2f) |", 100*c(found), 100*low, 100*high)
	}
	fmt.Println()
}

func (b block) rate() float64 { return float64(b.requests) / b.wall.Seconds() }

// meanOf is by how much a block of the arm has more than its neighbours, on average. A
// tenth at each end doesn't count: those are blocks in which something else ran.
func meanOf(value func(block) float64) func([]trio) float64 {
	return func(found []trio) float64 {
		ratios := make([]float64, len(found))
		for i, t := range found {
			ratios[i] = 2*value(t.with)/(value(t.before)+value(t.after)) - 1
		}
		slices.Sort(ratios)
		ratios = ratios[len(ratios)/10 : len(ratios)-len(ratios)/10]
		var sum float64
		for _, r := range ratios {
			sum += r
		}
		return sum / float64(len(ratios))
	}
}

// latencyAt is by how much a quantile of all requests in the arm's blocks is above that
// of all in their neighbours.
func latencyAt(q float64) func([]trio) float64 {
	return func(found []trio) float64 {
		var with, without [buckets]uint64
		for _, t := range found {
			for i := range with {
				with[i] += uint64(t.with.latencies[i])
				without[i] += uint64(t.before.latencies[i]) + uint64(t.after.latencies[i])
			}
		}
		return quantile(&with, q)/quantile(&without, q) - 1
	}
}

func interval(found []trio, value func([]trio) float64, random *rand.Rand) (low, high float64) {
	values := make([]float64, resamples)
	some := make([]trio, len(found))
	for i := range values {
		for j := range some {
			some[j] = found[random.IntN(len(found))]
		}
		values[i] = value(some)
	}
	slices.Sort(values)
	return values[resamples/40], values[resamples-1-resamples/40]
}
