package stream

// CrowdTables has all tables count as so large that rows in memory give way to them.
func (s *Sorter) CrowdTables() { s.crowded = 0 }
