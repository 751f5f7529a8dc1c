package corpus

// Options say what a corpus is like. Zero fields take the defaults that stand
// with them.
type Options struct {
	Processes int   // 1
	Samples   int   // of all processes; 100,000 if Bytes is 0
	Bytes     int64 // of all chunks, instead of Samples
	Markers   int   // for each 1,000 samples
	Counts    int   // values of counters, likewise
	Stacks    int   // that are sampled; 187,000
	Threads   int   // of each process, a goroutine each; 32
	Writers   int   // of each process; 4
	// Generations is how many dictionaries each process has; 1. With Grow each
	// has stacks of its own.
	Generations int
	Grow        bool
	ChunkFile   int     // bytes; 256 KiB
	Versions    int     // of the program: processes take turns, in each a request takes a tenth longer than before; 1
	Largest     float64 // share of the first process; 0: all are alike
	Seed        uint64
	Pprof       string // also write each process' samples there, as <instance>.pb
}

func (o *Options) fill() {
	set(&o.Processes, 1)
	set(&o.Stacks, 187_000)
	set(&o.Threads, 32)
	set(&o.Writers, 4)
	set(&o.Generations, 1)
	set(&o.Versions, 1)
	set(&o.ChunkFile, 256<<10)
	if o.Samples == 0 && o.Bytes == 0 {
		o.Samples = 100_000
	}
}

func set[T comparable](p *T, v T) {
	var zero T
	if *p == zero {
		*p = v
	}
}

// share is what process i has of n things.
func (o *Options) share(i int, n int64) int64 {
	switch rest := int64(o.Processes - 1); {
	case rest == 0:
		return n
	case o.Largest == 0:
		return n*int64(i+1)/(rest+1) - n*int64(i)/(rest+1)
	case i == 0:
		return int64(o.Largest * float64(n))
	default:
		return int64((1 - o.Largest) * float64(n) / float64(rest))
	}
}

// Corpus is what was written.
type Corpus struct {
	Samples, Markers, Counts int
	Chunks                   int
	Bytes                    int64 // committed payload
	Definitions              int   // records in dictionaries
	Stacks                   int   // of those, stacks
	Sampled                  int   // distinct stacks of samples, if no generation has its own
}
