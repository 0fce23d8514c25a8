package hub

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/fault"
	"cloudburst/internal/hub/content"
	"cloudburst/internal/lease"
	"cloudburst/internal/limit"
)

// state is the part of the hub that is only in memory. A crash that loses it loses no work.
type state struct {
	init sync.Once

	work     context.Context // ends when deliveries in progress must end too
	stopWork context.CancelFunc
	runsCtx  context.Context // ends when runs must release their shards
	stopRuns context.CancelFunc
	drained  chan struct{} // closed when nothing is in progress
	running  sync.WaitGroup
	begun    time.Time

	sourceLimit, hostLimit, unknownTopicLimit, consentLimit *limit.Limiter
	refusedCallbacks                                        *limit.Limiter   // challenges without consent, by source and host
	unverifiedReads                                         *limit.Limiter   // reads for registrations without consent, by host
	pendingReads                                            *limit.Semaphore // reads for pending registrations, by host
	requestSources                                          requestSources
	intentTurn                                              *limit.Limiter   // assigns the times of retries, and never rejects
	rates                                                   *limit.Exchange  // shares the rates with other nodes; nil: there are no other nodes
	openIntents                                             *limit.Semaphore // intents in progress, by callback or feed host

	mu              sync.Mutex
	closing         bool
	recovered       bool
	checks          map[int64]*checking
	verifyingTopics map[int64][]*pendingVerification
	hops            map[int64]int
	reads           map[string]*reading
	counts          Counts
	recount         time.Time // time from which counts may be computed again
	pendingIntents  int64     // number of intents at the last count, plus new ones since
	recountIntents  time.Time
	minute          Minute // totals at the last saved minute

	stopping     chan struct{} // closed by AnswerPings
	stoppingOnce sync.Once

	fetching      chan struct{} // one element per feed being read
	dispatch      *dispatcher
	activeRuns    atomic.Int64 // shards being delivered
	windows       windows
	retrying      atomic.Int64 // claimed retries in memory
	liveChecks    atomic.Int64
	discovering   atomic.Int64 // number of pages that are being searched for feeds or wait for the search
	lastChangeSeq atomic.Int64 // number of changes listed by this node
	contents      *content.Cache

	settleMu sync.Mutex
	settling []settled

	wakeShards, wakeRetry, wakeChecks, wakeSettle, wakeFull, wakeTail, wakeIntents chan struct{}

	stats counters
}

// Init prepares the hub for its methods; Run calls it. Fields must not change afterwards.
func (h *Hub) Init() { h.init.Do(h.setUp) }

func (h *Hub) setUp() {
	h.Options.defaults()
	if h.Now == nil {
		h.Now = time.Now
	}
	if h.Random == nil {
		h.Random = rand.Float64
	}
	h.Fetch = guardedFetcher{h.Fetch, h.Log, make(chan struct{}, runtime.GOMAXPROCS(0))}
	h.Notify, h.Verify = guardedNotifier{h.Notify, h.Log}, guardedVerifier{h.Verify, h.Log}
	h.Ask = guardedConfirmer{h.Ask, h.Log}
	if h.Find != nil {
		h.Find = guardedDiscoverer{h.Find, h.Log}
	}
	h.begun = h.now()
	h.work, h.stopWork = context.WithCancel(context.Background())
	h.runsCtx, h.stopRuns = context.WithCancel(h.work)
	h.drained, h.stopping = make(chan struct{}), make(chan struct{})
	h.verifyingTopics = map[int64][]*pendingVerification{}
	h.checks, h.hops, h.reads = map[int64]*checking{}, map[int64]int{}, map[string]*reading{}
	o := h.Options
	h.sourceLimit = limit.New(o.SourceRate, 10*o.SourceRate, 100_000)
	h.hostLimit = limit.New(o.HostRate, 10*o.HostRate, 100_000)
	h.unknownTopicLimit = limit.New(1/unknownTopicEvery.Seconds(), 1, 100_000)
	h.consentLimit = limit.New(consentRate, consentBurst, 100_000)
	h.refusedCallbacks = limit.New(1/refusedEvery.Seconds(), refusedBurst, 100_000)
	h.unverifiedReads = limit.New(min(1/unverifiedEvery.Seconds(), o.HostRate), unverifiedBurst, 100_000)
	h.pendingReads = limit.NewSemaphore(unverifiedBurst)
	h.requestSources.of = map[Key]netip.Addr{}
	h.intentTurn = limit.New(intentTurnRate, 1, 100_000)
	h.openIntents = limit.NewSemaphore(maxIntentsPerHost)
	h.shareRates()
	for _, c := range []*chan struct{}{&h.wakeShards, &h.wakeRetry, &h.wakeChecks, &h.wakeSettle, &h.wakeFull, &h.wakeTail, &h.wakeIntents} {
		*c = make(chan struct{}, 1)
	}
	h.fetching = make(chan struct{}, max(o.MaxInFlight/2, 16))
	h.contents = content.New(o.ContentMemory, h.Store.Content)
	h.dispatch = newDispatcher(o.MaxInFlight, o.CallbackTimeout, h.now, &h.stats, delivering{h}.send)
	h.dispatch.busy = h.Busy
	h.windows.of = map[int64]*window{}
	if h.Hint != nil {
		h.windows.max = o.MaxUnrecorded
	}
}

// setDefault sets an option that is not positive to its default.
func setDefault[T int | int64 | time.Duration](option *T, v T) {
	if *option <= 0 {
		*option = v
	}
}

func (o *Options) defaults() {
	setDefault(&o.Expiry, 25*time.Hour)
	setDefault(&o.PingInterval, time.Second)
	setDefault(&o.CallbackTimeout, 15*time.Second)
	setDefault(&o.AckWithin, 2500*time.Millisecond)
	setDefault(&o.KeepEvents, 720*time.Hour)
	setDefault(&o.KeepChanges, 720*time.Hour)
	setDefault(&o.MinLease, 5*time.Minute)
	setDefault(&o.MaxLease, 240*time.Hour)
	setDefault(&o.MaxContent, 1<<20)
	setDefault(&o.ContentMemory, 128<<20)
	setDefault(&o.MaxEvents, 5_000_000)
	setDefault(&o.MaxRequests, 100_000)
	setDefault(&o.MaxErrors, 3)
	setDefault(&o.MaxInFlight, 512)
	setDefault(&o.MaxUnrecorded, 500)
	// spec:cnws-2003#retry-24h
	o.Ageing = max(o.Ageing, 24*time.Hour)
	if len(o.Retry) == 0 {
		o.Retry = []time.Duration{5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, time.Hour}
	}
	o.Topics, o.SourceRate, o.HostRate = cmp.Or(o.Topics, TopicsOpen), cmp.Or(o.SourceRate, 200), cmp.Or(o.HostRate, 100)
}

func (h *Hub) now() time.Time { return h.Now().UTC() }

// sleep waits for a wake-up or for d. It returns false if ctx ended.
func (h *Hub) sleep(ctx context.Context, wake <-chan struct{}, d time.Duration) bool {
	return lease.Sleep(ctx, wake, d)
}

func (h *Hub) pause(ctx context.Context, d time.Duration) bool { return h.sleep(ctx, nil, d) }

// turn returns the time of the next turn among the work that waits for a host.
func (h *Hub) turn(l *limit.Limiter, host string) time.Time {
	now := h.now()
	return now.Add(max(l.Turn(host, now), time.Second))
}

func (h *Hub) wake(c chan struct{}) { lease.Wake(c) }

// Wake signals that rows may be due because another node has written some.
func (h *Hub) Wake() {
	h.Init()
	h.wake(h.wakeShards)
	h.wake(h.wakeRetry)
	h.wake(h.wakeChecks)
	h.wake(h.wakeIntents)
	h.wake(h.wakeTail)
}

func (h *Hub) hint() {
	if h.Hint != nil {
		h.Hint()
	}
}

// complain logs a store error of a loop and waits for pollEvery, unless the program is stopping.
func (h *Hub) complain(ctx context.Context, what string, err error) {
	if ctx.Err() == nil {
		h.report(ctx, what, err)
		h.pause(ctx, pollEvery)
	}
}

// report logs an error of the store.
func (h *Hub) report(_ context.Context, what string, err error) {
	if fault.CodeOf(err) == fault.Unavailable {
		h.Log.Warn("the store is unavailable", "doing", what, "err", err)
		return
	}
	h.Log.Error("a store error", "doing", what, "err", err)
}

func (h *Hub) caught(doing, topic string, panicked any, stack []byte) {
	h.Log.Error("a panic was caught", "doing", doing, "topic", topic, "panic", fmt.Sprint(panicked), "stack", string(stack))
}

func (h *Hub) setHops(id int64, hops int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if hops == 0 {
		delete(h.hops, id)
		return
	}
	if len(h.hops) > 10_000 {
		clear(h.hops)
	}
	h.hops[id] = hops
}

func (h *Hub) hopsOf(id int64) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.hops[id]
}

func (h *Hub) stamp(events []event.Event) {
	if len(events) == 0 {
		return
	}
	list := make([]*event.Event, len(events))
	for i := range events {
		list[i] = &events[i]
	}
	h.Bus.Stamp(h.now(), list...)
}

// record writes events that belong to no other transaction, and publishes them.
func (h *Hub) record(ctx context.Context, events ...event.Event) error {
	h.stamp(events)
	if err := h.Store.AppendEvents(ctx, events); err != nil {
		return err
	}
	h.publish(events...)
	return nil
}

// shareRates shares the rate limits with the other nodes.
func (h *Hub) shareRates() {
	if h.Allowances == nil {
		return
	}
	h.rates = limit.NewExchange(h.Allowances, h.now, h.Log)
	for kind, l := range map[string]*limit.Limiter{"source": h.sourceLimit, "host": h.hostLimit, "strange": h.unknownTopicLimit, "consent": h.consentLimit,
		"unmet": h.refusedCallbacks, "vain": h.unverifiedReads} {
		h.rates.Add(kind, l)
	}
}
