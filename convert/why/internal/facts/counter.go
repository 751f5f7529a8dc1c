package facts

import (
	"time"

	"gprof/stream"
)

// Counter is a counter over time. Values of a level are in its unit, those of a total are what it
// gained; nanoseconds are seconds.
type Counter struct {
	stream.Counter
	Level    Series // mean of each step; of a level
	Gained   Series // in each step; of a total
	Number   Series // operations that led to that
	Known    [Steps + 1]bool
	Top      Series // largest value of each step; of a level
	First    float64
	Last     float64
	Most     float64
	FirstAt  stream.Time
	LastAt   stream.Time
	Readings int

	line       Timeline
	covered    Series // seconds
	lastNumber int64
	lastValue  int64
}

// unit is what a value is divided by.
func (c *Counter) unit() float64 {
	if c.Unit == stream.FormatNanoseconds {
		return 1e9
	}
	return 1
}

// add adds a reading.
func (c *Counter) add(at stream.Time, value, number int64) {
	v := float64(value) / c.unit()
	if c.Readings == 0 {
		c.First, c.FirstAt, c.Most = v, at, v
	} else {
		c.hold(at, v, value, number)
	}
	step := c.line.At(at)
	c.Known[step] = true
	c.Top[step] = max(c.Top[step], v)
	c.Most = max(c.Most, v)
	c.Last, c.LastAt, c.lastValue, c.lastNumber = v, at, value, number
	c.Readings++
}

// hold accounts for the time since the reading before.
func (c *Counter) hold(at stream.Time, v float64, value, number int64) {
	if c.Total {
		if value > c.lastValue {
			c.line.spread(&c.Gained, c.LastAt, at, v-c.Last)
		}
		if number > c.lastNumber {
			c.line.spread(&c.Number, c.LastAt, at, float64(number-c.lastNumber))
		}
	} else {
		seconds := time.Duration(at - c.LastAt).Seconds()
		c.line.spread(&c.Level, c.LastAt, at, seconds*(v+c.Last)/2)
	}
	c.line.spread(&c.covered, c.LastAt, at, time.Duration(at-c.LastAt).Seconds())
}

// silence is for how long a counter may say nothing while it stays as it is: the recorder leaves out values
// that did not change for a second, and a killed one the last of them.
const silence = stream.Time(1500 * time.Millisecond)

// finish makes means of what was added up.
func (c *Counter) finish() {
	if rest := c.line.End - c.LastAt; !c.Total && rest > 0 && rest <= silence {
		c.line.spread(&c.Level, c.LastAt, c.line.End, time.Duration(rest).Seconds()*c.Last)
		c.line.spread(&c.covered, c.LastAt, c.line.End, time.Duration(rest).Seconds())
	}
	for step := range c.Level {
		switch {
		case c.covered[step] > 0:
			c.Level[step] /= c.covered[step]
			c.Known[step] = true
		case c.Known[step]:
			c.Level[step] = c.Top[step]
		}
	}
}

// Around is what a total gained in a second before and from a step on, of the time that is known: some counters are
// read once a second, and a killed process has not told of its last one.
func (c *Counter) Around(at int) (before, after float64) {
	return ratio(c.Gained.Sum(0, at), c.covered.Sum(0, at)), ratio(c.Gained.Sum(at, len(c.Gained)), c.covered.Sum(at, len(c.covered)))
}

// Rates is what a total gained in a second of each step.
func (c *Counter) Rates() (rates Series) {
	for step := range c.Gained {
		if c.covered[step] > 0 {
			rates[step] = c.Gained[step] / c.covered[step]
		}
	}
	return rates
}
