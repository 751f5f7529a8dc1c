package dict

import "testing"

// Frames in the kernel's code are named.
func TestKernelCodeIsNamed(t *testing.T) {
	d := createDictionary(t, 1<<20)
	d.Learn()
	if len(d.unfiled) == 0 {
		t.Fatal("the kernel's code has no functions")
	}
	for _, f := range d.unfiled {
		if d.Stack([]Frame{{PC: f.End - 1}}) == 0 || d.strings.of[f.Name] == 0 {
			t.Errorf("%s has no name", f.Name)
		}
	}
}
