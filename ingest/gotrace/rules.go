package gotrace

// Events of the format, which golang.org/x/exp/trace describes in internal/tracev2.
const (
	evStacks     = 2
	evStack      = 3
	evStrings    = 4
	evString     = 5
	evCPUSamples = 6
	evCPUSample  = 7

	evProcsChange       = 9
	evProcStart         = 10
	evProcStop          = 11
	evProcSteal         = 12
	evProcStatus        = 13
	evGoCreate          = 14
	evGoCreateSyscall   = 15
	evGoStart           = 16
	evGoDestroy         = 17
	evGoDestroySyscall  = 18
	evGoStop            = 19
	evGoBlock           = 20
	evGoUnblock         = 21
	evSyscallBegin      = 22
	evSyscallEnd        = 23
	evSyscallEndBlocked = 24
	evGoStatus          = 25
	evSTWBegin          = 26
	evSTWEnd            = 27
	evGCActive          = 28
	evGCBegin           = 29
	evGCEnd             = 30
	evSweepActive       = 31
	evSweepBegin        = 32
	evSweepEnd          = 33
	evAssistActive      = 34
	evAssistBegin       = 35
	evAssistEnd         = 36
	evHeapAlloc         = 37
	evHeapGoal          = 38
	evGoLabel           = 39
	evTaskBegin         = 40
	evTaskEnd           = 41
	evRegionBegin       = 42
	evRegionEnd         = 43
	evUserLog           = 44
	evGoSwitch          = 45
	evGoSwitchDestroy   = 46
	evGoCreateBlocked   = 47
	evGoStatusStack     = 48

	evExperiments = 128 // of memory
)

// maxArguments of an event behind its time.
const maxArguments = 4

// arguments are those of an event.
type arguments [maxArguments]uint64

// needs are what a thread must have when an event happens.
type needs uint8

const (
	aThread needs = 1 << iota
	aProcessor
	aGoroutine
	noGoroutine

	onProcessor = aThread | aProcessor
	inGoroutine = aThread | aProcessor | aGoroutine
)

// rule is how an event of the format is read.
type rule struct {
	arguments int8
	needs     needs
	// take changes the program's state, and makes an event of it; not ok if another event comes first.
	take func(*order, *thread, *arguments, *event) (ok bool, err error)
}

// rules is the table of the format's events. Those without a function are none that happen on threads.
var rules = [256]rule{
	evProcsChange:       {2, inGoroutine, (*order).procsChange},
	evProcStart:         {2, 0, (*order).procStart},
	evProcStop:          {0, onProcessor, (*order).procStop},
	evProcSteal:         {3, 0, (*order).procSteal},
	evProcStatus:        {2, 0, (*order).procStatus},
	evGoCreate:          {3, onProcessor, (*order).goCreate},
	evGoCreateSyscall:   {1, aThread | noGoroutine, (*order).goCreateSyscall},
	evGoStart:           {2, 0, (*order).goStart},
	evGoDestroy:         {0, inGoroutine, (*order).goDestroy},
	evGoDestroySyscall:  {0, aThread | aGoroutine, (*order).goDestroySyscall},
	evGoStop:            {2, inGoroutine, (*order).goStop},
	evGoBlock:           {2, inGoroutine, (*order).goBlock},
	evGoUnblock:         {3, 0, (*order).goUnblock},
	evSyscallBegin:      {2, inGoroutine, (*order).syscallBegin},
	evSyscallEnd:        {0, inGoroutine, (*order).syscallEnd},
	evSyscallEndBlocked: {0, 0, (*order).syscallEndBlocked},
	evGoStatus:          {3, 0, (*order).goStatus},
	evSTWBegin:          {2, inGoroutine, (*order).stopBegin},
	evSTWEnd:            {0, inGoroutine, (*order).stopEnd},
	evGCActive:          {1, 0, (*order).markActive},
	evGCBegin:           {2, 0, (*order).markBegin},
	evGCEnd:             {1, 0, (*order).markEnd},
	evSweepActive:       {1, 0, (*order).sweepActive},
	evSweepBegin:        {1, onProcessor, (*order).sweepBegin},
	evSweepEnd:          {2, onProcessor, (*order).sweepEnd},
	evAssistActive:      {1, 0, (*order).assistActive},
	evAssistBegin:       {1, inGoroutine, (*order).assistBegin},
	evAssistEnd:         {0, inGoroutine, (*order).assistEnd},
	evHeapAlloc:         {1, onProcessor, (*order).heapAlloc},
	evHeapGoal:          {1, onProcessor, (*order).heapGoal},
	evGoLabel:           {1, inGoroutine, (*order).goLabel},
	evTaskBegin:         {4, inGoroutine, (*order).taskBegin},
	evTaskEnd:           {2, inGoroutine, (*order).taskEnd},
	evRegionBegin:       {3, inGoroutine, (*order).regionBegin},
	evRegionEnd:         {3, inGoroutine, (*order).regionEnd},
	evUserLog:           {4, inGoroutine, (*order).userLog},
	evGoSwitch:          {2, inGoroutine, (*order).goSwitch},
	evGoSwitchDestroy:   {2, inGoroutine, (*order).goSwitchDestroy},
	evGoCreateBlocked:   {3, onProcessor, (*order).goCreateBlocked},
	evGoStatusStack:     {4, 0, (*order).goStatusStack},

	kindSnapshot: {3, 0, (*order).misplaced},

	evExperiments:     {3, aThread, (*order).experiment},
	evExperiments + 1: {3, aThread, (*order).experiment},
	evExperiments + 2: {1, aThread, (*order).experiment},
	evExperiments + 3: {2, aThread, (*order).experiment},
	evExperiments + 4: {2, aThread, (*order).experiment},
	evExperiments + 5: {1, aThread, (*order).experiment},
	evExperiments + 6: {2, aThread, (*order).experiment},
	evExperiments + 7: {2, aThread, (*order).experiment},
	evExperiments + 8: {1, aThread, (*order).experiment},
}

func (o *order) experiment(m *thread, a *arguments, ev *event) (bool, error) {
	ev.kind = kindExperiment
	return true, nil
}

// misplaced is an event that has a time, and its place in a table.
func (o *order) misplaced(*thread, *arguments, *event) (bool, error) { return false, errOrder }
