package rawformat

// BusyExcess is the field excess of a busy-for block of so much CPU time. Both are in ns.
func BusyExcess(cpu, period uint64) int64 {
	return (int64(cpu-period) + CPUUnit/2) >> 16 // rounds to the nearest unit
}

// BusyTime is the CPU time of a busy-for block in ns. It is never negative, and impossible values saturate.
func BusyTime(period uint64, excess int64) uint64 {
	const most = 1 << 45
	return uint64(max(0, int64(min(period, 1<<62))+min(max(excess, -most), most)*CPUUnit))
}
