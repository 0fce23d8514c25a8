package web

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/river"
	"cloudburst/internal/river/forward"
	"cloudburst/internal/river/item"
	"cloudburst/internal/river/rail"
	"cloudburst/internal/web/readerui"
)

// fakeRiver is a river in memory. Some fields record calls. The fields that are functions replace the
// results of methods.
type fakeRiver struct {
	mu         sync.Mutex
	now        func() time.Time
	subs       map[string]map[int64]river.Followed // keys: reader, and ID of the source
	items      []river.Item
	marks      map[string]map[int64]river.Mark
	categories map[string]map[string]bool // keys: reader, and name of the category; value: whether the category is public
	lists      []river.ReadingList
	notices    []forward.Forwarding
	filters    fakeFilters
	seq        int64
	listeners  map[*fakeListener]bool
	before     map[int64]time.Time // key: ID of the source; value: ReadTo before the last call of MarkAllRead, which UndoAllRead restores
	removed    []removed           // ended subscriptions, newest last
	queries    []river.ItemQuery
	full       map[int64]river.Full // key: ID of the item; value: full text of the item
	err        error                // if set, most methods return this error

	add        func(river.Request) (river.Added, error)
	refresh    func(id int64) (river.Check, error)
	explain    func(id int64) (river.Explanation, error)
	linkState  string // state of the forwarding that the link with the token "good" names
	linkDigest string
	imported   func(reader, doc string, o river.ImportOptions) (river.Imported, error)
	tryNotice  func(id int64) error
}

func newFakeRiver(now func() time.Time) *fakeRiver {
	return &fakeRiver{now: now, subs: map[string]map[int64]river.Followed{}, marks: map[string]map[int64]river.Mark{}, categories: map[string]map[string]bool{}, listeners: map[*fakeListener]bool{}}
}

// follow makes a reader follow a feed in the given categories, and sets the required fields of the feed.
func (b *fakeRiver) follow(reader string, src river.Source, categories ...string) river.Followed {
	b.mu.Lock()
	defer b.mu.Unlock()
	src.ID = cmp.Or(src.ID, river.SourceID(src.URL))
	src.State.URL = src.URL
	f := river.Followed{Subscription: river.Subscription{Reader: reader, SourceID: src.ID, Categories: categories, AddedAt: b.now()}, Source: src}
	if b.subs[reader] == nil {
		b.subs[reader] = map[int64]river.Followed{}
	}
	if old, ok := b.subs[reader][src.ID]; ok {
		f.Subscription = old.Subscription
		f.Categories = slices.Compact(slices.Sorted(slices.Values(append(f.Categories, categories...))))
	}
	b.subs[reader][src.ID] = f
	for _, c := range categories {
		b.category(reader, c, false)
	}
	return f
}

func (b *fakeRiver) category(reader, name string, public bool) {
	if b.categories[reader] == nil {
		b.categories[reader] = map[string]bool{}
	}
	b.categories[reader][name] = b.categories[reader][name] || public
}

// arrive adds the items of one check, and sends the arrivals to the listeners. An item that exists already
// counts as edited.
func (b *fakeRiver) arrive(items ...river.Item) {
	b.mu.Lock()
	defer b.mu.Unlock()
	bySource := map[int64]*river.Arrival{}
	for _, it := range items {
		b.seq = max(b.seq+1, b.now().UnixMicro())
		it.Seq = b.seq
		it.ID = cmp.Or(it.ID, river.ItemID(it.SourceID, it.GUID))
		if it.At.IsZero() {
			it.At = b.now()
		}
		if it.ReadAt.IsZero() {
			it.ReadAt = b.now()
		}
		at := slices.IndexFunc(b.items, func(o river.Item) bool { return o.ID == it.ID })
		if at >= 0 {
			it.At, it.ReadAt = b.items[at].At, b.items[at].ReadAt
			b.items[at] = it
		} else {
			b.items = append(b.items, it)
		}
		a := bySource[it.SourceID]
		if a == nil {
			a = &river.Arrival{SourceID: it.SourceID}
			bySource[it.SourceID] = a
		}
		a.Seq = it.Seq
		a.Items = append(a.Items, river.Arrived{ID: it.ID, Seq: it.Seq, New: at < 0})
	}
	for _, a := range bySource {
		b.publish(*a)
	}
}

func (b *fakeRiver) publish(a river.Arrival) {
	for l := range b.listeners {
		select {
		case l.c <- a:
		default:
			delete(b.listeners, l)
			close(l.c)
		}
	}
}

func (b *fakeRiver) publishMarks(m item.Marks) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.publish(river.Arrival{Marks: &m})
}

type fakeListener struct {
	b *fakeRiver
	c chan river.Arrival
}

func (l *fakeListener) C() <-chan river.Arrival { return l.c }

func (l *fakeListener) Close() {
	l.b.mu.Lock()
	defer l.b.mu.Unlock()
	if l.b.listeners[l] {
		delete(l.b.listeners, l)
		close(l.c)
	}
}

// Listen implements Web.Arrivals.
func (b *fakeRiver) Listen(buffer int) readerui.Listener {
	b.mu.Lock()
	defer b.mu.Unlock()
	l := &fakeListener{b, make(chan river.Arrival, buffer)}
	b.listeners[l] = true
	return l
}

func (b *fakeRiver) Live() river.Live {
	b.mu.Lock()
	defer b.mu.Unlock()
	return river.Live{Checks: 48211, Unchanged: 44012, New: int64(len(b.items)), Listening: len(b.listeners)}
}

func (b *fakeRiver) entry(reader string, it river.Item) (river.Entry, bool) {
	f, follows := b.subs[reader][it.SourceID]
	m := b.marks[reader][it.ID]
	if !follows && !m.Starred {
		return river.Entry{}, false
	}
	m.Read = m.Read || !it.At.After(f.ReadTo)
	return river.Entry{Item: it, Mark: m, Full: b.full[it.ID], Source: river.EntrySource{ID: it.SourceID, Title: f.Name(), URL: f.Source.URL, Home: f.Source.About.Home,
		Icon: f.Source.About.Icon, Categories: f.Categories, Private: f.Source.Hidden()}}, true
}

func fits(q river.ItemQuery, e river.Entry) bool {
	switch {
	case q.SourceID != 0 && e.SourceID != q.SourceID,
		q.Category != "" && !slices.Contains(e.Source.Categories, q.Category),
		q.Public && e.Source.Private,
		q.Starred && !e.Starred, q.Unread && e.Mark.Read, q.Read && !e.Mark.Read,
		!q.From.IsZero() && e.At.Before(q.From), !q.To.IsZero() && !e.At.Before(q.To),
		e.Seq <= q.ChangedIn,
		len(q.IDs) > 0 && !slices.Contains(q.IDs, e.ID):
		return false
	}
	for word := range strings.FieldsSeq(strings.ToLower(q.Match)) {
		where := e.Title + " " + e.Text + " " + e.HTML
		if rest, ok := strings.CutPrefix(word, "feed:"); ok {
			word, where = rest, e.Source.Title+" "+e.Source.URL
		}
		if !strings.Contains(strings.ToLower(where), word) {
			return false
		}
	}
	return true
}

// older reports whether the item at place a is older than the item at place b. Of two items with the same
// time, the item with the smaller ID is older.
func older(a, b river.Place) bool { return a.At < b.At || a.At == b.At && a.ID < b.ID }

func (b *fakeRiver) Items(_ context.Context, q river.ItemQuery) (out []river.Entry, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.queries = append(b.queries, q)
	if strings.Contains(q.Match, `"unclosed`) {
		return nil, fault.New(fault.Invalid, "The phrase is not closed: put a quotation mark at its end.")
	}
	for _, it := range b.items {
		e, ok := b.entry(q.Reader, it)
		if !ok || !fits(q, e) {
			continue
		}
		if p := it.Place(); q.Before != (river.Place{}) && !q.BySeq && (q.Oldest && !older(q.Before, p) || !q.Oldest && !older(p, q.Before)) {
			continue
		}
		out = append(out, e)
	}
	slices.SortFunc(out, func(x, y river.Entry) int {
		c := cmp.Or(cmp.Compare(y.At.UnixMilli(), x.At.UnixMilli()), cmp.Compare(y.ID, x.ID))
		if q.BySeq {
			c = cmp.Compare(y.Seq, x.Seq)
		}
		if q.Oldest {
			c = -c
		}
		return c
	})
	return out[:min(len(out), cmp.Or(q.Limit, 50))], b.err
}

func (b *fakeRiver) Mark(_ context.Context, reader string, ids []int64, read, starred *bool) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.marks[reader] == nil {
		b.marks[reader] = map[int64]river.Mark{}
	}
	for _, id := range ids {
		m := b.marks[reader][id]
		if read != nil {
			m.Read = *read
		}
		if starred != nil {
			m.Starred, m.StarredAt = *starred, b.now()
		}
		b.marks[reader][id] = m
	}
	return len(ids), b.err
}

func (b *fakeRiver) MarkAllRead(_ context.Context, reader string, source int64, category string, to time.Time) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for id, f := range b.subs[reader] {
		if (source == 0 || id == source) && (category == "" || slices.Contains(f.Categories, category)) {
			if b.before == nil {
				b.before = map[int64]time.Time{}
			}
			b.before[id] = f.ReadTo
			f.ReadTo = to
			b.subs[reader][id] = f
		}
	}
	return b.err
}

func (b *fakeRiver) UndoAllRead(_ context.Context, reader string, to time.Time) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	undone := false
	for id, before := range b.before {
		if f := b.subs[reader][id]; f.ReadTo.Equal(to) {
			f.ReadTo, undone = before, true
			b.subs[reader][id] = f
		}
	}
	if !undone {
		return fault.New(fault.Conflict, "There is nothing to undo.")
	}
	b.before = nil
	return b.err
}

func (b *fakeRiver) Rail(ctx context.Context, q rail.Query) (list rail.List, err error) {
	unread, err := b.CountUnread(ctx, q.User)
	if err != nil {
		return list, err
	}
	following, err := b.Subscriptions(ctx, river.SubscriptionQuery{Reader: q.User, Limit: 1000})
	for _, f := range following {
		list.Feeds = append(list.Feeds, rail.Feed{ID: f.Source.ID, Title: f.Name(), Categories: f.Categories, Unread: unread[f.Source.ID].Items})
	}
	if q.Most > 0 && len(list.Feeds) > q.Most {
		var sums []rail.Sum
		if q.Total || q.ByCategory {
			sums = list.Sums()
		}
		list.Many, list.Unread = true, sums
		list.Feeds = slices.DeleteFunc(list.Feeds, func(f rail.Feed) bool {
			return f.ID != q.Source && (q.Category == "" || !slices.Contains(f.Categories, q.Category))
		})
	}
	return list, err
}

func (b *fakeRiver) CountUnread(_ context.Context, reader string) (map[int64]river.Unread, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := map[int64]river.Unread{}
	for _, it := range b.items {
		if e, ok := b.entry(reader, it); ok && !e.Mark.Read {
			u := all[it.SourceID]
			u.Items++
			all[it.SourceID] = u
		}
	}
	return all, b.err
}
