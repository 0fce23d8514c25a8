package web

import (
	"cmp"
	"context"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"cloudburst/feed/opml"
	"cloudburst/internal/fault"
	"cloudburst/internal/river"
	"cloudburst/internal/river/forward"
)

func (b *fakeRiver) Subscriptions(_ context.Context, q river.SubscriptionQuery) (out []river.Followed, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	match := strings.ToLower(q.Match)
	for id, f := range b.subs[q.Reader] {
		switch {
		case q.SourceID != 0 && id != q.SourceID, q.Category != "" && !slices.Contains(f.Categories, q.Category), q.ListID != 0 && f.ListID != q.ListID,
			q.None && len(f.Categories) > 0, q.Waiting && !f.Source.State.CheckedAt.IsZero(),
			q.Broken && f.Source.State.Failures == 0 && f.Source.State.Gone == nil,
			match != "" && !strings.Contains(strings.ToLower(f.Name()+" "+f.Source.URL), match):
			continue
		}
		out = append(out, f)
	}
	for i := range out {
		out[i].Next = nextOf(&out[i].Source, b.now())
		if q.Unread {
			out[i].Unread = b.unread(q.Reader, out[i].SourceID)
		}
	}
	slices.SortFunc(out, func(a, b river.Followed) int {
		switch q.Sort {
		case river.SortNewest:
			return b.Source.NewestAt.Compare(a.Source.NewestAt)
		case river.SortUnread:
			return cmp.Compare(b.Unread, a.Unread)
		}
		return strings.Compare(a.Name(), b.Name())
	})
	out = out[min(q.Skip, len(out)):]
	if q.Limit > 0 {
		out = out[:min(q.Limit, len(out))]
	}
	return out, b.err
}

// nextOf returns the next check of a source with a sample reason.
func nextOf(s *river.Source, now time.Time) river.NextCheck {
	switch {
	case s.State.Gone != nil:
		return river.NextCheck{Why: "410 Gone"}
	case !s.NextAt.After(now):
		return river.NextCheck{State: river.NextDue, Why: "it has never been read"}
	}
	return river.NextCheck{State: river.NextPlanned, At: s.NextAt, Why: "max-age 12 h seen 02:20; ttl 60 and skipHours considered"}
}

// unread counts the unread items of a feed. The caller holds the lock.
func (b *fakeRiver) unread(reader string, id int64) (n int64) {
	for _, it := range b.items {
		if e, ok := b.entry(reader, it); ok && it.SourceID == id && !e.Mark.Read {
			n++
		}
	}
	return n
}

func (b *fakeRiver) CheckSoon(_ context.Context, reader string, ids []int64) (due int, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, id := range ids {
		if f, ok := b.subs[reader][id]; ok && f.Source.State.Gone == nil {
			f.Source.NextAt = b.now()
			b.subs[reader][id] = f
			due++
		}
	}
	return due, b.err
}

func (b *fakeRiver) Following(_ context.Context, reader string) (map[int64]bool, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := map[int64]bool{}
	for id := range b.subs[reader] {
		all[id] = true
	}
	return all, b.err
}

func (b *fakeRiver) Find(_ context.Context, reader, what string) (river.Followed, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for id, f := range b.subs[reader] {
		if f.Source.URL == what || strconv.FormatInt(id, 10) == what {
			return f, b.err
		}
	}
	return river.Followed{}, cmp.Or(b.err, error(fault.New(fault.NotFound, "You do not follow %s.", what)))
}

func (b *fakeRiver) Categories(_ context.Context, reader string, unread bool) (out []river.Category, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(b.categories[reader])) {
		c := river.Category{Name: name, Public: b.categories[reader][name]}
		for id, f := range b.subs[reader] {
			if !slices.Contains(f.Categories, name) {
				continue
			}
			c.Sources++
			for _, it := range b.items {
				if e, ok := b.entry(reader, it); unread && ok && it.SourceID == id && !e.Mark.Read {
					c.Unread++
				}
			}
		}
		out = append(out, c)
	}
	return out, b.err
}

func (b *fakeRiver) PutCategory(_ context.Context, reader, name string, public bool) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.category(reader, name, public)
	b.categories[reader][name] = public
	return b.err
}

func (b *fakeRiver) RenameCategory(_ context.Context, reader, from, to string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	public, ok := b.categories[reader][from]
	if !ok {
		return fault.New(fault.NotFound, "There is no category %q.", from)
	}
	delete(b.categories[reader], from)
	if to != "" {
		b.category(reader, to, public)
	}
	for id, f := range b.subs[reader] {
		if i := slices.Index(f.Categories, from); i >= 0 {
			f.Categories = slices.Delete(slices.Clone(f.Categories), i, i+1)
			if to != "" {
				f.Categories = append(f.Categories, to)
			}
			b.subs[reader][id] = f
		}
	}
	return b.err
}

func (b *fakeRiver) Add(_ context.Context, q river.Request) (river.Added, error) {
	if b.add != nil {
		return b.add(q)
	}
	f := b.follow(q.Reader, river.Source{URL: q.URL, Login: q.Login, About: river.About{Title: q.Title}}, q.Categories...)
	return river.Added{Followed: f, New: true}, b.err
}

func (b *fakeRiver) Remove(_ context.Context, reader string, sources ...int64) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, id := range sources {
		if _, ok := b.subs[reader][id]; !ok {
			return fault.New(fault.NotFound, "You do not follow that.")
		}
		b.removed = append(b.removed, removed{b.subs[reader][id], b.now()})
		delete(b.subs[reader], id)
	}
	return b.err
}

// removed is a subscription that has ended, with the time of its end.
type removed struct {
	river.Followed
	at time.Time
}

func (b *fakeRiver) Removed(_ context.Context, reader string, source int64) (time.Time, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, f := range b.removed {
		if f.Reader == reader && f.SourceID == source && !b.now().After(f.at.Add(river.UndoWithin)) {
			return f.at.Add(river.UndoWithin), b.err
		}
	}
	return time.Time{}, fault.New(fault.NotFound, "There is nothing to undo.")
}

func (b *fakeRiver) UndoRemove(ctx context.Context, reader string, source int64) (river.Followed, error) {
	if _, err := b.Removed(ctx, reader, source); err != nil {
		return river.Followed{}, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	i := slices.IndexFunc(b.removed, func(r removed) bool { return r.Reader == reader && r.SourceID == source })
	f := b.removed[i].Followed
	b.subs[reader][source], b.removed = f, slices.Delete(b.removed, i, i+1)
	return f, b.err
}

// alter changes a subscription of a reader. fault.NotFound: the reader does not follow the source.
func (b *fakeRiver) alter(reader string, source int64, change func(*river.Followed) error) (river.Followed, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f, ok := b.subs[reader][source]
	if !ok {
		return f, fault.New(fault.NotFound, "You do not follow that.")
	}
	if err := cmp.Or(change(&f), b.err); err != nil {
		return river.Followed{}, err
	}
	for _, c := range f.Categories {
		b.category(reader, c, false)
	}
	b.subs[reader][source] = f
	return f, nil
}

func (b *fakeRiver) Change(_ context.Context, reader string, source int64, change func(*river.Subscription) error) (river.Followed, error) {
	return b.alter(reader, source, func(f *river.Followed) error { return change(&f.Subscription) })
}

func (b *fakeRiver) SetLogin(_ context.Context, reader string, source int64, l river.Login) (river.Followed, error) {
	return b.alter(reader, source, func(f *river.Followed) error { f.Source.Login = l; return nil })
}

func (b *fakeRiver) Revive(_ context.Context, reader string, source int64) (river.Followed, error) {
	return b.alter(reader, source, func(f *river.Followed) error { f.Source.State.Gone, f.Source.State.Failures = nil, 0; return nil })
}

func (b *fakeRiver) Undo(_ context.Context, reader string, source int64) (river.Followed, error) {
	return b.alter(reader, source, func(*river.Followed) error { return fault.New(fault.Conflict, "It was not moved.") })
}

func (b *fakeRiver) Refresh(_ context.Context, id int64) (river.Check, error) {
	if b.refresh != nil {
		return b.refresh(id)
	}
	return river.Check{At: b.now(), Status: 304, Text: "Nothing has changed.", Next: b.now().Add(time.Hour), Why: "an hour, because the feed changes about hourly"}, b.err
}

func (b *fakeRiver) Explain(_ context.Context, id int64) (river.Explanation, error) {
	if b.explain != nil {
		return b.explain(id)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, all := range b.subs {
		if f, ok := all[id]; ok {
			return river.Explanation{Source: f.Source, Next: nextOf(&f.Source, b.now()), Sentence: "Next check 14:20: max-age 12 h seen 02:20; ttl 60 and skipHours considered."}, b.err
		}
	}
	return river.Explanation{}, fault.New(fault.NotFound, "There is no such source.")
}

func (b *fakeRiver) Import(_ context.Context, reader string, doc io.Reader, o river.ImportOptions) (river.Imported, error) {
	text := ""
	if doc != nil {
		all, err := io.ReadAll(doc)
		if err != nil {
			return river.Imported{}, err
		}
		text = string(all)
	}
	if b.imported != nil {
		return b.imported(reader, text, o)
	}
	list, err := opml.ParseBytes([]byte(text), nil)
	if err != nil {
		return river.Imported{}, fault.Wrap(fault.Invalid, err, "This is no OPML.")
	}
	var out river.Imported
	for folders, o := range list.Feeds() {
		b.follow(reader, river.Source{URL: o.FeedURL(), About: river.About{Title: o.Text}}, folders...)
		out.Found++
		out.Added++
	}
	return out, b.err
}

func (b *fakeRiver) Export(_ context.Context, reader, category string) (*opml.Document, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	d := &opml.Document{Head: opml.Head{Title: cmp.Or(category, "Subscriptions")}}
	for _, f := range b.subs[reader] {
		if category == "" || slices.Contains(f.Categories, category) {
			d.Add(opml.Outline{Text: f.Name(), Type: "rss", XMLURL: f.Source.URL})
		}
	}
	return d, b.err
}

func (b *fakeRiver) ReadingLists(_ context.Context, reader string) (out []river.ReadingList, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, l := range b.lists {
		if l.Reader == reader {
			out = append(out, l)
		}
	}
	return out, b.err
}

func (b *fakeRiver) DropReadingList(_ context.Context, reader string, id int64, _ bool) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := len(b.lists)
	b.lists = slices.DeleteFunc(b.lists, func(l river.ReadingList) bool { return l.Reader == reader && l.ID == id })
	if len(b.lists) == n {
		return fault.New(fault.NotFound, "There is no such reading list.")
	}
	return b.err
}

func (b *fakeRiver) Counts(context.Context) (out river.SourceCounts, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, all := range b.subs {
		for _, f := range all {
			out.Sources++
			out.Followed++
			out.Items += f.Source.Items
			if f.Source.State.Failures > 0 {
				out.Failing++
			}
			if f.Source.State.Gone != nil {
				out.Gone++
			}
			if f.Source.State.Push.Live(b.now()) {
				out.Pushed++
			}
		}
	}
	out.Readers, out.Subscriptions = int64(len(b.subs)), out.Sources
	return out, b.err
}

func (b *fakeRiver) PutForwarding(_ context.Context, n forward.Forwarding) (forward.Forwarding, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if i := slices.IndexFunc(b.notices, func(o forward.Forwarding) bool { return o.ID == n.ID && o.Reader == n.Reader }); i >= 0 {
		b.notices[i] = n
		return n, b.err
	}
	n.ID = int64(len(b.notices)) + 1
	b.notices = append(b.notices, n)
	return n, b.err
}

func (b *fakeRiver) Forwardings(_ context.Context, reader string) (out []forward.Forwarding, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, n := range b.notices {
		if n.Reader == reader {
			out = append(out, n)
		}
	}
	return out, b.err
}

func (b *fakeRiver) DropForwarding(_ context.Context, reader string, id int64) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := len(b.notices)
	b.notices = slices.DeleteFunc(b.notices, func(o forward.Forwarding) bool { return o.Reader == reader && o.ID == id })
	if len(b.notices) == n {
		return fault.New(fault.NotFound, "There is no such notice.")
	}
	return b.err
}

func (b *fakeRiver) ConfirmLink(_ context.Context, token string) (forward.Link, error) {
	return b.link(token)
}
func (b *fakeRiver) EndLink(_ context.Context, token string) (forward.Link, error) {
	return b.link(token)
}

// link returns the forwarding of the token "good". fault.NotFound: any other token.
func (b *fakeRiver) link(token string) (forward.Link, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if token != "good" {
		return forward.Link{}, fault.New(fault.NotFound, "This link is not valid.")
	}
	return forward.Link{Reader: "alice", Sender: "alice", Target: "vic@x.example", State: b.linkState, Digest: b.linkDigest}, b.err
}

func (b *fakeRiver) ConfirmForwarding(_ context.Context, token string) (forward.Link, error) {
	return b.decide(token, forward.ForwardingConfirmed)
}

func (b *fakeRiver) EndForwarding(_ context.Context, token string) (forward.Link, error) {
	return b.decide(token, forward.ForwardingEnded)
}

func (b *fakeRiver) AllowForwarding(_ context.Context, token string) (forward.Link, error) {
	return b.decide(token, forward.ForwardingConfirmed)
}

func (b *fakeRiver) ChooseDigest(_ context.Context, token, digest string) (forward.Link, error) {
	if digest != "" && digest != forward.DigestDaily && digest != forward.DigestWeekly {
		return forward.Link{}, fault.New(fault.Invalid, "A digest is daily or weekly.")
	}
	if token == "good" {
		b.mu.Lock()
		b.linkDigest = digest
		b.mu.Unlock()
	}
	return b.link(token)
}

func (b *fakeRiver) decide(token, state string) (forward.Link, error) {
	if token == "good" {
		b.mu.Lock()
		b.linkState = state
		b.mu.Unlock()
	}
	return b.link(token)
}

func (b *fakeRiver) TryForwarding(_ context.Context, _ string, id int64) error {
	if b.tryNotice != nil {
		return b.tryNotice(id)
	}
	return b.err
}
