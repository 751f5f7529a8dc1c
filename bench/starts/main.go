//go:build linux

// Command starts measures what Start of the recorder costs in a program that does nothing else: the time that elapses, the CPU time of its own thread, that
// of all, page faults, and what is resident. Beside it, what its files alone cost: as many, of the same size, mapped, and touched
// where Start touches them, by nothing but system calls. Each is measured in new processes, in turn:
//
//	go -C bench run ./starts
//	go -C bench run ./starts -old BINARY    # beside another build of this command
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"gprof/recorder"
)

// The arms, each run as a process of its own with its name as the only argument.
var arms = map[string]func(dir string) error{
	"start": func(dir string) error {
		_, err := recorder.Start(recorder.Options{Service: "starts", Dir: filepath.Join(dir, "sessions")})
		return err
	},
	"files": files,
}

func main() {
	runs := flag.Int("runs", 60, "processes of each kind")
	old := flag.String("old", "", "another build of this command, to measure in turn")
	flag.Parse()
	if arm := arms[flag.Arg(0)]; arm != nil {
		if err := measure(arm); err != nil {
			log.Fatal(err)
		}
		return
	}
	if err := compare(*runs, *old); err != nil {
		log.Fatal(err)
	}
}

// compare runs the arms in turn, and prints medians and quartiles.
func compare(runs int, old string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	kinds := [][]string{{self, "start"}, {self, "files"}}
	if old != "" {
		kinds = append(kinds, []string{old, "start"})
	}
	found := make([][len(names)][]float64, len(kinds))
	for range runs {
		for i, k := range kinds {
			out, err := exec.Command(k[0], k[1]).Output()
			if err != nil {
				return fmt.Errorf("%s: %w", strings.Join(k, " "), err)
			}
			var r reading
			if _, err := fmt.Sscan(string(out), &r[0], &r[1], &r[2], &r[3], &r[4], &r[5], &r[6], &r[7]); err != nil {
				return fmt.Errorf("%s printed %q: %w", strings.Join(k, " "), out, err)
			}
			for j, v := range r {
				found[i][j] = append(found[i][j], v)
			}
		}
	}
	fmt.Printf("| median (quartiles), least of %d | %s |\n|---|%s\n", runs, strings.Join(names[:], " | "), strings.Repeat("--:|", len(names)))
	for i, k := range kinds {
		fmt.Printf("| %s", strings.Join(k, " "))
		for _, v := range found[i] {
			slices.Sort(v)
			fmt.Printf(" | %.2f (%.2f–%.2f), %.2f", v[len(v)/2], v[len(v)/4], v[len(v)*3/4], v[0])
		}
		fmt.Println(" |")
	}
	return nil
}

var names = [...]string{"elapsed, ms", "own CPU, ms", "all CPU, ms", "page faults", "resident, MB", "of that code and data of the program", "files", "memory"}

// measure prints what do costs this process.
func measure(do func(dir string) error) error {
	runtime.LockOSThread()
	dir, err := os.MkdirTemp("/dev/shm", "gprof-starts-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	defer func() { recorder.Running().Stop() }() // it would go on to make files
	var before, after reading
	before.memory() // its own first time
	before.memory()
	before.time()
	err = do(dir)
	after.time()
	after.memory()
	for i := range before {
		fmt.Print(after[i]-before[i], " ")
	}
	return err
}

type reading [len(names)]float64

func (r *reading) time() {
	var own, now unix.Timespec
	var thread, all unix.Rusage
	unix.ClockGettime(unix.CLOCK_MONOTONIC, &now)
	unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &own)
	unix.Getrusage(unix.RUSAGE_THREAD, &thread)
	unix.Getrusage(unix.RUSAGE_SELF, &all)
	r[0], r[1], r[2], r[3] = float64(now.Nano())/1e6, float64(own.Nano())/1e6, float64(all.Utime.Nano()+all.Stime.Nano())/1e6, float64(thread.Minflt)
}

func (r *reading) memory() {
	var memory, file, shared float64
	status, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(status)) {
		fmt.Sscanf(line, "RssAnon: %f kB", &memory)
		fmt.Sscanf(line, "RssFile: %f kB", &file)
		fmt.Sscanf(line, "RssShmem: %f kB", &shared)
	}
	r[4], r[5], r[6], r[7] = (memory+file+shared)*1024/1e6, file*1024/1e6, shared*1024/1e6, memory*1024/1e6
}

// files makes what Start makes: the directories, the lock, the control page, the dictionary, chunks, the ring of a thread and meta,
// with as many bytes of each reserved: of half of the chunks, as of the lock, none.
func files(dir string) error {
	made := filepath.Join(dir, "sessions", "starts", "0123456789abcdef")
	for _, d := range []string{filepath.Dir(filepath.Dir(made)), filepath.Dir(made), made} {
		if err := unix.Mkdir(d, 0o700); err != nil {
			return err
		}
	}
	for _, f := range []struct {
		name                      string
		mapped, reserved, written int
	}{{"lock", 0, 0, 0}, {"../control", 132 << 10, 132 << 10, 0}, {"dict-001", 0, 0, 1000}, {"chunk-00000", 256 << 10, 256 << 10, 0}, {"chunk-00001", 256 << 10, 256 << 10, 0},
		{"chunk-00002", 256 << 10, 0, 0}, {"chunk-00003", 256 << 10, 0, 0}, {"meta", 0, 0, 800}} {
		if err := file(filepath.Join(made, f.name), f.mapped, f.reserved, f.written); err != nil {
			return err
		}
	}
	return nil
}

func file(name string, mapped, reserved, written int) error {
	fd, err := unix.Open(name, unix.O_RDWR|unix.O_CREAT|unix.O_EXCL|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return err
	}
	if reserved > 0 {
		if err := unix.Fallocate(fd, 0, 0, int64(reserved)); err != nil {
			return err
		}
	}
	if mapped > 0 {
		if err := unix.Ftruncate(fd, int64(mapped)); err != nil {
			return err
		}
		mem, err := unix.Mmap(fd, 0, mapped, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
		if err != nil {
			return err
		}
		mem[0] = 1
	}
	if written > 0 {
		if _, err := unix.Write(fd, make([]byte, written)); err != nil {
			return err
		}
	}
	return unix.Close(fd)
}
