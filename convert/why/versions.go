package why

import (
	"fmt"
	"slices"
	"strings"

	"gprof/stream/wording"
)

// versions finds a version of a program that does worse than others that ran beside it.
type versions struct{}

func (versions) About() About {
	return About{
		Name: "version", Looks: "markers, failures and CPU time of processes of one service, by version",
		Needs:     "processes of several versions in the input; intervals",
		Threshold: "a marker typically takes × 3 as long, fails in 10 % and × 3 as often, or costs × 3 as much CPU time, as in each of the other versions",
	}
}

// costLeast is the least CPU time of a marker that matters, in seconds.
const costLeast = 100e-6

// release is all processes of one version.
type release struct {
	version string
	all     []*Brief
	markers map[string]BriefMarker
	cpu     float64
}

func newRelease(all []*Brief) *release {
	r := &release{version: all[0].Version, all: all, markers: map[string]BriefMarker{}}
	for _, b := range all {
		r.cpu += b.CPU
		for _, m := range b.Markers {
			sum := r.markers[m.Name]
			sum.add(m)
			r.markers[m.Name] = sum
		}
	}
	return r
}

func (d versions) FindAll(all []*Brief) (found []Finding) {
	for _, group := range by(all, service) {
		var releases []*release
		for _, same := range by(group, func(b *Brief) string { return b.Version }) {
			if same[0].Version != "" {
				releases = append(releases, newRelease(same))
			}
		}
		if len(releases) < 2 {
			continue
		}
		for i, r := range releases {
			others := slices.Concat(releases[:i], releases[i+1:])
			if f, ok := d.compare(r, others); ok {
				found = append(found, f)
			}
		}
	}
	return found
}

// figures are what versions are compared by: what a marker has, in a unit, and the least that matters.
var figures = []struct {
	text  string // the marker, here, in others
	of    func(*release, BriefMarker) float64
	word  func(float64) string
	least float64
}{
	{"%s typically takes %s, %s in other versions", func(_ *release, m BriefMarker) float64 { return m.typical() }, took, slowLeast},
	{"of %s %s fail, %s in other versions", func(_ *release, m BriefMarker) float64 { return ratio(m.Failed, m.Count) }, percent, failedLeast},
	{"each %s costs %s of CPU time, %s in other versions", func(r *release, m BriefMarker) float64 { return ratio(r.cpu, m.Count) }, took, costLeast},
}

// compare compares a version with all others.
func (versions) compare(r *release, others []*release) (f Finding, ok bool) {
	for _, name := range sortedNames(r.markers) {
		for _, figure := range figures {
			m := r.markers[name]
			here, most := figure.of(r, m), 0.0
			comparable := m.Count >= fewMarkers
			for _, o := range others {
				comparable = comparable && o.markers[name].Count >= fewMarkers
				most = max(most, figure.of(o, o.markers[name]))
			}
			if !comparable || here < figure.least || here < slowFactor*most {
				continue
			}
			text := fmt.Sprintf(figure.text, name, figure.word(here), figure.word(most))
			if ok {
				f.Evidence = append(f.Evidence, text)
				continue
			}
			ok = true
			title := strings.TrimSpace(service(r.all[0]) + " " + r.version)
			f = Finding{
				Severity: Cause, Process: wording.Printable(service(r.all[0])), Explains: 1 - most/here, covers: ids(r.all),
				Text:     fmt.Sprintf("version %s is to blame: %s", wording.Printable(r.version), text),
				Evidence: []string{fmt.Sprintf("%s markers of that version, by %d of its processes; %d other versions", digits(m.Count), len(r.all), len(others))},
				More:     []string{"top", "--by", "marker", "--process", title + "*"},
			}
		}
	}
	return f, ok
}

// sortedNames are the names of markers that took time, most first.
func sortedNames(all map[string]BriefMarker) (names []string) {
	for name := range all {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		if all[a].Took != all[b].Took {
			if all[a].Took > all[b].Took {
				return -1
			}
			return 1
		}
		return strings.Compare(a, b)
	})
	return names
}
