package fleet

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Large inputs are divided by process. Parents and children stay together if they fit into a
// piece, and an input that shares a process with another stays whole.
func TestPieces(t *testing.T) {
	input := func(path string, bytes int64, processes ...process) placedInput {
		in := placedInput{member: member{Path: path, Bytes: bytes}, processes: processes}
		for _, p := range processes {
			in.Instances = append(in.Instances, p.instance)
			if p.parent != "" {
				in.Instances = append(in.Instances, p.parent)
			}
		}
		slices.Sort(in.Instances)
		in.Instances = slices.Compact(in.Instances)
		return in
	}
	family := []process{{"a", "", 30}, {"b", "", 40}, {"a1", "a", 30}, {"a2", "a1", 30}}
	for _, test := range []struct {
		name string
		in   []placedInput
		size int64
		want string
	}{
		{"small", []placedInput{input("x", 130, family...)}, 130, "x"},
		{"families", []placedInput{input("x", 130, family...)}, 95, "x[a a1 a2] x[b]"},
		{"a large family", []placedInput{input("x", 130, family...)}, 65, "x[a a1] x[a2] x[b]"},
		{"smaller than one", []placedInput{input("x", 130, family...)}, 1, "x[a] x[a1] x[a2] x[b]"},
		{"one process", []placedInput{input("x", 130, process{"a", "", 130})}, 10, "x"},
		{"shared", []placedInput{input("x", 130, family...), input("y", 10, process{"b", "", 10})}, 65, "x y"},
		{"a parent elsewhere", []placedInput{input("x", 130, family...), input("y", 10, process{"c", "a2", 10})}, 65, "x y"},
		{"its own ancestor", []placedInput{input("x", 100, process{"a", "b", 50}, process{"b", "a", 50}, process{"c", "c", 50})}, 40, "x[a] x[b] x[c]"},
		{"empty processes", []placedInput{input("x", 100, process{"a", "", 0}, process{"b", "", 0})}, 40, "x"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			keys := map[string]bool{}
			for _, in := range pieces(test.in, test.size) {
				keys[in.key()] = true
				if in.Piece == nil {
					got = append(got, in.Path)
					continue
				}
				got = append(got, fmt.Sprintf("%s%v", in.Path, in.Piece.Processes))
			}
			if text := strings.Join(got, " "); text != test.want || len(keys) != len(got) {
				t.Errorf("%s, want %s; %d different keys", text, test.want, len(keys))
			}
		})
	}
}
