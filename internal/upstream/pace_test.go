package upstream_test

import (
	"container/heap"
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/fault"
	"cloudburst/internal/fulltest"
	"cloudburst/internal/href"
	"cloudburst/internal/upstream"
)

// memory is an upstream.Store in memory, for many follows.
type memory struct {
	upstream.Store // its methods are not called

	mu   sync.Mutex
	rows map[int64]*upstream.Follow
	due  queue
	n    map[int64]int64 // key: minute, value: number of rows that became due
}

// queue contains an entry for each time at which a row became due. Entries whose time is not the
// row's NextAt any more are skipped.
type queue []entry

type entry struct {
	at time.Time
	id int64
}

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i].at.Before(q[j].at) }
func (q queue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)        { *q = append(*q, x.(entry)) }
func (q *queue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

func (m *memory) put(f upstream.Follow) {
	if was := m.rows[f.ID]; was != nil {
		m.n[minute(was.NextAt)]--
	}
	m.rows[f.ID] = &f
	m.n[minute(f.NextAt)]++
	heap.Push(&m.due, entry{f.NextAt, f.ID})
}

func minute(t time.Time) int64 { return t.Unix() / 60 }

// first returns the row that is due first.
func (m *memory) first() *upstream.Follow {
	for len(m.due) > 0 {
		if f := m.rows[m.due[0].id]; f != nil && f.NextAt.Equal(m.due[0].at) {
			return f
		}
		heap.Pop(&m.due)
	}
	return nil
}

func (m *memory) ChangeFollow(_ context.Context, id int64, change func(*upstream.Follow, bool) (upstream.Verdict, []event.Event)) (upstream.Follow, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f, found := upstream.Follow{ID: id}, false
	if row := m.rows[id]; row != nil {
		f, found = *row, true
	}
	switch v, _ := change(&f, found); v {
	case upstream.Keep:
		m.put(f)
	case upstream.Delete:
		delete(m.rows, id)
	case upstream.Leave:
	}
	return f, nil
}

func (m *memory) ClaimFollows(_ context.Context, now, until time.Time, limit int, claim int64) (list []upstream.Follow, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for f := m.first(); f != nil && !f.NextAt.After(now) && len(list) < limit; f = m.first() {
		taken := *f
		taken.Claim, taken.NextAt = claim, until
		m.put(taken)
		list = append(list, taken)
	}
	return list, nil
}

func (m *memory) PutOffFollows(_ context.Context, list []upstream.PutOff) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, p := range list {
		if f := m.rows[p.ID]; f != nil && f.Claim == p.Claim {
			back := *f
			back.Claim, back.NextAt = 0, p.NextAt
			m.put(back)
		}
	}
	return nil
}

func (m *memory) CountFollows(_ context.Context, from, to time.Time, step time.Duration) (overdue int64, n []int64, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n = make([]int64, (to.Sub(from)+step-1)/step)
	for at, k := range m.n { // count per minute
		switch i := (at - minute(from)) * int64(time.Minute) / int64(step); {
		case at < minute(from) && k == 0:
			delete(m.n, at)
		case at < minute(from):
			overdue += k
		case i < int64(len(n)):
			n[i] += k
		}
	}
	return overdue, n, nil
}

func (m *memory) NextFollow(context.Context) (time.Time, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if f := m.first(); f != nil {
		return f.NextAt, nil
	}
	return time.Time{}, nil
}

func (m *memory) FollowsAlive(_ context.Context, now time.Time) (time.Time, error) {
	return now, nil
}

func (m *memory) HastenFollows(context.Context, upstream.Hasten) (int64, error) { return 0, nil }

func (m *memory) RenewFollows(_ context.Context, r upstream.Renew) (n int64, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, row := range m.rows {
		f := *row
		at := r.Now.Add(time.Duration(f.ID) % max(r.Over, 1))
		if f.State != upstream.Ending && f.Claim == 0 && !f.RequestedAt.IsZero() && f.RequestedAt.Before(r.AskedBefore) && f.NextAt.After(at) {
			f.NextAt = at
			m.put(f)
			n++
		}
	}
	return n, nil
}

// fakeHubs counts the requests per minute, and the requests in progress at each host.
type fakeHubs struct {
	took time.Duration

	mu      sync.Mutex
	minutes map[int64]int
	hosts   map[string]int // key: host, value: number of requests so far
	now     map[string]int
	peak    map[string]int
	answer  func(f upstream.Follow) error
}

func (c *fakeHubs) Ask(_ context.Context, f upstream.Follow) (upstream.Answer, error) {
	host := href.HostPort(f.Hub)
	c.mu.Lock()
	c.minutes[minute(time.Now())]++
	c.hosts[host]++
	c.now[host]++
	c.peak[host] = max(c.peak[host], c.now[host])
	answer, took := c.answer, c.took
	c.mu.Unlock()
	time.Sleep(took)
	c.mu.Lock()
	c.now[host]--
	c.mu.Unlock()
	if answer != nil {
		if err := answer(f); err != nil {
			return upstream.Answer{}, err
		}
	}
	return upstream.Answer{Confirmed: true}, nil
}

func (c *fakeHubs) Discover(context.Context, string) (upstream.Found, error) {
	return upstream.Found{}, fault.New(fault.Unreadable, "Nobody reads here.")
}

func (c *fakeHubs) Endpoint(protocol, hub string) (upstream.Endpoint, error) {
	return upstream.Endpoint{Protocol: protocol, Hub: hub, Wire: "http-post"}, nil
}

func (c *fakeHubs) End(context.Context, upstream.Follow) error { return nil }

func newFakeHubs() *fakeHubs {
	return &fakeHubs{minutes: map[int64]int{}, hosts: map[string]int{}, now: map[string]int{}, peak: map[string]int{}}
}

// asked returns the number of requests to each host since the last call.
func (c *fakeHubs) asked() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	was := c.hosts
	c.hosts = map[string]int{}
	return was
}

// withFakeHubs runs an engine on a store in memory.
func withFakeHubs(t *testing.T, do func(t *testing.T, m *memory, c *fakeHubs, e *upstream.Engine)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		m, c := &memory{rows: map[int64]*upstream.Follow{}, n: map[int64]int64{}}, newFakeHubs()
		e := &upstream.Engine{
			Store: m, Ask: c, Bus: event.NewBus(1), PublicURL: func() string { return "https://me.test" },
			Signal: func(context.Context, upstream.Signal) error { return nil },
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- e.Run(ctx) }()
		do(t, m, c, e)
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// follows makes the engine follow n feeds, distributed over the hosts.
func follows(t *testing.T, e *upstream.Engine, n int, hosts ...string) {
	t.Helper()
	for i := range n {
		host := hosts[i%len(hosts)]
		r := upstream.Request{
			Feed: fmt.Sprintf("http://feeds.test/%s/%d.xml", host, i), For: upstream.Reader,
			Endpoint: &upstream.Endpoint{Protocol: upstream.RSSCloud, Hub: "http://" + host + ":5337/pleaseNotify", Wire: "http-post"},
		}
		if _, err := e.Add(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
}

// Renewals are uneven on the first day. From then on, each minute has about the same number.
func TestManySubscriptionRenewalsAreSpreadOverTheDay(t *testing.T) {
	t.Parallel()
	fulltest.SkipUnderRace(t) // many simulated days; shorter tests use the same goroutines
	n, minutes := fulltest.Size(100_000, 5_000), fulltest.Size(1, 20)
	withFakeHubs(t, func(t *testing.T, m *memory, c *fakeHubs, e *upstream.Engine) {
		c.took = 20 * time.Millisecond
		hosts := make([]string, 200)
		for i := range hosts {
			hosts[i] = fmt.Sprintf("cloud%d.test", i)
		}
		begun := time.Now()
		follows(t, e, n, hosts...)
		time.Sleep(2 * time.Hour)
		if got := len(c.asked()); got != len(hosts) {
			t.Errorf("%d clouds got a request in two hours", got)
		}
		m.mu.Lock()
		for _, f := range m.rows {
			if f.State != upstream.Active {
				t.Errorf("after two hours a follow is %s", f.State)
				break
			}
		}
		m.mu.Unlock()
		expired := 0
		for range 12 {
			time.Sleep(4 * time.Hour)
			m.mu.Lock()
			now := time.Now()
			for _, f := range m.rows {
				if f.State != upstream.Active || !f.ExpiresAt.After(now) {
					expired++
				}
			}
			m.mu.Unlock()
		}
		if expired > 0 {
			t.Errorf("%d expired", expired)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		from := minute(begun) + 26*60
		counts := make([]int, 24*60/minutes)
		for i := range counts {
			for j := range minutes {
				counts[i] += c.minutes[from+int64(i*minutes+j)]
			}
		}
		slices.Sort(counts)
		sum := 0
		for _, k := range counts {
			sum += k
		}
		mean := float64(sum) / float64(len(counts))
		t.Logf("renewals at a time: mean %.1f, from %d to %d", mean, counts[0], counts[len(counts)-1])
		if float64(counts[0]) < mean/2 || float64(counts[len(counts)-1]) > 2*mean {
			t.Errorf("renewals at a time: mean %.1f, from %d to %d", mean, counts[0], counts[len(counts)-1])
		}
		if sum < n*97/100 || sum > n*11/10 {
			t.Errorf("%d renewals in a day, want one for each of %d", sum, n)
		}
		for host, peak := range c.peak {
			if peak > 2 {
				t.Errorf("%s got %d requests at once", host, peak)
			}
		}
	})
}

func TestSlowHubDoesNotDelayOthers(t *testing.T) {
	t.Parallel()
	withFakeHubs(t, func(t *testing.T, m *memory, c *fakeHubs, e *upstream.Engine) {
		c.took = 25 * time.Second
		follows(t, e, 500, "slow.test")
		time.Sleep(time.Minute)
		c.mu.Lock()
		c.took = 10 * time.Millisecond // duration of later requests
		c.mu.Unlock()
		c.asked()
		follows(t, e, 50, "a.test", "b.test")
		time.Sleep(time.Minute)
		if got := c.asked(); got["a.test:5337"] != 25 || got["b.test:5337"] != 25 {
			t.Errorf("requests in a minute: %v", got)
		}
		if c.mu.Lock(); c.peak["slow.test:5337"] > 2 {
			t.Errorf("the slow hub got %d requests at once", c.peak["slow.test:5337"])
		}
		c.mu.Unlock()
		c.mu.Lock()
		c.took = 25 * time.Second
		c.mu.Unlock()
		time.Sleep(3 * time.Hour)
		m.mu.Lock()
		defer m.mu.Unlock()
		for _, f := range m.rows {
			if f.State != upstream.Active {
				t.Fatalf("after three hours a follow at the slow hub is %s", f.State)
			}
		}
	})
}

func TestRetryAfterPausesAllFeedsOfAHost(t *testing.T) {
	t.Parallel()
	withFakeHubs(t, func(t *testing.T, m *memory, c *fakeHubs, e *upstream.Engine) {
		c.took = time.Millisecond
		c.answer = func(f upstream.Follow) error {
			if f.Hub == "http://busy.test:5337/pleaseNotify" {
				return &fault.Error{Code: fault.Unavailable, Msg: "Slowly.", RetryAfter: time.Hour}
			}
			return nil
		}
		follows(t, e, 200, "busy.test", "calm.test")
		time.Sleep(50 * time.Minute)
		// Renewals are spread over the day, so a few happen within the hour.
		if got := c.asked(); got["busy.test:5337"] > 2 || got["calm.test:5337"] < 100 || got["calm.test:5337"] > 110 {
			t.Errorf("before its hour is over: %v", got)
		}
		c.mu.Lock()
		c.answer = nil
		c.mu.Unlock()
		time.Sleep(time.Hour)
		if got := c.asked(); got["busy.test:5337"] < 100 || got["busy.test:5337"] > 110 {
			t.Errorf("afterwards: %v", got)
		}
		m.mu.Lock()
		defer m.mu.Unlock()
		for _, f := range m.rows {
			if f.State != upstream.Active || f.Failures != 0 {
				t.Fatalf("a follow is %s with %d failures", f.State, f.Failures)
			}
		}
	})
}

func TestUnreachableHubIsRetriedLessOften(t *testing.T) {
	t.Parallel()
	withFakeHubs(t, func(t *testing.T, _ *memory, c *fakeHubs, e *upstream.Engine) {
		c.took = time.Millisecond
		c.answer = func(upstream.Follow) error { return fault.New(fault.Unreadable, "Nobody there.") }
		follows(t, e, 1000, "dead.test")
		time.Sleep(24 * time.Hour)
		if n := c.asked()["dead.test:5337"]; n < 5 || n > 60 {
			t.Errorf("%d requests in a day", n)
		}
	})
}

func TestRefusalOfOneFeedDoesNotPauseTheHub(t *testing.T) {
	t.Parallel()
	withFakeHubs(t, func(t *testing.T, m *memory, c *fakeHubs, e *upstream.Engine) {
		c.took = time.Millisecond
		c.answer = func(f upstream.Follow) error {
			if len(f.Feed)%2 == 0 {
				return fault.New(fault.Refused, "Not this one.")
			}
			return nil
		}
		follows(t, e, 100, "choosy.test")
		time.Sleep(time.Minute)
		if n := c.asked()["choosy.test:5337"]; n != 100 {
			t.Errorf("requests for %d feeds", n)
		}
	})
}
