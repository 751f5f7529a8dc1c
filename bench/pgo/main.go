//go:build unix

// Pgo measures what go build -pgo makes of the profile of a fleet: how long the build takes, how large the program
// becomes, and how much less CPU time it needs. It prints a table in Markdown.
//
//	go -C bench run ./pgo [-for 5m]
//
// The program is esbuild, a known bundler. The fleet is three services that have it do different work on its own sources,
// and of which one records far more than the others.
package main

import (
	"flag"
	"fmt"
	"io/fs"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"gprof/bench/internal/program"
)

func main() {
	log.SetFlags(0)
	length := flag.Duration("for", 5*time.Minute, "how long the programs run, in turns")
	flag.Parse()
	dir, err := os.MkdirTemp("", "pgo")
	if err != nil {
		log.Fatal(err)
	}
	err = measure(dir, *length)
	if err := os.RemoveAll(dir); err != nil {
		log.Print(err)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// services are what processes of the fleet do, and how many of them are recorded.
var services = []struct {
	name, flags string
	processes   int
}{
	{"transpile", "--target=es2015 --sourcemap", 40},
	{"minify", "--minify --target=es2022", 10},
	{"format", "--format=cjs --charset=utf8", 4},
}

// variant is the program, as it was built.
type variant struct {
	name, profile string // the profile's file; "off": none
	size          int64
	took          time.Duration // to build, by the clock
	cpu           time.Duration // likewise, of processors
	exe           string
	ran           time.Duration  // CPU time of all runs
	ratios        program.Ratios // of a run beside that of the first variant in the same round
}

func measure(dir string, length time.Duration) error {
	input, err := sources(dir)
	if err != nil {
		return err
	}
	plain := &variant{name: "no profile", profile: "off"}
	if err := plain.build(dir); err != nil {
		return err
	}
	for _, s := range services {
		for range s.processes {
			cmd := exec.Command(plain.exe, input.arguments(s.flags)...)
			cmd.Env = append(os.Environ(), "GPROF=on", "GPROF_DIR="+filepath.Join(dir, "fleet"), "GPROF_SERVICE="+s.name, "GPROF_SAMPLE_HZ=1000", "GPROF_LIMIT=256M")
			if _, err := program.Run(cmd); err != nil {
				return err
			}
		}
	}
	again := *plain
	again.name = "the same again"
	bounded := &variant{name: "`--weight '*=1' -o default.pgo`", profile: filepath.Join(dir, "default.pgo")}
	whole := &variant{name: "`-o fleet.pb.gz`", profile: filepath.Join(dir, "fleet.pb.gz")}
	if err := convert(dir, bounded.profile, whole.profile); err != nil {
		return err
	}
	variants := []*variant{plain, &again, bounded, whole}
	for _, v := range variants[2:] {
		if err := v.build(dir); err != nil {
			return err
		}
	}
	round := 0
	for begun := time.Now(); time.Since(begun) < length || round < fewest; round++ {
		if err := compare(variants, round, input); err != nil {
			return err
		}
	}
	fmt.Printf("%d runs of each program, of %s\n\n", round, time.Duration(float64(variants[0].ran)/float64(round)).Round(time.Millisecond))
	fmt.Println("| profile | kB | build, s | CPU s of it | program, MB | CPU time of a run, beside none (95 %) |")
	fmt.Println("|---|--:|--:|--:|--:|--:|")
	for _, v := range variants {
		fmt.Println(v)
	}
	return nil
}

// fewest is how many rounds there are at least, to state an interval.
const fewest = 5

// files are what esbuild is to read, and where it writes.
type files struct {
	names []string
	out   string
}

func (f *files) arguments(flags string) []string {
	args := append([]string{"--outdir=" + f.out, "--log-level=error", "--allow-overwrite"}, strings.Fields(flags)...)
	return append(args, f.names...)
}

// sources are copies of all of esbuild's own sources in JavaScript and TypeScript.
func sources(dir string) (f files, err error) {
	const copies = 4
	module, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/evanw/esbuild").Output()
	if err != nil {
		return f, err
	}
	f.out = filepath.Join(dir, "out")
	root := strings.TrimSpace(string(module))
	return f, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if ext := filepath.Ext(path); err != nil || ext != ".js" && ext != ".ts" || strings.Contains(path, "deno") {
			return err // what is for Deno awaits at the top level, as older JavaScript can't
		}
		text, err := os.ReadFile(path)
		for i := range copies {
			to := filepath.Join(dir, "in", fmt.Sprintf("%03d-%d-%s", len(f.names), i, filepath.Base(path)))
			if err == nil {
				err = os.MkdirAll(filepath.Dir(to), 0o755)
			}
			if err == nil {
				err = os.WriteFile(to, text, 0o644)
			}
			f.names = append(f.names, to)
		}
		return err
	})
}

// build builds the program, and all that it consists of.
func (v *variant) build(dir string) error {
	cache, err := os.MkdirTemp(dir, "cache")
	if err != nil {
		return err
	}
	defer os.RemoveAll(cache)
	v.exe = filepath.Join(dir, "esbuild-"+strings.ReplaceAll(filepath.Base(v.profile), ".", "-"))
	cmd := exec.Command("go", "build", "-pgo", v.profile, "-o", v.exe, "./pgo/esbuild")
	cmd.Env = append(os.Environ(), "GOCACHE="+cache)
	cost, err := program.Run(cmd)
	if err != nil {
		return err
	}
	v.took, v.cpu = cost.Wall, cost.CPU
	info, err := os.Stat(v.exe)
	if err == nil {
		v.size = info.Size()
	}
	return err
}

// convert makes profiles of the fleet.
func convert(dir, bounded, whole string) error {
	tool, err := program.Build(dir)
	if err != nil {
		return err
	}
	_, err = program.Run(exec.Command(tool, filepath.Join(dir, "fleet"), "--weight", "*=1", "-o", bounded, "-o", whole))
	return err
}

// compare runs all programs, in another order each round, each for all services.
func compare(variants []*variant, round int, input files) error {
	took := make([]time.Duration, len(variants))
	for i := range variants {
		n := (i + round) % len(variants)
		for _, s := range services {
			cmd := exec.Command(variants[n].exe, input.arguments(s.flags)...)
			cost, err := program.Run(cmd)
			if err != nil {
				return err
			}
			took[n] += cost.CPU
		}
	}
	for i, v := range variants {
		v.ran += took[i]
		v.ratios.Add(took[i], took[0])
	}
	return nil
}

// String is a line of the table.
func (v *variant) String() string {
	kB := "-"
	if info, err := os.Stat(v.profile); err == nil {
		kB = fmt.Sprintf("%.0f", float64(info.Size())/1e3)
	}
	middle, least, most := v.ratios.Percent()
	return fmt.Sprintf("| %s | %s | %.1f | %.1f | %.2f | %+.1f %% (%+.1f to %+.1f) |", v.name, kB, v.took.Seconds(), v.cpu.Seconds(), float64(v.size)/1e6, middle, least, most)
}
