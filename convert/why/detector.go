package why

// Detector finds one kind of trouble.
type Detector interface {
	// About describes it.
	About() About
	// Find looks at one process. It returns nothing where it lacks what it needs: a finding without
	// evidence is a defect.
	Find(*Process) []Finding
}

// About describes a detector, for people and for the documentation.
type About struct {
	Name      string
	Looks     string // what it looks at
	Needs     string // what must be in the recording
	Threshold string // from what on it finds something, and why there

	// Lacks says what is not known of a process without what the detector needs, and what to record;
	// nil if all recordings have it.
	Lacks func(*Process) string

	// Elsewhere says that the trouble is outside of the program: its findings come behind others that are
	// as sure, because a change of the program can only help against those.
	Elsewhere bool

	// EffectOf are detectors whose findings in the same process explain those of this one, which are
	// one step less sure then.
	EffectOf []string
}

// Detectors are all detectors, in the order in which they are shown where findings are equal.
func Detectors() []Detector {
	return []Detector{
		heapGrowth{},
		goroutineGrowth{},
		openFiles{},
		throttling{},
		standstill{},
		lockWaits{},
		retries{},
		logging{},
		herd{},
		allocations{},
		collections{},
		timers{},
		busyFunction{},
		faults{},
		onDisk,
		onNetwork,
		onChannels,
		starved{},
		failures{},
		slowMarker{},
		triggers{},
	}
}
