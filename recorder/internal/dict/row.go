package dict

import "gprof/rawformat/roots"

// Row names the row on which readers show a stack that is on no track.
func Row(leafFirst []Frame) string {
	var outer []string
	for i := len(leafFirst) - 1; i >= 0 && len(outer) < 3; i-- {
		f := &leafFirst[i]
		if len(outer) == 0 && len(f.Functions) == 0 && f.Label == 0 && f.PC != Truncated.PC {
			return roots.Native
		}
		for _, function := range f.Functions {
			outer = append(outer, function.Name)
		}
		if len(f.Functions) == 0 {
			outer = append(outer, "")
		}
	}
	if len(outer) > 1 && outer[0] == "runtime.goexit" {
		outer = outer[1:]
	}
	outer = append(outer, "", "")
	return roots.Name(outer[0], outer[1])
}
