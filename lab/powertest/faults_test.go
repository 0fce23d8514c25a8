package powertest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"cloudburst/client"
	"cloudburst/lab/outside"
	"cloudburst/lab/program"
)

const within = 2 * time.Minute // timeout for expected events, long enough for a slow machine

// faultyDisk is the program with its data on a disk that can fail.
type faultyDisk struct {
	*harness
	p        *program.Process
	c        *client.Client
	log      string
	n        atomic.Int64
	mu       sync.Mutex
	acks     []client.Post
	rejected []string // texts of rejected posts
}

func newFaultyDisk(t *testing.T) *faultyDisk {
	t.Helper()
	s := &faultyDisk{harness: newHarness(t, seed(t)), log: t.TempDir()}
	if s.record != "" {
		t.Skip("a failing disk must be mounted, which is not possible here")
	}
	s.start()
	if _, err := s.c.AddUser(t.Context(), author, "correct horse battery"); err != nil {
		t.Fatal(err)
	}
	if err := s.post(); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *faultyDisk) start() {
	s.t.Helper()
	var err error
	s.p, err = program.Start(s.t.Context(), program.Command{Binary: build(s.t, program.Real), Dir: s.log, Data: filepath.Join(s.dir, "data"), Args: []string{"--log.level", "info"}})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(s.p.Kill)
	s.c = &client.Client{Base: s.p.Admin, HTTP: outside.Client(within)}
}

// post creates a post, and records whether the program acknowledged or rejected it.
func (s *faultyDisk) post() error {
	text, state := fmt.Sprintf("Post number %d.", s.n.Add(1)), "published"
	p, err := s.c.CreatePost(context.Background(), author, client.PostChange{Source: &text, State: &state}, text)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.rejected = append(s.rejected, text)
		return err
	}
	s.acks = append(s.acks, p)
	return nil
}

// wantUnavailable fails the test unless err is a response with status 503 whose message contains
// words.
func (s *faultyDisk) wantUnavailable(err error, words string) {
	s.t.Helper()
	e, ok := errors.AsType[*client.Error](err)
	if !ok || e.Status != http.StatusServiceUnavailable || !strings.Contains(e.Message, words) {
		s.t.Errorf("the error is %v (%T), want status 503 with %q", err, err, words)
	}
}

// probe requests a path of the admin listener, and returns the status and the body.
func (s *faultyDisk) probe(path string) (int, string) {
	s.t.Helper()
	res, err := s.c.HTTP.Do(must(http.NewRequest(http.MethodGet, s.p.Admin+path, nil)))
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	b, _ := io.ReadAll(res.Body)
	return res.StatusCode, string(b)
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// check compares the stored posts with the acknowledged and rejected posts.
func (s *faultyDisk) check(when string) {
	s.t.Helper()
	there := map[string]int{}
	for p, err := range s.c.Posts(s.t.Context(), author, client.PostQuery{}) {
		if err != nil {
			s.t.Fatalf("%s: %v", when, err)
		}
		there[p.Source]++
	}
	for _, p := range s.acks {
		if there[p.Source] != 1 {
			s.t.Errorf("%s: %q was acknowledged and exists %d times", when, p.Source, there[p.Source])
		}
	}
	for _, text := range s.rejected {
		if there[text] != 0 {
			s.t.Errorf("%s: %q was rejected and exists", when, text)
		}
	}
}

// cutAndCheck cuts the power, restarts the program and checks its data.
func (s *faultyDisk) cutAndCheck() {
	s.t.Helper()
	s.p.Kill()
	s.failFromNowOn(nil)
	if err := s.cut(); err != nil {
		s.t.Fatal(err)
	}
	outside.Fail(s.t, s.broken)
	s.start()
	s.check("after the power cut")
	found, err := s.c.Installation(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	for _, f := range found.Findings {
		if f.Level == "problem" && f.ID != "data-kind" { // the doctor is right about "data-kind": file systems in user space are not safe in general
			s.t.Errorf("the doctor finds %s: %s", f.ID, f.Text)
		}
	}
	s.t.Logf("%d posts acknowledged, %d rejected, none lost", len(s.acks), len(s.rejected))
}

func ofDatabase(o Op) bool {
	return strings.Contains(o.Path, database) && !strings.HasSuffix(o.Path, "-shm")
}

func TestFailingDiskIsReportedAndNothingIsAcknowledged(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"sync", "write"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := newFaultyDisk(t)
			s.failFromNowOn(func(o Op) Failure {
				if o.Kind == kind && ofDatabase(o) {
					return Failure{Errno: syscall.EIO}
				}
				return Failure{}
			})
			for range 5 {
				s.wantUnavailable(s.post(), "The server's disk reports an error")
			}
			outside.Until(s.t, "/readyz has status 503", func() bool { status, _ := s.probe("/readyz"); return status == http.StatusServiceUnavailable })
			if status, _ := s.probe("/healthz"); status != http.StatusOK {
				t.Errorf("/healthz has status %d, want 200, because a restart does not repair the disk", status)
			}
			s.check("while the disk fails")
			if text, err := os.ReadFile(filepath.Join(s.log, "log")); err != nil || !bytes.Contains(text, []byte("disk I/O error")) {
				t.Errorf("the log does not report the error of the disk (%v)", err)
			}
			s.failFromNowOn(nil)
			outside.Until(s.t, "posts are accepted again", func() bool { return s.post() == nil })
			outside.Until(s.t, "/readyz has status 200", func() bool { status, _ := s.probe("/readyz"); return status == http.StatusOK })
			s.check("when the disk works again")
			s.cutAndCheck()
		})
	}
}

// After a failed sync, the next sync succeeds although the data of the first sync is lost. The
// program must not rely on the second sync.
func TestFailedSyncIsReportedDespiteALaterSuccessfulSync(t *testing.T) {
	t.Parallel()
	s := newFaultyDisk(t)
	var mu sync.Mutex
	syncs, failures, rng := 0, 0, rand.New(rand.NewPCG(seed(t), 17))
	s.failFromNowOn(func(o Op) Failure {
		if o.Kind != "sync" || !ofDatabase(o) {
			return Failure{}
		}
		mu.Lock()
		defer mu.Unlock()
		if syncs++; rng.IntN(3) > 0 {
			return Failure{}
		}
		failures++
		return Failure{Errno: syscall.EIO}
	})
	// If the sync of several posts fails, the program commits each post separately. Therefore the
	// number of rejected posts depends on the load of the machine.
	rounds := 0
	outside.Until(s.t, "a post is rejected, and others are acknowledged", func() bool {
		rounds++
		var group sync.WaitGroup
		for range 4 {
			group.Go(func() {
				for range 10 {
					_ = s.post() // post records the result
				}
			})
		}
		group.Wait()
		return len(s.rejected) > 0 && len(s.acks) >= 2
	})
	mu.Lock()
	t.Logf("%d of %d syncs failed, in %d rounds of 40 posts", failures, syncs, rounds)
	mu.Unlock()
	s.check("before the power cut")
	s.cutAndCheck()
}

func TestFullDiskRejectsWritesUntilSpaceIsFree(t *testing.T) {
	t.Parallel()
	s := newFaultyDisk(t)
	s.disk.LimitSpace(200 << 10)
	var full error
	outside.Until(s.t, "the disk is full", func() bool { full = s.post(); return full != nil })
	s.wantUnavailable(full, "The server's disk is full")
	s.check("while the disk is full")
	big := bytes.Repeat([]byte("large. "), 100_000)
	_, err := s.c.Upload(t.Context(), author, "large.txt", "text/plain", int64(len(big)), bytes.NewReader(big))
	s.wantUnavailable(err, "The server's disk is full")
	outside.Until(s.t, "/readyz has status 503", func() bool { status, _ := s.probe("/readyz"); return status == http.StatusServiceUnavailable })
	s.disk.LimitSpace(0)
	outside.Until(s.t, "posts are accepted again", func() bool { return s.post() == nil })
	outside.Until(s.t, "/readyz has status 200", func() bool { status, _ := s.probe("/readyz"); return status == http.StatusOK })
	for range s.c.Files(t.Context(), author, 0) {
		t.Error("a rejected file exists")
	}
	s.check("after space is free again")
	s.cutAndCheck()
}

func TestSlowDiskDelaysResponses(t *testing.T) {
	t.Parallel()
	s := newFaultyDisk(t)
	s.failFromNowOn(func(o Op) Failure {
		if o.Kind == "sync" && ofDatabase(o) {
			return Failure{Delay: 2 * time.Second}
		}
		return Failure{}
	})
	var group sync.WaitGroup
	errs := make([]error, 12)
	for i := range errs {
		group.Go(func() { errs[i] = s.post() })
	}
	group.Wait()
	if i := slices.IndexFunc(errs, func(err error) bool { return err != nil }); i >= 0 {
		s.wantUnavailable(errs[i], "")
	}
	s.check("on a slow disk")
	s.cutAndCheck()
}
