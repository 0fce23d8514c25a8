package readhttp_test

import (
	"cmp"
	"context"
	"fmt"
	"html"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"cloudburst/feed/opml"
	"cloudburst/internal/fault"
	"cloudburst/internal/river"
)

// feedDef is a feed as its server publishes it.
type feedDef struct {
	url, title, home string
	items            []itemDef
}

// tags matches the markup in the items of tests.
var tags = regexp.MustCompile(`<[^>]*>`)

type itemDef struct {
	guid, title, html, link, author string
	date                            time.Time
	enclosure                       river.Enclosure
}

// fakeRiver is a river in memory.
type fakeRiver struct {
	t     *testing.T
	now   func() time.Time
	feeds map[string]*feedDef // key: URL

	mu      sync.Mutex
	seq     int64
	sources map[int64]*river.Source
	items   map[int64]*river.Item
	subs    map[string][]river.Subscription // key: reader
	marks   map[string]map[int64]river.Mark // keys: reader and item
	made    map[string][]string             // key: reader, value: created categories
	asked   int                             // number of item queries
	full    map[string]string               // full texts of all users; key: title of the item
}

func newFakeRiver(t *testing.T, now func() time.Time, feeds map[string]*feedDef) *fakeRiver {
	return &fakeRiver{
		t: t, now: now, feeds: feeds, sources: map[int64]*river.Source{}, items: map[int64]*river.Item{}, subs: map[string][]river.Subscription{},
		marks: map[string]map[int64]river.Mark{}, made: map[string][]string{},
	}
}

// read reads the current feed from its server.
func (f *fakeRiver) read(url string) {
	def, s := f.feeds[url], f.sources[river.SourceID(url)]
	first := s.NewestAt.IsZero()
	now := f.now().UTC().Truncate(time.Millisecond)
	for _, d := range def.items {
		id := river.ItemID(s.ID, d.guid)
		if f.items[id] != nil {
			continue
		}
		f.seq = max(f.seq+1, now.UnixMicro())
		at := now
		if first && !d.date.IsZero() && d.date.Before(now) {
			at = d.date
		}
		it := &river.Item{ID: id, SourceID: s.ID, GUID: d.guid, Seq: f.seq, First: f.seq, At: at, ReadAt: now, Content: river.Content{
			Title: d.title, HTML: d.html, Text: html.UnescapeString(tags.ReplaceAllString(d.html, "")), Link: d.link, Published: d.date,
		}}
		if d.author != "" {
			it.Authors = []string{d.author}
		}
		if d.enclosure.URL != "" {
			it.Enclosures = []river.Enclosure{d.enclosure}
		}
		f.items[id] = it
		s.Items++
		if at.After(s.NewestAt) {
			s.NewestAt = at
		}
	}
}

func (f *fakeRiver) arrived(url string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.read(url)
}

func (f *fakeRiver) sub(reader string, source int64) *river.Subscription {
	for i := range f.subs[reader] {
		if f.subs[reader][i].SourceID == source {
			return &f.subs[reader][i]
		}
	}
	return nil
}

func (f *fakeRiver) followed(s river.Subscription) river.Followed {
	return river.Followed{Subscription: s, Source: *f.sources[s.SourceID]}
}

func (f *fakeRiver) Add(_ context.Context, q river.Request) (river.Added, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	def := f.feeds[q.URL]
	if def == nil {
		return river.Added{}, fault.New(fault.Unreadable, "There is no feed at %s.", q.URL)
	}
	id := river.SourceID(q.URL)
	if f.sources[id] == nil {
		f.sources[id] = &river.Source{ID: id, URL: q.URL, About: river.About{Title: def.title, Home: def.home}}
		f.read(q.URL)
	}
	s := f.sub(q.Reader, id)
	added := s == nil
	if added {
		f.subs[q.Reader] = append(f.subs[q.Reader], river.Subscription{Reader: q.Reader, SourceID: id, Title: q.Title, AddedAt: f.now()})
		s = f.sub(q.Reader, id)
	}
	for _, c := range q.Categories {
		if !slices.Contains(s.Categories, c) {
			s.Categories = append(s.Categories, c)
		}
	}
	return river.Added{Followed: f.followed(*s), New: added}, nil
}

func (f *fakeRiver) Remove(_ context.Context, reader string, sources ...int64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, id := range sources {
		if f.sub(reader, id) == nil {
			return fault.New(fault.NotFound, "You do not follow it.")
		}
	}
	f.subs[reader] = slices.DeleteFunc(f.subs[reader], func(s river.Subscription) bool { return slices.Contains(sources, s.SourceID) })
	return nil
}

func (f *fakeRiver) Change(_ context.Context, reader string, source int64, change func(*river.Subscription) error) (river.Followed, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.sub(reader, source)
	if s == nil {
		return river.Followed{}, fault.New(fault.NotFound, "You do not follow it.")
	}
	err := change(s)
	return f.followed(*s), err
}

func (f *fakeRiver) Subscriptions(_ context.Context, q river.SubscriptionQuery) ([]river.Followed, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []river.Followed
	for _, s := range f.subs[q.Reader] {
		out = append(out, f.followed(s))
	}
	slices.SortFunc(out, func(a, b river.Followed) int { return cmp.Compare(a.Name(), b.Name()) })
	return out, nil
}

func (f *fakeRiver) Find(_ context.Context, reader, what string) (river.Followed, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if s := f.sub(reader, river.SourceID(what)); s != nil {
		return f.followed(*s), nil
	}
	return river.Followed{}, fault.New(fault.NotFound, "You do not follow %s.", what)
}

func (f *fakeRiver) Following(_ context.Context, reader string) (map[int64]bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	set := map[int64]bool{}
	for _, s := range f.subs[reader] {
		set[s.SourceID] = true
	}
	return set, nil
}

// entry returns an item as a reader sees it. If the reader does not follow its feed, ok is false.
func (f *fakeRiver) entry(reader string, it *river.Item) (e river.Entry, ok bool) {
	s := f.sub(reader, it.SourceID)
	m := f.marks[reader][it.ID]
	src := f.sources[it.SourceID]
	e = river.Entry{Item: *it, Mark: m, Source: river.EntrySource{ID: src.ID, Title: src.Name(), URL: src.URL, Home: src.About.Home}}
	e.Full.HTML = f.full[it.Title]
	if s != nil {
		e.Read = m.Read || !it.At.After(s.ReadTo)
		e.Source.Categories = s.Categories
		if s.Title != "" {
			e.Source.Title = s.Title
		}
	}
	return e, s != nil || m.Starred
}

func (f *fakeRiver) matches(q *river.ItemQuery, e *river.Entry) bool {
	followed := f.sub(q.Reader, e.SourceID) != nil
	switch {
	case !followed && !q.Starred, q.Starred && !e.Starred, q.Unread && e.Read, q.Read && !e.Read,
		q.SourceID != 0 && e.SourceID != q.SourceID,
		q.Category != "" && !slices.Contains(e.Source.Categories, q.Category),
		q.Sources != nil && !slices.Contains(q.Sources, e.SourceID),
		q.Firsts != nil && !slices.Contains(q.Firsts, e.First),
		q.FirstAfter != 0 && e.First <= q.FirstAfter, q.FirstBefore != 0 && e.First >= q.FirstBefore:
		return false
	}
	if q.ByFirst || q.Before == (river.Place{}) {
		return true
	}
	d := comparePlaces(e.Place(), q.Before)
	return d < 0 && !q.Oldest || d > 0 && q.Oldest
}

func comparePlaces(a, b river.Place) int {
	return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.ID, b.ID))
}

func (f *fakeRiver) Items(_ context.Context, q river.ItemQuery) ([]river.Entry, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked++
	limit := 1000
	if q.Bare {
		limit = 10_000
	}
	if q.Limit > limit || len(q.Firsts) > 1000 || len(q.Sources) > 1000 {
		return nil, fault.New(fault.Invalid, "That is too much: %d, %d, %d.", q.Limit, len(q.Firsts), len(q.Sources))
	}
	var out []river.Entry
	for _, it := range f.items {
		if e, ok := f.entry(q.Reader, it); ok && f.matches(&q, &e) {
			if q.Bare {
				e.Content = river.Content{Title: e.Title, Link: e.Link}
			}
			out = append(out, e)
		}
	}
	slices.SortFunc(out, func(a, b river.Entry) int {
		d := comparePlaces(a.Place(), b.Place())
		if q.ByFirst {
			d = cmp.Compare(a.First, b.First)
		}
		if !q.Oldest {
			d = -d
		}
		return d
	})
	return out[:min(len(out), cmp.Or(q.Limit, 50))], nil
}

func (f *fakeRiver) Mark(_ context.Context, reader string, ids []int64, read, starred *bool) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(ids) > 1000 {
		return 0, fault.New(fault.Invalid, "That is too much.")
	}
	if f.marks[reader] == nil {
		f.marks[reader] = map[int64]river.Mark{}
	}
	for _, id := range ids {
		m := f.marks[reader][id]
		if read != nil {
			m.Read = *read
		}
		if starred != nil {
			m.Starred = *starred
		}
		f.marks[reader][id] = m
	}
	return len(ids), nil
}

func (f *fakeRiver) MarkAllRead(_ context.Context, reader string, source int64, category string, to time.Time) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if to.IsZero() {
		to = f.now()
	}
	for i := range f.subs[reader] {
		s := &f.subs[reader][i]
		if (source == 0 || s.SourceID == source) && (category == "" || slices.Contains(s.Categories, category)) && to.After(s.ReadTo) {
			s.ReadTo = to
		}
	}
	return nil
}

func (f *fakeRiver) CountUnread(_ context.Context, reader string) (map[int64]river.Unread, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	counts := map[int64]river.Unread{}
	for _, it := range f.items {
		if e, _ := f.entry(reader, it); f.sub(reader, it.SourceID) != nil && !e.Read {
			u := counts[it.SourceID]
			u.Items++
			counts[it.SourceID] = u
		}
	}
	return counts, nil
}

func (f *fakeRiver) Categories(_ context.Context, reader string, _ bool) ([]river.Category, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	names := slices.Clone(f.made[reader])
	for _, s := range f.subs[reader] {
		names = append(names, s.Categories...)
	}
	slices.Sort(names)
	var out []river.Category
	for _, n := range slices.Compact(names) {
		out = append(out, river.Category{Name: n})
	}
	return out, nil
}

func (f *fakeRiver) RenameCategory(_ context.Context, reader, from, to string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	found := slices.Contains(f.made[reader], from)
	f.made[reader] = slices.DeleteFunc(f.made[reader], func(n string) bool { return n == from })
	for i := range f.subs[reader] {
		s := &f.subs[reader][i]
		if slices.Contains(s.Categories, from) {
			found = true
			s.Categories = slices.DeleteFunc(s.Categories, func(n string) bool { return n == from })
			if to != "" && !slices.Contains(s.Categories, to) {
				s.Categories = append(s.Categories, to)
			}
		}
	}
	if !found {
		return fault.New(fault.NotFound, "There is no category %q.", from)
	}
	return nil
}

func (f *fakeRiver) Import(ctx context.Context, reader string, doc io.Reader, _ river.ImportOptions) (river.Imported, error) {
	list, err := opml.Parse(doc, nil)
	if err != nil {
		return river.Imported{}, fault.Wrap(fault.Invalid, err, "That is no OPML.")
	}
	var out river.Imported
	for _, feed := range list.Feeds() {
		added, err := f.Add(ctx, river.Request{Reader: reader, URL: feed.FeedURL()})
		switch {
		case err != nil:
			out.Skipped++
		case added.New:
			out.Added++
		default:
			out.Had++
		}
	}
	return out, nil
}

func (f *fakeRiver) Export(_ context.Context, reader, _ string) (*opml.Document, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	d := &opml.Document{Version: "2.0"}
	for _, s := range f.subs[reader] {
		src := f.sources[s.SourceID]
		d.Outlines = append(d.Outlines, opml.Outline{Text: src.Name(), Type: "rss", XMLURL: src.URL})
	}
	return d, nil
}

func (f *feedDef) add(n int, at time.Time) {
	guid := fmt.Sprintf("%s#%d", f.url, len(f.items)+n)
	f.items = append(f.items, itemDef{guid: guid, title: fmt.Sprintf("Item %d of %s", len(f.items)+1, strings.TrimPrefix(f.url, "http://feeds.test/")),
		html: "<p>Whole text.</p>", link: f.home + "item", date: at})
}
