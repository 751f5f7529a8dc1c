package recorder

import (
	"strings"
	"testing"
)

func TestTrackFilter(t *testing.T) {
	for _, tt := range []struct{ filter, name, want string }{
		{"", "a", "yes"},
		{"a", "a", "yes"}, {"a", "b", "no"}, {"a", "ab", "no"},
		{"-a", "a", "no"}, {"-a", "b", "yes"},
		{"work*", "worker 3", "yes"}, {"*3", "worker 3", "yes"}, {"w*er*3", "worker 3", "yes"}, {"w*er*4", "worker 3", "no"}, {"w*er", "worker 3", "no"}, {"*er", "worker", "yes"}, {"*", "", "yes"}, {"a*a", "a", "no"},
		{"**", "a", "yes"}, {"*or*or*", "or", "no"}, {"*or*or*", "or or", "yes"},
		{"work*,-worker 3", "worker 3", "no"}, {"work*,-worker 3", "worker 4", "yes"}, {"work*,-worker 3", "else", "no"},
		{"-*,a", "a", "yes"}, {"-*,a", "b", "no"},
	} {
		filter := trackFilter(splitList(tt.filter))
		if got := filter.wants(tt.name); got != (tt.want == "yes") {
			t.Errorf("filter %s, track %q: %v", tt.filter, tt.name, got)
		}
	}
}

func TestParseFeatures(t *testing.T) {
	only, without, err := ParseFeatures(" samples,heap , -waits,")
	if err != nil || only != FeatureSamples|FeatureHeap || without != FeatureWaits {
		t.Errorf("%v, %v, %v", only, without, err)
	}
	if again, _, err := ParseFeatures(only.String()); err != nil || again != only {
		t.Errorf("%s means %v, %v", only, again, err)
	}
	for _, list := range []string{"sample", "-", "samples;heap", "--heap"} {
		if _, _, err := ParseFeatures(list); err == nil || !strings.Contains(err.Error(), "markers, stacks") {
			t.Errorf("%s: %v", list, err)
		}
	}
}
