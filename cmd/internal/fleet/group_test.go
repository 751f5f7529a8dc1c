package fleet

import "testing"

// Services whose names are the same in plain letters do not get one sum.
func TestSumOfEachService(t *testing.T) {
	if got := ownName("check-out_2"); got != "check-out_2" {
		t.Errorf("a plain name became %s", got)
	}
	names := map[string]string{}
	for _, service := range []string{"", "unknown", "a b", "a_b", "a/b", "店", "車"} {
		name := ownName(service)
		if other, ok := names[name]; ok {
			t.Errorf("%q and %q have one sum: %s", service, other, name)
		}
		names[name] = service
	}
}
