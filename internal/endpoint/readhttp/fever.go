package readhttp

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"html"
	"slices"
	"strconv"
	"strings"
	"time"

	"cloudburst/internal/account"
	"cloudburst/internal/fault"
	"cloudburst/internal/river"
	"cloudburst/internal/text"
	"cloudburst/protocol/fever"
)

// feverReader connects the API of Fever to the river.
//
// The number of an item is its First in Unix microseconds: apps page by numbers that increase with
// arrival, and some support none beyond 2^53. The numbers of feeds and groups are 31 bits of a
// hash, because some apps store them in 32 bits.
type feverReader Apps

func (f *feverReader) apps() *Apps { return (*Apps)(f) }

// feverError converts an error for the API.
func feverError(err error) error {
	if err == nil {
		return nil
	}
	status, msg, after, unknown := appStatus(err)
	if unknown {
		return err
	}
	return &fever.Error{Status: status, Msg: msg, RetryAfter: after}
}

// User implements fever.Backend.
//
// spec:cloudburst#app-tokens
func (f *feverReader) User(ctx context.Context, key string) (string, error) {
	t, err := f.Accounts.AppToken(ctx, key, f.apps().caller(fever.RequestFrom(ctx), "fever"))
	if fault.CodeOf(err) == fault.Refused && !errors.Is(err, account.ErrScope) {
		return "", fever.ErrKey
	}
	return t.User, feverError(err)
}

// numbers contains the 31-bit numbers of a user's feeds and categories.
type numbers struct {
	at     time.Time        // when the numbers were computed
	list   []river.Followed // nil in a cached entry
	feeds  map[int64]int32  // key: source, value: number
	source map[int32]int64
	groups map[string]int32
	name   map[int32]string
	of     map[string][]int64 // key: category, value: sources
	items  int64              // number of items of all feeds
}

// numbersTTL and maxNumbers limit the cache of numbers: the lifetime of an entry, and the number of
// users. The numbers are cached because an app may send a hundred requests in a row.
const numbersTTL, maxNumbers = 10 * time.Second, 100

// numbersOf returns the numbers of a user. If fresh is set, it does not use the cache.
func (a *Apps) numbersOf(ctx context.Context, reader string, fresh bool) (*numbers, error) {
	now := a.now()
	a.mu.Lock()
	n := a.known[reader]
	a.mu.Unlock()
	if n != nil && !fresh && now.Sub(n.at) < numbersTTL && !now.Before(n.at) {
		return n, nil
	}
	list, err := a.River.Subscriptions(ctx, river.SubscriptionQuery{Reader: reader})
	if err != nil {
		return nil, err
	}
	categories, err := a.River.Categories(ctx, reader, false)
	if err != nil {
		return nil, err
	}
	n = number(list, categories)
	n.at = now
	kept := *n
	kept.list = nil // do not keep the list in memory: it is large if the user follows thousands of feeds
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.known == nil || len(a.known) >= maxNumbers {
		a.known = map[string]*numbers{}
	}
	a.known[reader] = &kept
	return n, nil
}

// forget removes the cached numbers of a user.
func (a *Apps) forget(reader string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.known, reader)
}

// number assigns stable 31-bit numbers to feeds and categories. If two feeds have the same hash,
// which is rare, the older feed keeps the number.
//
// spec:cloudburst#fever-numbers
func number(list []river.Followed, categories []river.Category) *numbers {
	n := &numbers{
		list: list, feeds: map[int64]int32{}, source: map[int32]int64{}, groups: map[string]int32{}, name: map[int32]string{}, of: map[string][]int64{},
	}
	byAge := make([]*river.Followed, len(list))
	for i := range list {
		byAge[i] = &list[i]
	}
	slices.SortFunc(byAge, func(a, b *river.Followed) int {
		if d := a.AddedAt.Compare(b.AddedAt); d != 0 {
			return d
		}
		return strings.Compare(strconv.FormatInt(a.SourceID, 10), strconv.FormatInt(b.SourceID, 10))
	})
	for _, f := range byAge {
		small := free(n.source, "feed "+strconv.FormatInt(f.SourceID, 10))
		n.source[small], n.feeds[f.SourceID] = f.SourceID, small
		n.items += f.Source.Items
	}
	for _, c := range categories {
		small := free(n.name, "group "+c.Name)
		n.name[small], n.groups[c.Name] = c.Name, small
	}
	for i := range list {
		for _, c := range list[i].Categories {
			n.of[c] = append(n.of[c], list[i].SourceID)
		}
	}
	return n
}

// free returns the first number for name that is not taken.
func free[T any](taken map[int32]T, name string) int32 {
	for i := 0; ; i++ {
		sum := sha256.Sum256([]byte(name + strings.Repeat(" again", i)))
		small := int32(binary.BigEndian.Uint32(sum[:]) >> 1)
		if _, found := taken[small]; !found && small > 0 {
			return small
		}
	}
}

// Lists implements fever.Backend.
func (f *feverReader) Lists(ctx context.Context, user string) ([]fever.Group, []fever.Feed, []fever.FeedsGroup, error) {
	n, err := f.apps().numbersOf(ctx, f.apps().reader(user), true)
	if err != nil {
		return nil, nil, nil, feverError(err)
	}
	var groups []fever.Group
	var relations []fever.FeedsGroup
	for name, id := range n.groups {
		groups = append(groups, fever.Group{ID: id, Title: appText(name)})
		var ids fever.IDs
		for _, source := range n.of[name] {
			ids = append(ids, int64(n.feeds[source]))
		}
		if ids != nil {
			relations = append(relations, fever.FeedsGroup{GroupID: id, FeedIDs: ids})
		}
	}
	slices.SortFunc(groups, func(a, b fever.Group) int { return text.CompareNames(a.Title, b.Title) })
	slices.SortFunc(relations, func(a, b fever.FeedsGroup) int { return int(a.GroupID) - int(b.GroupID) })
	feeds := make([]fever.Feed, 0, len(n.list))
	for i := range n.list {
		s := &n.list[i]
		feed := fever.Feed{ID: n.feeds[s.SourceID], Title: appText(s.Name()), URL: s.Source.URL, SiteURL: s.Source.About.Home}
		if s.Source.NewestAt.Unix() > 0 {
			feed.LastUpdated = s.Source.NewestAt.Unix()
		}
		feeds = append(feeds, feed)
	}
	return groups, feeds, relations, nil
}

// Favicons implements fever.Backend. It returns none: feeds declare only the URLs of their icons,
// and this server does not fetch icons.
func (f *feverReader) Favicons(context.Context, string) ([]fever.Favicon, error) { return nil, nil }

// Total implements fever.Backend.
func (f *feverReader) Total(ctx context.Context, user string) (int64, error) {
	n, err := f.apps().numbersOf(ctx, f.apps().reader(user), false)
	if err != nil {
		return 0, feverError(err)
	}
	return n.items, nil
}

// Items implements fever.Backend.
func (f *feverReader) Items(ctx context.Context, user string, q fever.Query) ([]fever.Item, error) {
	reader := f.apps().reader(user)
	n, err := f.apps().numbersOf(ctx, reader, false)
	if err != nil {
		return nil, feverError(err)
	}
	in := river.ItemQuery{Reader: reader, ByFirst: true, Limit: fever.MaxItems}
	switch {
	case q.IDs != nil:
		in.Firsts = q.IDs
	case q.Newest:
		in.FirstBefore = f.apps().settledBefore(q.Max)
	default:
		in.FirstAfter, in.FirstBefore, in.Oldest = q.Since, f.apps().settledBefore(0), true
	}
	if q.Feeds != nil || q.Groups != nil {
		if in.Sources = n.sources(q); len(in.Sources) == 0 {
			return nil, nil
		}
	}
	list, err := f.River.Items(ctx, in)
	if err != nil {
		return nil, feverError(err)
	}
	if slices.ContainsFunc(list, func(e river.Entry) bool { return n.feeds[e.SourceID] == 0 }) {
		if n, err = f.apps().numbersOf(ctx, reader, true); err != nil {
			return nil, feverError(err)
		}
	}
	var out []fever.Item
	for i := range list {
		if feed := n.feeds[list[i].SourceID]; feed != 0 {
			out = append(out, f.item(&list[i], feed))
		}
	}
	return out, nil
}

// sources returns the sources of feeds and groups, up to the limit of a query.
func (n *numbers) sources(q fever.Query) []int64 {
	set := map[int64]bool{}
	for _, id := range q.Feeds {
		if source := n.source[id]; source != 0 {
			set[source] = true
		}
	}
	for _, id := range q.Groups {
		for _, source := range n.of[n.name[id]] {
			set[source] = true
		}
	}
	var out []int64
	for source := range set {
		out = append(out, source)
	}
	slices.Sort(out)
	return out[:min(len(out), 1000)]
}

func (f *feverReader) item(e *river.Entry, feed int32) fever.Item {
	e.ShowFull()
	it := fever.Item{
		ID: e.First, FeedID: feed, Title: appText(appTitle(e)), Author: appText(strings.Join(e.Authors, ", ")),
		HTML: appHTML(&e.Content) + enclosuresHTML(e.Enclosures), URL: f.apps().link(e), Created: published(e),
	}
	if e.Starred {
		it.IsSaved = 1
	}
	if e.Read {
		it.IsRead = 1
	}
	return it
}

// enclosuresHTML returns HTML that shows the files of an item, because the API has no field for
// files.
func enclosuresHTML(list []river.Enclosure) string {
	var b strings.Builder
	for _, enc := range list {
		address := html.EscapeString(enc.URL)
		switch kind, _, _ := strings.Cut(enc.Type, "/"); kind {
		case "audio", "video":
			b.WriteString(`<p><` + kind + ` controls preload="none" src="` + address + `"></` + kind + `></p>`)
		case "image":
			b.WriteString(`<p><img src="` + address + `" alt=""></p>`)
		}
		title := enc.Title
		if title == "" {
			title = enc.URL
		}
		b.WriteString(`<p><a href="` + address + `">` + html.EscapeString(title) + `</a></p>`)
	}
	return b.String()
}

// maxMarked is the maximum length of the lists of unread or saved items, which contain the newest
// items.
const maxMarked = 200_000

// Unread implements fever.Backend.
func (f *feverReader) Unread(ctx context.Context, user string) (fever.IDs, error) {
	return f.marked(ctx, river.ItemQuery{Reader: f.apps().reader(user), Unread: true})
}

// Saved implements fever.Backend. It omits items of feeds that the user no longer follows, because
// apps do not know these feeds.
func (f *feverReader) Saved(ctx context.Context, user string) (fever.IDs, error) {
	return f.marked(ctx, river.ItemQuery{Reader: f.apps().reader(user), Starred: true})
}

// marked lists the numbers of items in increasing order.
func (f *feverReader) marked(ctx context.Context, q river.ItemQuery) (fever.IDs, error) {
	following := map[int64]bool{}
	if q.Starred {
		var err error
		if following, err = f.River.Following(ctx, q.Reader); err != nil {
			return nil, feverError(err)
		}
	}
	ids := fever.IDs{}
	q.Bare, q.ByFirst, q.Limit, q.FirstBefore = true, true, 10_000, f.apps().settledBefore(0)
	for len(ids) < maxMarked {
		list, err := f.River.Items(ctx, q)
		if err != nil {
			return nil, feverError(err)
		}
		for i := range list {
			if !q.Starred || following[list[i].SourceID] {
				ids = append(ids, list[i].First)
			}
			q.FirstBefore = list[i].First
		}
		if len(list) < q.Limit {
			break
		}
	}
	slices.Reverse(ids)
	return ids, nil
}

// Mark implements fever.Backend.
func (f *feverReader) Mark(ctx context.Context, user string, item int64, read, saved *bool) error {
	if item <= 0 {
		return nil
	}
	return feverError(f.apps().markFirsts(ctx, f.apps().reader(user), []int64{item}, read, saved))
}

// MarkFeed implements fever.Backend.
func (f *feverReader) MarkFeed(ctx context.Context, user string, feed int32, before time.Time) error {
	reader := f.apps().reader(user)
	n, err := f.apps().numbersOf(ctx, reader, false)
	if err != nil {
		return feverError(err)
	}
	source := n.source[feed]
	if source == 0 {
		return nil
	}
	return feverError(f.River.MarkAllRead(ctx, reader, source, "", before))
}

// MarkGroup implements fever.Backend.
func (f *feverReader) MarkGroup(ctx context.Context, user string, group int32, before time.Time) error {
	reader := f.apps().reader(user)
	n, err := f.apps().numbersOf(ctx, reader, false)
	if err != nil {
		return feverError(err)
	}
	name, found := n.name[group]
	if group != 0 && !found {
		return nil
	}
	return feverError(f.River.MarkAllRead(ctx, reader, 0, name, before))
}

// UnreadRecent implements fever.Backend. It does nothing, because the store does not contain the
// time at which an item was read.
func (f *feverReader) UnreadRecent(context.Context, string) error { return nil }
