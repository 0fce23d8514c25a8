package river_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"cloudburst/internal/fetch"
	"cloudburst/internal/fulltest"
	"cloudburst/internal/nettest"
	"cloudburst/internal/river"
)

const (
	shownSoon   = 20 * time.Second           // maximum time until an announced change is shown, if the content decides
	shownAtLast = time.Hour + shownSoon      // maximum time if an ETag hides the change and was reliable before
	shownLate   = 45*time.Minute + shownSoon // maximum time if each third check of the origin fails
)

// originFlaw adds a wrong rule between the river, its store and its network, to prove that the
// test detects it.
type originFlaw struct {
	name string
	save func(s *river.Saved)
	ask  func(r *fetch.Request)
	got  func(r *fetch.Response)
}

// originFlaws returns wrong rules. With each rule, the test must fail for at least one kind of
// origin.
func originFlaws() []originFlaw {
	return []originFlaw{
		{name: "each ETag is trusted", save: func(s *river.Saved) {
			s.Source.State.Evidence.Proof, s.Source.State.Evidence.Recent = "proven", false
		}},
		{name: "the ETag of a recent change is trusted", save: func(s *river.Saved) { s.Source.State.Evidence.Recent = false }},
		{name: "a recent change is not read again", save: func(s *river.Saved) {
			if st := &s.Source.State; st.FollowUpAt.Sub(s.Now) < time.Minute {
				st.FollowUpAt = time.Time{}
				s.Source.NextAt = st.NextAt
			}
		}},
		{name: "a 304 is never verified", save: func(s *river.Saved) {
			if st := &s.Source.State; st.FollowUpAt.Sub(s.Now) > 3*time.Second {
				st.FollowUpAt = time.Time{}
				s.Source.NextAt = st.NextAt
			}
		}},
		{name: "caches are not asked to revalidate", ask: func(r *fetch.Request) { r.Revalidate = false }},
		{name: "a 304 that names another ETag counts", got: func(r *fetch.Response) {
			if r.NotModified {
				r.Header.Del("ETag")
			}
		}},
	}
}

// flawedDisk is a store that applies a wrong rule. It also records when each value is first
// shown.
type flawedDisk struct {
	river.Store
	flaw  originFlaw
	shown func(value int)
}

func (d flawedDisk) SaveCheck(ctx context.Context, s river.Saved) (bool, error) {
	if d.flaw.save != nil {
		d.flaw.save(&s)
	}
	ok, err := d.Store.SaveCheck(ctx, s)
	for i := range s.Put {
		if value, bad := strconv.Atoi(s.Put[i].Title); ok && err == nil && bad == nil {
			d.shown(value)
		}
	}
	return ok, err
}

type flawedFetcher struct {
	river.Fetcher
	flaw originFlaw
}

func (f flawedFetcher) Get(ctx context.Context, r fetch.Request) (*fetch.Response, error) {
	if f.flaw.ask != nil {
		f.flaw.ask(&r)
	}
	got, err := f.Fetcher.Get(ctx, r)
	if err == nil && f.flaw.got != nil {
		f.flaw.got(got)
	}
	return got, err
}

// originRun contains a feed on one kind of origin, and a river that follows the feed.
type originRun struct {
	*harness
	random *rand.Rand
	origin nettest.Origin

	mu      sync.Mutex
	value   int
	changes []originValue
	pushes  []originValue // accepted pushes; each has the value that was readable at that time
	shown   []originValue
}

type originValue struct {
	value int
	at    time.Time
}

// set gives the origin its next value. All values have the same size, because version numbers
// often have the same size too.
func (o *originRun) set() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.value++
	o.changes = append(o.changes, originValue{o.value, time.Now()})
	o.origin.Set([]byte(rss("", fmt.Sprintf("%08d", o.value))))
}

// push pushes the feed repeatedly until the river accepts a push.
func (o *originRun) push() {
	o.mu.Lock()
	value := o.value
	o.mu.Unlock()
	for range 20 {
		o.mu.Lock()
		r := o.river
		o.mu.Unlock()
		if known, err := r.ReceivePush(context.Background(), feedURL, "notify-rsscloud"); known && err == nil {
			o.mu.Lock()
			o.pushes = append(o.pushes, originValue{value, time.Now()})
			o.mu.Unlock()
			return
		}
		<-time.After(time.Second)
	}
	o.t.Error("no push was accepted in 20 seconds")
}

// replace stops the program and starts it again, which replaces its process.
func (o *originRun) replace() {
	o.stop()
	o.mu.Lock()
	defer o.mu.Unlock()
	o.start()
}

// play changes and pushes the feed at short and long intervals. Then it waits until all changes
// must be shown.
func (o *originRun) play() {
	o.set()
	o.follow(feedURL)
	o.advance(time.Duration(o.random.IntN(4000)) * time.Millisecond)
	var group sync.WaitGroup
	for n := range 8 + o.random.IntN(10) {
		if o.random.IntN(8) > 0 {
			o.set()
		}
		late := time.Duration(o.random.IntN(400)) * time.Millisecond
		if o.random.IntN(8) > 0 || n == 0 {
			group.Go(func() { <-time.After(late); o.push() })
		}
		if o.random.IntN(10) == 0 {
			<-time.After(time.Duration(o.random.IntN(3000)) * time.Millisecond)
			o.replace()
		}
		waits := []time.Duration{900 * time.Millisecond, 900 * time.Millisecond, 900 * time.Millisecond, 5 * time.Second, time.Minute, 3 * time.Hour}
		<-time.After(time.Duration(o.random.Int64N(int64(waits[o.random.IntN(len(waits))]))))
	}
	group.Wait()
	<-time.After(o.within())
}

// within returns the maximum time until the river shows an announced change.
func (o *originRun) within() time.Duration {
	switch o.origin.Kind {
	case nettest.OriginTorn, nettest.OriginAlways304, nettest.OriginLater: // these origins send a correct ETag at first
		return shownAtLast
	case nettest.OriginUnasked:
		return shownLate
	}
	return shownSoon
}

// missed returns an error for each change that the river does not show in time, either as its
// value or as a newer value. It considers changes that were announced, and changes in the same
// second as an announced change.
func (o *originRun) missed() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	var all []error
	need := func(value int, from time.Time, why string) {
		by := from.Add(o.within())
		if !slices.ContainsFunc(o.shown, func(s originValue) bool { return s.value >= value && !s.at.After(by) }) {
			all = append(all, fmt.Errorf("value %d is not shown by %s: %s", value, by.Format("15:04:05.000"), why))
		}
	}
	for _, p := range o.pushes {
		need(p.value, p.at, "it was announced")
		if kind := o.origin.Kind; kind != nettest.OriginSeconds && kind != nettest.OriginFile {
			continue
		}
		announced := o.changes[p.value-1].at
		for _, c := range o.changes[p.value:] {
			if !c.at.Truncate(time.Second).Equal(announced.Truncate(time.Second)) {
				continue
			}
			from := c.at
			if p.at.After(from) {
				from = p.at
			}
			need(c.value, from, "it came in the second of a change that was announced")
		}
	}
	return errors.Join(all...)
}

// playOrigin runs one simulation with a seed and a kind of origin, and returns the missed
// changes.
func playOrigin(t *testing.T, seed uint64, kind string, cached bool, flaw originFlaw) (missed error) {
	t.Helper()
	o := &originRun{random: rand.New(rand.NewPCG(seed, uint64(len(kind))))}
	disk := flawedDisk{Store: newMemory(), flaw: flaw, shown: func(value int) {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.shown = append(o.shown, originValue{value, time.Now()})
	}}
	withHarnessOn(t, river.Options{}, func(*testing.T) river.Store { return disk }, func(_ *testing.T, w *harness) {
		w.stop()
		w.setup = func(r *river.River) { r.Fetch = flawedFetcher{r.Fetch, flaw} }
		w.net.Latency = time.Duration(o.random.IntN(20)) * time.Millisecond
		o.origin.Kind, o.origin.Delay = kind, time.Duration(o.random.IntN(300))*time.Millisecond
		var handler http.Handler = &o.origin
		if cached {
			handler = &nettest.Cache{Origin: &o.origin, Fresh: 10 * time.Minute}
		}
		w.serve(feedURL, handler.ServeHTTP)
		<-time.After(time.Duration(o.random.Int64N(int64(2 * time.Second))))
		w.start()
		o.harness = w
		o.play()
		missed = o.missed()
	})
	return missed
}

// After the origin serves and announces a change, the river shows this change or a newer one in
// time, even if the origin's validators are wrong.
func TestAnnouncedChangeIsShownWhateverTheValidatorsClaim(t *testing.T) {
	t.Parallel()
	seeds := fulltest.Size(25, 3)
	for _, kind := range nettest.OriginKinds() {
		for _, cached := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s cached %v", kind, cached), func(t *testing.T) {
				t.Parallel()
				for seed := range uint64(seeds) {
					if err := playOrigin(t, seed+1, kind, cached, originFlaw{}); err != nil {
						t.Fatalf("seed %d: %v", seed+1, err)
					}
				}
			})
		}
	}
}

func TestSimulationDetectsEachWrongRuleAboutValidators(t *testing.T) {
	t.Parallel()
	fulltest.Long(t)
	for _, flaw := range originFlaws() {
		t.Run(flaw.name, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(40) {
				for _, kind := range nettest.OriginKinds() {
					for _, cached := range []bool{false, true} {
						if err := playOrigin(t, seed+1, kind, cached, flaw); err != nil {
							t.Logf("found by seed %d, origin with %s, cached %v", seed+1, kind, cached)
							return
						}
					}
				}
			}
			t.Error("not found by 40 seeds")
		})
	}
}
