// Cgo burns CPU in C, on threads of Go and of C, and in Go that C calls back.
package main

/*
#cgo LDFLAGS: -lpthread
#include <pthread.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

extern void goCallback(void);

static volatile uint64_t sink;
static volatile int tid, sampled, done;

static double cpu(void) {
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec + 1e-9 * t.tv_nsec;
}

static void spin(double seconds) {
	double end = cpu() + seconds;
	do {
		for (int i = 0; i < 100000; i++) sink += i * i;
	} while (cpu() < end);
}

static void *run(void *unused) {
	tid = syscall(SYS_gettid);
	while (!sampled) spin(0.01);
	spin(0.25); // Go has not seen the thread yet
	for (int i = 0; i < 10; i++) {
		spin(0.01);
		goCallback();
	}
	done = 1;
	return 0;
}

static void startThread(void) {
	pthread_t t;
	pthread_create(&t, 0, run, 0);
	pthread_detach(t);
}

static void thereAndBack(void) {
	goCallback();
	sink++;
}

static int threadID(void) { return tid; }
static void setSampled(void) { sampled = 1; }
static int isDone(void) { return done; }
*/
import "C"

import (
	"crypto/sha256"
	"fmt"
	"os"

	"gprof/recorder"
)

//export goCallback
func goCallback() { work(1500) }

//go:noinline
func work(n int) (sum [32]byte) {
	for range n {
		for range 200 {
			sum = sha256.Sum256(sum[:])
		}
	}
	return sum
}

//go:noinline
func intoC() { C.spin(0.02) }

//go:noinline
func throughC() { C.thereAndBack() }

func main() {
	rec, err := recorder.Start(recorder.Options{Dir: os.Args[1]})
	if err != nil {
		panic(err)
	}
	C.startThread()
	for i := 0; i < 10 || C.isDone() == 0; i++ {
		intoC()
		throughC()
		work(100)
		if _, err := os.Stat(fmt.Sprintf("%s/stacks-%d", rec.Dir(), C.threadID())); err == nil {
			C.setSampled()
		}
	}
	if err := rec.Stop(); err != nil {
		panic(err)
	}
	fmt.Println(rec.Dir())
}
