package api

import (
	"cmp"
	"context"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"cloudburst/feed/opml"
	"cloudburst/feed/polling"
	"cloudburst/internal/fault"
	"cloudburst/internal/river"
	"cloudburst/internal/river/forward"
)

// fakeRiver is a river in memory. It implements only what the API uses.
type fakeRiver struct {
	River // nil; provides the methods that no test calls

	mu          sync.Mutex
	list        map[string][]river.Followed
	entries     []river.Entry // items with their sources, for all readers
	marks       map[string]map[int64]river.Mark
	cats        []river.Category
	lists       []river.ReadingList
	forwardings []forward.Forwarding
	filters     fakeFilters
	read        []string // one text for each call of MarkAllRead: reader|source|category|time
	search      bool     // true: searches find items; false: the items are not indexed yet
	abort       error

	listeners map[chan river.Arrival]bool
}

func newFakeRiver() *fakeRiver {
	return &fakeRiver{list: map[string][]river.Followed{}, marks: map[string]map[int64]river.Mark{}, listeners: map[chan river.Arrival]bool{}, search: true}
}

// follow makes a reader follow a source with some items.
func (w *fakeRiver) follow(reader, url string, items int, edit ...func(*river.Followed)) int64 {
	id := river.SourceID(url)
	f := river.Followed{
		Subscription: river.Subscription{Reader: reader, SourceID: id, AddedAt: start()},
		Source: river.Source{ID: id, URL: url, About: river.About{Title: "About " + url}, Readers: 1,
			State: polling.State{URL: url, CheckedAt: start(), ReadAt: start(), Reason: "ttl 60"}, NextAt: start().Add(time.Hour)},
	}
	for _, e := range edit {
		e(&f)
	}
	w.mu.Lock()
	w.list[reader] = append(w.list[reader], f)
	w.mu.Unlock()
	for i := range items {
		w.item(url, strconv.Itoa(i))
	}
	return id
}

// item adds an item to the source with a URL, and returns the arrival of this item.
func (w *fakeRiver) item(url, name string) river.Arrival {
	w.mu.Lock()
	defer w.mu.Unlock()
	id := river.SourceID(url)
	n := int64(len(w.entries) + 1)
	seq := start().UnixMicro() + n
	it := river.Item{ID: river.ItemID(id, name), SourceID: id, GUID: name, Seq: seq, First: seq, At: start().Add(time.Duration(n) * time.Second), ReadAt: start(),
		Content: river.Content{Title: "Item " + name, Link: url + "/" + name, HTML: "<p>Text of " + name + "</p>", Text: "Text of " + name}}
	w.entries = append(w.entries, river.Entry{Item: it, Source: river.EntrySource{ID: id, Title: "About " + url, URL: url}})
	return river.Arrival{SourceID: id, Seq: seq, Items: []river.Arrived{{ID: it.ID, Seq: seq, New: true}}}
}

// arrive sends an arrival to the listeners.
func (w *fakeRiver) arrive(a river.Arrival) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for c := range w.listeners {
		select {
		case c <- a:
		default:
			close(c)
			delete(w.listeners, c)
		}
	}
}

func (w *fakeRiver) listen(buffer int) (<-chan river.Arrival, func()) {
	c := make(chan river.Arrival, buffer)
	w.mu.Lock()
	w.listeners[c] = true
	w.mu.Unlock()
	return c, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.listeners[c] {
			close(c)
			delete(w.listeners, c)
		}
	}
}

func (w *fakeRiver) listening() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.listeners)
}

func (w *fakeRiver) Find(_ context.Context, reader, what string) (river.Followed, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, f := range w.list[reader] {
		if f.Source.URL == what || strconv.FormatInt(f.Source.ID, 10) == what {
			return f, w.abort
		}
	}
	return river.Followed{}, fault.New(fault.NotFound, "%s is not followed.", what)
}

func (w *fakeRiver) CheckAllSoon(_ context.Context, reader string) (due, all int, err error) {
	return len(w.list[reader]) - 1, len(w.list[reader]), w.abort
}

func (w *fakeRiver) Add(_ context.Context, q river.Request) (river.Added, error) {
	switch {
	case strings.Contains(q.URL, "page") && !q.First:
		return river.Added{Choices: []river.Choice{{URL: q.URL + "/1", Title: "One", Kind: "feed"}, {URL: q.URL + "/2", Title: "Two"}}}, nil
	case strings.Contains(q.URL, "secret-host"):
		return river.Added{}, fault.Wrap(fault.Refused, io.ErrClosedPipe, "This address may not be read.")
	case strings.Contains(q.URL, "silent"):
		return river.Added{}, fault.New(fault.Unreadable, "It says nothing.")
	}
	id := w.follow(q.Reader, q.URL, 1, func(f *river.Followed) {
		f.Title, f.Categories, f.Interval = q.Title, q.Categories, q.Interval
		f.Source.Login = q.Login
	})
	f, err := w.Find(context.Background(), q.Reader, strconv.FormatInt(id, 10))
	return river.Added{Followed: f, New: true}, err
}

func (w *fakeRiver) Remove(_ context.Context, reader string, sources ...int64) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.list[reader] = slices.DeleteFunc(w.list[reader], func(f river.Followed) bool { return slices.Contains(sources, f.Source.ID) })
	return w.abort
}

// edit changes a subscription.
func (w *fakeRiver) edit(reader string, source int64, change func(*river.Followed) error) (river.Followed, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range w.list[reader] {
		if f := &w.list[reader][i]; f.Source.ID == source {
			err := change(f)
			return *f, err
		}
	}
	return river.Followed{}, fault.New(fault.NotFound, "It is not followed.")
}

func (w *fakeRiver) Change(_ context.Context, reader string, source int64, change func(*river.Subscription) error) (river.Followed, error) {
	return w.edit(reader, source, func(f *river.Followed) error { return change(&f.Subscription) })
}

func (w *fakeRiver) SetLogin(_ context.Context, reader string, source int64, l river.Login) (river.Followed, error) {
	return w.edit(reader, source, func(f *river.Followed) error { f.Source.Login = l; return nil })
}

func (w *fakeRiver) SetCNWS(_ context.Context, reader string, source int64, hub string) (river.Followed, error) {
	return w.edit(reader, source, func(f *river.Followed) error {
		f.Source.PushEndpoints = []river.PushEndpoint{{Protocol: "cnws", Hub: hub}}
		return nil
	})
}

func (w *fakeRiver) Revive(_ context.Context, reader string, source int64) (river.Followed, error) {
	return w.edit(reader, source, func(f *river.Followed) error { f.Source.State.Gone = nil; return nil })
}

func (w *fakeRiver) Undo(_ context.Context, reader string, source int64) (river.Followed, error) {
	return w.edit(reader, source, func(f *river.Followed) error {
		if len(f.Source.State.Moves) == 0 {
			return fault.New(fault.Conflict, "It was not moved.")
		}
		return nil
	})
}

func (w *fakeRiver) check() river.Check {
	return river.Check{At: start(), Took: 12 * time.Millisecond, URL: "http://a.example/", Status: 200, Outcome: polling.Changed, Text: "One new item.", New: 1, Asked: river.AskedInFull, AskedWhy: "its ETag is weak",
		Next: start().Add(time.Hour), Why: "ttl 60", Sent: "GET / HTTP/1.1", Received: "200 OK", Hops: []polling.Hop{{Status: 302, From: "http://a.example/", To: "http://b.example/"}}}
}

func (w *fakeRiver) Refresh(_ context.Context, id int64) (river.Check, error) {
	if id == river.SourceID("http://busy.example/") {
		return river.Check{}, &fault.Error{Code: fault.TooMany, Msg: "It was read 10 s ago.", RetryAfter: 50 * time.Second}
	}
	return w.check(), w.abort
}

func (w *fakeRiver) Explain(ctx context.Context, id int64) (river.Explanation, error) {
	var f river.Followed
	err := error(fault.New(fault.NotFound, "There is no such source."))
	for reader := range w.list {
		if found, no := w.Find(ctx, reader, strconv.FormatInt(id, 10)); no == nil {
			f, err = found, nil
		}
	}
	return river.Explanation{Source: f.Source, Next: plannedCheck(&f), Sentence: "next check 14:20: ttl 60", Checks: []river.Check{w.check()}, Trust: "All were notified.", Notes: []string{"It moved."},
		Decision: polling.Decision{Considered: []polling.Consideration{{Rule: polling.RuleTTL, Value: "60", Text: "ttl 60", Until: start(), Effect: polling.Decides}}},
		Push:     []river.PushState{{PushEndpoint: river.PushEndpoint{Protocol: "rsscloud", Hub: "http://hub.example/"}, State: "active", Since: start()}}}, err
}

func plannedCheck(f *river.Followed) river.NextCheck {
	return river.NextCheck{State: river.NextPlanned, At: f.Source.NextAt, Why: f.Source.State.Reason}
}

func (w *fakeRiver) Subscriptions(_ context.Context, q river.SubscriptionQuery) ([]river.Followed, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var list []river.Followed
	for _, f := range w.list[q.Reader] {
		if strings.Contains(f.Source.URL, q.Match) && (q.Category == "" || slices.Contains(f.Categories, q.Category)) && (!q.Broken || f.Source.State.Failures > 0) {
			f.Next = plannedCheck(&f)
			list = append(list, f)
		}
	}
	slices.SortFunc(list, func(a, b river.Followed) int { return strings.Compare(a.Source.URL, b.Source.URL) })
	list = list[min(q.Skip, len(list)):]
	if q.Limit > 0 {
		list = list[:min(len(list), q.Limit)]
	}
	return list, w.abort
}

func (w *fakeRiver) Following(_ context.Context, reader string) (map[int64]bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	set := map[int64]bool{}
	for _, f := range w.list[reader] {
		set[f.Source.ID] = true
	}
	return set, w.abort
}

func (w *fakeRiver) Items(ctx context.Context, q river.ItemQuery) ([]river.Entry, error) {
	following, err := w.Following(ctx, q.Reader)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	var list []river.Entry
	for _, e := range w.entries {
		e.Mark = w.marks[q.Reader][e.ID]
		before := q.Before == river.Place{} || e.At.UnixMilli() < q.Before.At
		if following[e.SourceID] && (q.SourceID == 0 || e.SourceID == q.SourceID) && e.Seq > q.ChangedIn && (len(q.IDs) == 0 || slices.Contains(q.IDs, e.ID)) &&
			before && (!q.Starred || e.Starred) && (!q.Unread || !e.Read) && strings.Contains(e.Text, q.Match) && (q.Match == "" || w.search) {
			list = append(list, e)
		}
	}
	slices.SortFunc(list, func(a, b river.Entry) int {
		if q.Oldest {
			return cmp.Compare(a.Seq, b.Seq)
		}
		return cmp.Compare(b.Seq, a.Seq)
	})
	return list[:min(len(list), q.Limit)], nil
}

func (w *fakeRiver) Mark(_ context.Context, reader string, ids []int64, read, starred *bool) (n int, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.marks[reader] == nil {
		w.marks[reader] = map[int64]river.Mark{}
	}
	for _, id := range ids {
		if !slices.ContainsFunc(w.entries, func(e river.Entry) bool { return e.ID == id }) {
			continue
		}
		n++
		m := w.marks[reader][id]
		if read != nil {
			m.Read = *read
		}
		if starred != nil {
			m.Starred, m.StarredAt = *starred, start()
		}
		w.marks[reader][id] = m
	}
	return n, w.abort
}

func (w *fakeRiver) MarkAllRead(_ context.Context, reader string, source int64, category string, to time.Time) error {
	w.read = append(w.read, strings.Join([]string{reader, strconv.FormatInt(source, 10), category, to.Format(time.TimeOnly)}, "|"))
	return w.abort
}

func (w *fakeRiver) CountUnread(context.Context, string) (map[int64]river.Unread, error) {
	return map[int64]river.Unread{1: {Items: 2}, 2: {Items: 3}}, w.abort
}

func (w *fakeRiver) Categories(context.Context, string, bool) ([]river.Category, error) {
	return w.cats, w.abort
}

func (w *fakeRiver) PutCategory(_ context.Context, _, name string, public bool) error {
	w.cats = slices.DeleteFunc(w.cats, func(c river.Category) bool { return c.Name == name })
	w.cats = append(w.cats, river.Category{Name: name, Public: public})
	return w.abort
}

func (w *fakeRiver) RenameCategory(_ context.Context, _, from, to string) error {
	i := slices.IndexFunc(w.cats, func(c river.Category) bool { return c.Name == from })
	switch {
	case i < 0:
		return fault.New(fault.NotFound, "There is no category %s.", from)
	case to == "":
		w.cats = slices.Delete(w.cats, i, i+1)
	default:
		w.cats[i].Name = to
	}
	return nil
}

func (w *fakeRiver) Import(_ context.Context, _ string, doc io.Reader, o river.ImportOptions) (river.Imported, error) {
	if doc == nil {
		return river.Imported{Title: o.URL, Found: 1, Lists: 1}, nil
	}
	b, err := io.ReadAll(doc)
	if err != nil {
		return river.Imported{}, err
	}
	d, err := opml.ParseBytes(b, nil)
	if err != nil {
		return river.Imported{}, fault.New(fault.Invalid, "This is no OPML.")
	}
	o.Progress(1, 2)
	if strings.Contains(d.Head.Title, "too many") {
		return river.Imported{Found: 2, Added: 1, Over: 1, Limit: 1}, fault.New(fault.TooMany, "That is too many.")
	}
	return river.Imported{Title: d.Head.Title, Found: 2, Added: 2, Problems: []string{"A small one."}}, nil
}

func (w *fakeRiver) Export(_ context.Context, reader, category string) (*opml.Document, error) {
	d := &opml.Document{Head: opml.Head{Title: "Of " + reader}}
	for _, f := range w.list[reader] {
		d.Add(opml.Outline{Text: f.Name(), XMLURL: f.Source.URL})
	}
	return d, w.abort
}

func (w *fakeRiver) ReadingLists(context.Context, string) ([]river.ReadingList, error) {
	return w.lists, w.abort
}

func (w *fakeRiver) DropReadingList(_ context.Context, _ string, id int64, remove bool) error {
	if len(w.lists) == 0 || w.lists[0].ID != id {
		return fault.New(fault.NotFound, "There is no such list.")
	}
	w.lists = nil
	return nil
}

func (w *fakeRiver) PutForwarding(_ context.Context, n forward.Forwarding) (forward.Forwarding, error) {
	if n.Via == "pigeon" {
		return n, fault.New(fault.Invalid, "There is no way of that name.")
	}
	if n.State == "" {
		n.State, n.AskedAt = forward.ForwardingWaiting, start()
	}
	if n.ID == 0 {
		n.ID, n.CreatedAt = int64(len(w.forwardings)+1), start()
		w.forwardings = append(w.forwardings, n)
	} else {
		w.forwardings[n.ID-1] = n
	}
	return n, w.abort
}

func (w *fakeRiver) Forwardings(context.Context, string) ([]forward.Forwarding, error) {
	return w.forwardings, w.abort
}

func (w *fakeRiver) DropForwarding(_ context.Context, _ string, id int64) error {
	if int64(len(w.forwardings)) < id {
		return fault.New(fault.NotFound, "There is no such notice.")
	}
	return nil
}

func (w *fakeRiver) TryForwarding(_ context.Context, _ string, id int64) error {
	if id != 1 {
		return fault.New(fault.Unreadable, "Nobody answers there.")
	}
	return nil
}

func (w *fakeRiver) Counts(context.Context) (river.SourceCounts, error) {
	return river.SourceCounts{Sources: 7}, w.abort
}

func (w *fakeRiver) Live() river.Live { return river.Live{Reading: 3} }
