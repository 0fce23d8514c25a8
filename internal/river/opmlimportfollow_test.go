package river

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/fulltest"
)

// linesOf returns a list of n feeds whose numbers start with first.
func linesOf(first, n int) string {
	var b strings.Builder
	b.WriteString(`<opml version="2.0"><head><title>Many</title></head><body>`)
	for i := range n {
		fmt.Fprintf(&b, `<outline text="Feed %d" xmlUrl="http://f%d.example/rss"/>`, first+i, first+i)
	}
	return b.String() + `</body></opml>`
}

func TestImportStopsAtTheFeedLimit(t *testing.T) {
	t.Parallel()
	store := &userStore{}
	r := &River{Store: store, Options: Options{Max: 500}}
	got, err := r.Import(t.Context(), "ann", strings.NewReader(linesOf(0, 300)), ImportOptions{})
	if err != nil || got.Added != 300 || got.Over != 0 || got.Limit != 500 {
		t.Fatalf("%+v %v", got, err)
	}
	// ann already follows 100 of the 700 feeds. The limit allows 200 more, so 400 are left out.
	got, err = r.Import(t.Context(), "ann", strings.NewReader(linesOf(200, 700)), ImportOptions{})
	if err != nil || got.Found != 700 || got.Had != 100 || got.Added != 200 || got.Over != 400 || got.Skipped != 0 || len(store.added) != 500 {
		t.Fatalf("%+v %v", got, err)
	}
	if len(got.Problems) != 1 || got.Problems[0] != "400 feeds were not added: river.max-feeds allows each user 500 feeds." {
		t.Error(got.Problems)
	}
	got, err = r.Import(t.Context(), "ann", strings.NewReader(linesOf(0, 900)), ImportOptions{Operator: true})
	if err != nil || got.Added != 400 || got.Had != 500 || got.Over != 0 || got.Limit != MaxOfOperator {
		t.Errorf("by the operator: %+v %v", got, err)
	}
	// A user who follows more feeds than the limit keeps them all, but cannot add more.
	got, err = r.Import(t.Context(), "ann", strings.NewReader(linesOf(0, 1000)), ImportOptions{})
	if err != nil || got.Added != 0 || got.Had != 900 || got.Over != 100 {
		t.Errorf("beyond the limit: %+v %v", got, err)
	}
}

// A count takes longer as the number of feeds grows, so the import of a long list must count
// rarely.
func TestImportCountsFeedsRarelyIfFarFromTheLimit(t *testing.T) {
	t.Parallel()
	fulltest.SkipUnderRace(t)
	for limit, want := range map[int]int{100_000: 3, 3_000: 12, 2_000: 11} {
		store := &userStore{}
		r := &River{Store: store, Options: Options{Max: limit}}
		got, err := r.Import(t.Context(), "ann", strings.NewReader(linesOf(0, 3_000)), ImportOptions{})
		if err != nil || got.Added != min(limit, 3_000) || len(store.added) != got.Added || store.counts != want {
			t.Errorf("with a limit of %d: %+v, %d counts; want %d: %v", limit, got, store.counts, want, err)
		}
	}
}

func TestDuplicateFeedsOfAnImportedListCountOnce(t *testing.T) {
	t.Parallel()
	doc := strings.Replace(linesOf(0, 300), "</body>", strings.TrimSuffix(strings.SplitN(linesOf(0, 300), "<body>", 2)[1], "</opml>"), 1) + "</opml>"
	for limit, want := range map[int]Imported{1000: {Added: 300}, 250: {Added: 250, Over: 50}} {
		r := &River{Store: &userStore{}, Options: Options{Max: limit}}
		got, err := r.Import(t.Context(), "ann", strings.NewReader(doc), ImportOptions{})
		if err != nil || got.Found != 600 || got.Added != want.Added || got.Over != want.Over || got.Had != 0 {
			t.Errorf("%+v %v", got, err)
		}
	}
}

// failing is a userStore whose writes fail from the third one on.
type failing struct {
	userStore
	calls int
}

func (f *failing) RiverSubscribe(ctx context.Context, list []Addition, now time.Time, limit int) ([]bool, error) {
	if f.calls++; f.calls > 2 {
		return nil, fault.New(fault.Unavailable, "The disk is full.")
	}
	return f.userStore.RiverSubscribe(ctx, list, now, limit)
}

func TestFailedImportReportsItsProgress(t *testing.T) {
	t.Parallel()
	store := &failing{}
	r := &River{Store: store}
	doc := strings.Replace(linesOf(0, 1000), "</body>", `<outline type="include" url="http://l.example/x.opml"/></body>`, 1)
	got, err := r.Import(t.Context(), "ann", strings.NewReader(doc), ImportOptions{})
	if fault.CodeOf(err) != fault.Unavailable || got.Added != 2*gatherBatch || len(store.added) != 2*gatherBatch || len(store.lists) != 0 {
		t.Fatalf("%+v %v", got, err)
	}
	if want := "The import stopped after 200 feeds, which stay. It is safe to import the list again. The disk is full."; fault.Message(err) != want {
		t.Error(fault.Message(err))
	}
	ctx, cancel := context.WithCancel(t.Context())
	r = &River{Store: &userStore{}}
	got, err = r.Import(ctx, "ann", strings.NewReader(linesOf(0, 1000)), ImportOptions{Progress: func(done, _ int) {
		if done > 0 {
			cancel()
		}
	}})
	if fault.CodeOf(err) != fault.Unavailable || got.Added != gatherBatch {
		t.Errorf("interrupted: %+v %v", got, err)
	}
}

func TestUserHasOneImportAtATime(t *testing.T) {
	t.Parallel()
	r := &River{Store: &userStore{}}
	in, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		_, err := r.Import(t.Context(), "ann", in, ImportOptions{})
		ended <- err
	}()
	doc := linesOf(0, 3)
	if _, err := io.WriteString(out, doc[:20]); err != nil { // wait until the first import reads the document
		t.Fatal(err)
	}
	_, err := r.Import(t.Context(), "ann", strings.NewReader(doc), ImportOptions{})
	if fault.CodeOf(err) != fault.Conflict || err == nil || fault.RetryAfter(err) == 0 || !strings.Contains(fault.Message(err), "still being imported") {
		t.Errorf("a second import: %v", err)
	}
	if got, err := r.Import(t.Context(), "bob", strings.NewReader(doc), ImportOptions{}); err != nil || got.Added != 3 {
		t.Errorf("by another user: %+v %v", got, err)
	}
	if _, err := io.WriteString(out, doc[20:]); err != nil {
		t.Fatal(err)
	}
	out.Close()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if _, err := r.Import(t.Context(), "ann", strings.NewReader(doc), ImportOptions{}); err != nil {
		t.Errorf("after the first: %v", err)
	}
}

func TestServerLimitsConcurrentImports(t *testing.T) {
	t.Parallel()
	r := &River{Store: &userStore{}}
	var ends []func()
	for i := range maxPendingImports {
		end, err := importer{r}.beginImport(fmt.Sprint(i))
		if err != nil {
			t.Fatal(err)
		}
		ends = append(ends, end)
	}
	_, err := r.Import(t.Context(), "ann", strings.NewReader(linesOf(0, 3)), ImportOptions{})
	if fault.CodeOf(err) != fault.Unavailable || fault.RetryAfter(err) == 0 {
		t.Error(err)
	}
	ends[0]()
	if _, err := r.Import(t.Context(), "ann", strings.NewReader(linesOf(0, 3)), ImportOptions{}); err != nil {
		t.Error(err)
	}
	// An import that waits too long for a slot returns an error. In this test, the caller cancels
	// the import instead.
	r.Init()
	for range maxActiveImports {
		r.listState.importSlots <- struct{}{}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Import(ctx, "ann", strings.NewReader(linesOf(0, 3)), ImportOptions{}); fault.CodeOf(err) != fault.Unavailable || fault.RetryAfter(err) == 0 {
		t.Error(err)
	}
}

// discardingStore is a store that discards all additions.
type discardingStore struct {
	userStore
	before, peak int64
	calls        int
}

func (f *discardingStore) RiverSubscribe(_ context.Context, list []Addition, _ time.Time, _ int) ([]bool, error) {
	if f.calls++; f.calls%100 == 0 {
		f.peak = max(f.peak, heapNow()-f.before)
	}
	fresh := make([]bool, len(list))
	for i := range fresh {
		fresh[i] = true
	}
	return fresh, nil
}

func heapNow() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// The test measures the heap, so it does not run in parallel.
func TestImportOf200000FeedsNeedsLittleMemory(t *testing.T) {
	fulltest.SkipUnderRace(t)
	const lines = 200_000
	in, out := io.Pipe()
	go func() {
		defer out.Close()
		for at := 0; at < lines; at += 1000 {
			part := linesOf(at, 1000)
			if at > 0 {
				part = strings.SplitN(part, "<body>", 2)[1]
			}
			if at < lines-1000 {
				part = strings.TrimSuffix(part, "</body></opml>")
			}
			if _, err := io.WriteString(out, part); err != nil {
				return
			}
		}
	}()
	store := &discardingStore{}
	r := &River{Store: store}
	store.before = heapNow()
	got, err := r.Import(t.Context(), "ann", in, ImportOptions{Operator: true})
	if err != nil || got.Found != lines || got.Added != lines {
		t.Fatalf("%d found, %d added: %v", got.Found, got.Added, err)
	}
	// The import keeps the IDs of the sources in memory to detect duplicates.
	if store.calls != lines/gatherBatch || store.peak > 8<<20 {
		t.Errorf("%d batches; the heap grew by %d KiB", store.calls, store.peak>>10)
	}
	t.Logf("the heap grew by %d KiB", store.peak>>10)
}
