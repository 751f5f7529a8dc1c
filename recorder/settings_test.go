package recorder

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"gprof/recorder/internal/rt"
)

func TestParseSize(t *testing.T) {
	for _, tt := range []struct {
		text string
		want int64 // -1: it is an error
	}{
		{"0", 0}, {"4096", 4096}, {"1k", 1024}, {"2KB", 2048}, {"3KiB", 3072}, {"64MiB", 64 << 20}, {"10M", 10 << 20}, {"1g", 1 << 30}, {"5b", 5},
		{"", -1}, {"M", -1}, {"-1", -1}, {"1T", -1}, {"1.5M", -1}, {"1 M", -1}, {"99999999999G", -1},
	} {
		got, err := ParseSize(tt.text)
		if err != nil {
			got = -1
		}
		if got != tt.want {
			t.Errorf("%q: %d, want %d", tt.text, got, tt.want)
		}
	}
}

// clearEnvironment removes the recorder's variables from the environment of the tests.
func clearEnvironment(t *testing.T) {
	for _, e := range environmentTable {
		t.Setenv(e.name, "")
	}
}

// What an operator sets to keep a program from recording counts whatever else is set.
func TestOff(t *testing.T) {
	for _, tt := range []struct {
		env  []string
		want bool
	}{
		{nil, false},
		{[]string{"GPROF=on"}, false},
		{[]string{"GPROF=OFF"}, true},
		{[]string{"GPROF=0"}, true},
		{[]string{"GPROF=perhaps"}, false}, // which Start refuses
		{[]string{"GPROF_DISABLE=1"}, true},
		{[]string{"GPROF_DISABLE=1", "GPROF=on"}, true},
		{[]string{"GPROF_DISABLE=please"}, true},
		{[]string{"GPROF_DISABLE=0"}, false},
		{[]string{"GPROF_DISABLE=no", "GPROF=on"}, false},
		{[]string{"GPROF_DISABLE=1", "GPROF_LIMIT=nonsense"}, true},
	} {
		clearEnvironment(t)
		for _, e := range tt.env {
			name, value, _ := strings.Cut(e, "=")
			t.Setenv(name, value)
		}
		if by := off(); (by != "") != tt.want {
			t.Errorf("%v: %q", tt.env, by)
		}
	}
}

func TestSettings(t *testing.T) {
	for _, tt := range []struct {
		name string
		env  []string
		want settings
	}{
		{"nothing", nil, settings{}},
		{"gprof", []string{"GPROF_DIR=/d", "GPROF_SESSION=/s", "GPROF_LIMIT=1M", "GPROF_KEEP=5m", "GPROF_GROUP_ACCESS=on", "GPROF_CHUNK=64k", "GPROF_CPU=pprof", "GPROF_STACK_DEPTH=256", "GPROF_COUNTER_HZ=-1", "GPROF_HEAP=20s", "GPROF_WAIT_HZ=5", "GPROF_WALL_HZ=50", "GPROF_TRACE=5s", "GPROF_TRIGGERS=cpu>80%: mark; a>1s: trace;", "GPROF_DUMP=/dump", "GPROF_FEATURES=markers, waits,-heap", "GPROF_TRACKS=worker *, -worker 3", "GPROF_SERVICE=a", "GPROF_VERSION=v", "GPROF_ATTRS=k=v, l=m", "GPROF_PARENT=00ff:3", "GPROF_PORTABLE=counter, stacks"},
			settings{Options{"/d", "a", "v", map[string]string{"k": "v", "l": "m"}, 1 << 20, 64 << 10, 5 * time.Minute, true, CPUPprof, 0, 256, -1, 20 * time.Second, 5, 50, FeatureMarkers | FeatureWaits, FeatureHeap, []string{"worker *", "-worker 3"}, 5 * time.Second, "/dump", []Trigger{{Rule: "cpu>80%: mark"}, {Rule: "a>1s: trace"}}, nil}, "/s", 255, rt.Counter | rt.Frames, nil}},
		{"opentelemetry", []string{"OTEL_RESOURCE_ATTRIBUTES=service.name=checkout,service.version=1.2,region=eu%2Cwest"},
			settings{Options: Options{Service: "checkout", Version: "1.2", Attrs: map[string]string{"region": "eu,west"}}}},
		{"the more specific wins", []string{"OTEL_RESOURCE_ATTRIBUTES=service.name=a,service.version=1,k=1", "OTEL_SERVICE_NAME=b", "GPROF_SERVICE=c", "GPROF_VERSION=2", "GPROF_ATTRS=k=2"},
			settings{Options: Options{Service: "c", Version: "2", Attrs: map[string]string{"k": "2"}}}},
		{"opentelemetry, partly malformed", []string{"OTEL_RESOURCE_ATTRIBUTES=a,service.name=checkout,b=%zz,=x,region=eu"},
			settings{Options: Options{Service: "checkout", Attrs: map[string]string{"region": "eu"}},
				ignored: []string{`OTEL_RESOURCE_ATTRIBUTES: "a": want key=value`, `OTEL_RESOURCE_ATTRIBUTES: invalid URL escape "%zz"`, `OTEL_RESOURCE_ATTRIBUTES: "=x": want key=value`}}},
		{"no heap samples", []string{"GPROF_HEAP=off"}, settings{Options: Options{HeapEvery: -1}}},
		{"nothing kept", []string{"GPROF_KEEP=0"}, settings{Options: Options{Keep: -1}}},
		{"portable", []string{"GPROF_PORTABLE=1"}, settings{portable: 0xff}},
		{"not portable", []string{"GPROF_PORTABLE=0"}, settings{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			clearEnvironment(t)
			for _, e := range tt.env {
				name, value, _ := strings.Cut(e, "=")
				t.Setenv(name, value)
			}
			got, err := readSettings()
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, &tt.want) {
				t.Errorf("%v\nwant %v", got, &tt.want)
			}
		})
	}
}

func TestSettingsErrors(t *testing.T) {
	for _, e := range []string{"GPROF=perhaps", "GPROF_LIMIT=x", "GPROF_KEEP=60", "GPROF_KEEP=-1s", "GPROF_GROUP_ACCESS=x", "GPROF_CHUNK=x", "GPROF_CPU=perf", "GPROF_COUNTER_HZ=x", "GPROF_ATTRS=novalue", "GPROF_ATTRS==v", "GPROF_ATTRS=k=%zz", "GPROF_FEATURES=colour", "GPROF_TRACE=-1s", "GPROF_TRIGGERS=cpu>80: mark", "GPROF_PARENT=xyz"} {
		t.Run(e, func(t *testing.T) {
			clearEnvironment(t)
			name, value, _ := strings.Cut(e, "=")
			t.Setenv(name, value)
			if s, err := readSettings(); err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("%+v, %v, want an error that names %s", s, err, name)
			}
		})
	}
}

func TestHelpListsAllSettings(t *testing.T) {
	var b bytes.Buffer
	if err := Settings(&b); err != nil {
		t.Fatal(err)
	}
	for _, e := range environmentTable {
		if !strings.Contains(b.String(), e.name+"="+e.value) || e.help == "" {
			t.Errorf("no help for %s", e.name)
		}
	}
}

func TestPlan(t *testing.T) {
	clearEnvironment(t)
	t.Setenv("GPROF_SERVICE", "from env")
	t.Setenv("GPROF_ATTRS", "a=env,b=env")
	t.Setenv("GPROF_CPU", "pprof")
	dir := t.TempDir()
	p, err := Options{Dir: dir, Version: "3", Attrs: map[string]string{"b": "code"}, CounterHz: 99, ChunkSize: 100_000}.plan()
	if err != nil {
		t.Fatal(err)
	}
	if p.session != filepath.Join(dir, "from_env") {
		t.Errorf("session %s", p.session)
	}
	if p.id.version != "3" || p.CPU != CPUPprof || p.CounterHz != 10 || p.ChunkSize != 128<<10 {
		t.Errorf("version %q, CPU %v, %d Hz, chunks of %d", p.id.version, p.CPU, p.CounterHz, p.ChunkSize)
	}
	if !reflect.DeepEqual(p.Attrs, map[string]string{"a": "env", "b": "code"}) {
		t.Errorf("attributes %v\nwant %v", p.Attrs, map[string]string{"a": "env", "b": "code"})
	}
	if p.Limit <= 0 || p.Limit > defaultLimit {
		t.Errorf("default limit %d", p.Limit)
	}
	t.Setenv("GPROF_LIMIT", "3M")
	if p, err := (Options{Dir: dir, Limit: 9 << 20}).plan(); err != nil || p.Limit != 3<<20 {
		t.Errorf("limit %d, %v, want the environment's", p.Limit, err)
	}
	t.Setenv("GPROF_SESSION", filepath.Join(dir, "session of the parent"))
	if s, err := (Options{Dir: "elsewhere"}).Session(); err != nil || s != os.Getenv("GPROF_SESSION") {
		t.Errorf("session %s, %v, want the parent's", s, err)
	}
}

// Options.Session returns the directory even if Start would refuse the settings.
func TestSessionOfMalformedSettings(t *testing.T) {
	clearEnvironment(t)
	t.Setenv("GPROF_CHUNK", "nonsense")
	t.Setenv("GPROF", "perhaps")
	if s, err := (Options{Dir: "/d", Service: "a"}).Session(); err != nil || s != "/d/a" {
		t.Errorf("session %s, %v, want /d/a", s, err)
	}
}

func TestDefaultDir(t *testing.T) {
	clearEnvironment(t)
	t.Setenv("XDG_STATE_HOME", "/state")
	if dir, err := defaultDir("s", 1<<62); err != nil || dir != "/state/gprof" {
		t.Errorf("%s, %v, want the state directory for what fits nowhere", dir, err)
	}
	t.Setenv("XDG_STATE_HOME", "not/absolute")
	t.Setenv("HOME", "/home/x")
	if dir, err := defaultDir("s", 1<<62); err != nil || dir != "/home/x/.local/state/gprof" {
		t.Errorf("%s, %v, want one in the home directory", dir, err)
	}
	t.Setenv("XDG_STATE_HOME", "")
	t.Setenv("HOME", "")
	if _, err := Start(Options{Limit: 1 << 62}); err == nil || !strings.Contains(err.Error(), "set Options.Dir or GPROF_DIR") {
		t.Errorf("%v, want what to do where there is no home directory", err)
	}
}

func TestSanitize(t *testing.T) {
	for name, want := range map[string]string{
		"checkout": "checkout", "a/b c": "a_b_c", "..": "unnamed", "": "unnamed", "ünï": "_n_", "v1.2-x_y": "v1.2-x_y",
		strings.Repeat("a", 100): strings.Repeat("a", 64),
	} {
		if got := sanitize(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

func TestTrackFilter(t *testing.T) {
	for _, tt := range []struct{ filter, name, want string }{
		{"", "a", "yes"},
		{"a", "a", "yes"}, {"a", "b", "no"}, {"a", "cAb", "yes"}, {"=a", "ab", "no"}, {"pid:" + strconv.Itoa(os.Getpid()), "a", "yes"}, {"pid:0", "a", "no"},
		{"-a", "a", "no"}, {"-a", "b", "yes"},
		{"work*", "worker 3", "yes"}, {"*3", "worker 3", "yes"}, {"w*er*3", "worker 3", "yes"}, {"w*er*4", "worker 3", "no"}, {"w*er", "worker 3", "no"}, {"*er", "worker", "yes"}, {"*", "", "yes"}, {"a*a", "a", "no"},
		{"**", "a", "yes"}, {"*or*or*", "or", "no"}, {"*or*or*", "or or", "yes"},
		{"work*,-worker 3", "worker 3", "no"}, {"work*,-worker 3", "worker 4", "yes"}, {"work*,-worker 3", "else", "no"},
		{"-*,a", "a", "yes"}, {"-*,a", "b", "no"},
	} {
		if got := tt.filter == "" || wanted(splitList(tt.filter))(tt.name); got != (tt.want == "yes") {
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
