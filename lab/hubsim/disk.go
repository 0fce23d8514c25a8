package hubsim

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/fault"
	"cloudburst/internal/hub"
)

// Disk is a hub.Store in memory whose data survives the crash of any machine. Each method is one
// transaction. A Disk is always available; machines access it through a [link], which can fail.
type Disk struct {
	shared bool // several machines use the disk, so Recover does not release the claims of other machines

	mu      sync.Mutex
	topics  map[int64]*topicRow
	order   []int64                       // IDs of the topics in ascending order
	subs    map[int64][]*hub.Subscription // key: topic ID; subscriptions sorted by ID
	intents map[hub.Key]*hub.Intent
	tasks   map[string]time.Time
	events  []event.Event // sorted by position
	seen    map[[2]int64]bool
	changes []hub.Change
	listed  map[[2]int64]bool
	counted int64
	minutes []hub.Minute
}

type topicRow struct {
	hub.Topic
	due  time.Time // time when the pending ping or AgainAt is due; zero if neither is set
	held bool
	used time.Time
	part []*partRow
	body *hub.Content
}

type partRow struct {
	hub.Shard
	pass  int64 // version that the round at position Pos delivers
	owned bool
	owner int64
	due   time.Time // time when work is due; zero if there is no work
}

func (p *partRow) idle() bool { return p.due.IsZero() && p.Want == p.Done }

// NewDisk returns an empty Disk.
func NewDisk(shared bool) *Disk {
	return &Disk{shared: shared, topics: map[int64]*topicRow{}, subs: map[int64][]*hub.Subscription{}, intents: map[hub.Key]*hub.Intent{},
		tasks: map[string]time.Time{}, seen: map[[2]int64]bool{}, listed: map[[2]int64]bool{}}
}

// milli returns t in UTC, truncated to milliseconds as in the production stores.
func milli(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.UTC().Truncate(time.Millisecond)
}

// reached reports whether a due time is set and has passed.
func reached(due, now time.Time) bool { return !due.IsZero() && !due.After(milli(now)) }

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func (d *Disk) topic(id int64) (*topicRow, error) {
	if t := d.topics[id]; t != nil {
		return t, nil
	}
	return nil, fault.New(fault.NotFound, "There is no topic with the number %d here.", id)
}

// makeTopic returns the row of a topic, and creates the row if it does not exist.
func (d *Disk) makeTopic(id int64, url string, now time.Time) *topicRow {
	t := d.topics[id]
	if t == nil {
		t = &topicRow{Topic: hub.Topic{ID: id, URL: url}, used: milli(now)}
		d.topics[id] = t
		i, _ := slices.BinarySearch(d.order, id)
		d.order = slices.Insert(d.order, i, id)
	}
	return t
}

func (d *Disk) dropTopic(id int64) {
	delete(d.topics, id)
	if i, there := slices.BinarySearch(d.order, id); there {
		d.order = slices.Delete(d.order, i, i+1)
	}
}

// Topic implements hub.Store.Topic.
func (d *Disk) Topic(_ context.Context, id int64) (hub.Topic, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	t, err := d.topic(id)
	if err != nil {
		return hub.Topic{}, err
	}
	return t.Topic, nil
}

// Subscribers implements hub.Store.Subscribers.
func (d *Disk) Subscribers(_ context.Context, topicID int64, now time.Time) (map[string]int64, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	counts := map[string]int64{}
	for _, s := range d.subs[topicID] {
		if s.ExpiresAt.After(milli(now)) {
			counts[s.Protocol]++
		}
	}
	return counts, nil
}

func (d *Disk) followed(id int64, now time.Time) bool {
	return slices.ContainsFunc(d.subs[id], func(s *hub.Subscription) bool { return s.ExpiresAt.After(milli(now)) })
}

// Followed implements hub.Store.Followed.
func (d *Disk) Followed(_ context.Context, topicID int64, now time.Time) (bool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.followed(topicID, now), nil
}

// Following implements hub.Store.Following. Topics in the simulation have no aliases.
func (d *Disk) Following(_ context.Context, urls []string, after int64, now time.Time, limit int) ([]hub.Topic, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var found []hub.Topic
	for i, u := range urls {
		if t := d.topics[hub.TopicID(u)]; t != nil && after == 0 && slices.Index(urls, u) == i && len(found) < limit && d.followed(t.ID, now) {
			found = append(found, t.Topic)
		}
	}
	return found, nil
}

// SetAbout implements hub.Store.SetAbout.
func (d *Disk) SetAbout(_ context.Context, topicID int64, about hub.About) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if t := d.topics[topicID]; t != nil {
		t.About = about
	}
	return nil
}

// Content implements hub.Store.Content.
func (d *Disk) Content(_ context.Context, topicID int64) (hub.Content, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if t := d.topics[topicID]; t != nil && t.body != nil {
		return *t.body, nil
	}
	return hub.Content{}, fault.New(fault.NotFound, "The content of the topic %d is not kept.", topicID)
}

// all calls do for every subscription, sorted by topic and ID.
func (d *Disk) all(do func(*hub.Subscription)) {
	for _, id := range d.order {
		for _, s := range d.subs[id] {
			do(s)
		}
	}
}

func bySubscription(s *hub.Subscription, id int64) int { return cmp.Compare(s.ID, id) }

func (d *Disk) sub(k hub.Key) *hub.Subscription {
	list := d.subs[k.TopicID]
	if i, there := slices.BinarySearchFunc(list, k.ID, bySubscription); there {
		return list[i]
	}
	return nil
}

func (d *Disk) remove(k hub.Key, now time.Time) bool {
	list := d.subs[k.TopicID]
	i, there := slices.BinarySearchFunc(list, k.ID, bySubscription)
	if there {
		d.subs[k.TopicID] = slices.Delete(list, i, i+1)
		d.touch(k.TopicID, now)
	}
	return there
}

// touch records the time at which a topic was last in use.
func (d *Disk) touch(id int64, now time.Time) {
	if t := d.topics[id]; t != nil {
		t.used = later(t.used, milli(now))
	}
}

// latest returns the time of the newest event, or zero if events is empty.
func latest(events []event.Event) time.Time {
	var at time.Time
	for _, e := range events {
		at = later(at, e.At)
	}
	return at
}
