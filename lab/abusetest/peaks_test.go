package abusetest

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// peaks contains the maximum resource usage of a process since its start.
type peaks struct {
	pid   int
	admin string

	mu         sync.Mutex
	rss        int64 // resident memory in bytes
	files      int   // open descriptors, including sockets
	goroutines int
	looks      int
}

// bounds contains limits for the resource usage of a process.
type bounds struct {
	rss        int64
	goroutines int
}

// watch samples the usage of process pid until the test ends: memory and descriptors every 100
// ms, goroutines every 500 ms.
func watch(t *testing.T, pid int, admin string) *peaks {
	p := &peaks{pid: pid, admin: admin}
	done := make(chan struct{})
	var group sync.WaitGroup
	every := func(d time.Duration, look func()) {
		group.Go(func() {
			tick := time.NewTicker(d)
			defer tick.Stop()
			for {
				look()
				select {
				case <-done:
					return
				case <-tick.C:
				}
			}
		})
	}
	every(100*time.Millisecond, p.look)
	every(500*time.Millisecond, p.count)
	t.Cleanup(func() { close(done); group.Wait() })
	return p
}

func (p *peaks) look() {
	rss := resident(p.pid)
	list, _ := os.ReadDir(filepath.Join("/proc", strconv.Itoa(p.pid), "fd")) // the folder does not exist after the process ended
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rss, p.files, p.looks = max(p.rss, rss), max(p.files, len(list)), p.looks+1
}

// resident returns the resident memory of a process in bytes, or 0 if the process has ended.
func resident(pid int) int64 {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "statm"))
	if err != nil {
		return 0
	}
	field := strings.Fields(string(text))
	if len(field) < 2 {
		return 0
	}
	pages, _ := strconv.ParseInt(field[1], 10, 64) // the kernel always writes valid numbers
	return pages * int64(os.Getpagesize())
}

func (p *peaks) count() {
	n := int(metric(p.admin, "go_goroutines"))
	p.mu.Lock()
	defer p.mu.Unlock()
	p.goroutines = max(p.goroutines, n)
}

// metric returns the value of a metric of the program, or -1 if the program does not report this
// metric.
func metric(admin, name string) float64 {
	res, err := impatient.Get(admin + "/metrics")
	if err != nil {
		return -1
	}
	defer res.Body.Close()
	for lines := bufio.NewScanner(res.Body); lines.Scan(); {
		if value, ok := strings.CutPrefix(lines.Text(), name+" "); ok {
			n, _ := strconv.ParseFloat(value, 64) // metrics always contain valid numbers
			return n
		}
	}
	return -1
}

func (p *peaks) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return fmt.Sprintf("at most %s of memory, %d descriptors, %d goroutines", mega(p.rss), p.files, p.goroutines)
}

// within fails the test if the process exceeded its bounds, or used more than 95% of the files
// that it may open.
func (p *peaks) within(t *testing.T, files int, b bounds) {
	t.Helper()
	p.look()
	p.count()
	t.Log(p)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.looks == 0 || p.rss == 0 || p.goroutines == 0 {
		t.Errorf("nothing was measured: %d samples, %d bytes, %d goroutines", p.looks, p.rss, p.goroutines)
	}
	if p.rss > b.rss {
		t.Errorf("the program used %s of memory, want at most %s", mega(p.rss), mega(b.rss))
	}
	if p.files > files*95/100 {
		t.Errorf("the program had %d descriptors open, of %d", p.files, files)
	}
	if p.goroutines > b.goroutines {
		t.Errorf("the program had %d goroutines, want at most %d", p.goroutines, b.goroutines)
	}
}

func mega(n int64) string { return fmt.Sprintf("%.0f MB", float64(n)/1e6) }
