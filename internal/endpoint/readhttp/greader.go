package readhttp

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"cloudburst/internal/account"
	"cloudburst/internal/fault"
	"cloudburst/internal/river"
	"cloudburst/internal/river/naming"
	"cloudburst/protocol/greader"
)

// googleReader connects the API of Google Reader to the river.
//
// The number of an item is its First in Unix microseconds, as in FreshRSS. Such a number is so
// large that its decimal and hexadecimal notations cannot be confused. A stream is ordered by
// Item.At, which is its timestampUsec. With the parameter ot ("since"), a stream is selected and
// ordered by time of arrival instead. Therefore an app also receives the old items of a newly added
// feed.
type googleReader Apps

func (g *googleReader) apps() *Apps { return (*Apps)(g) }

// googleError converts an error for the API.
func googleError(err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*greader.Error](err); ok || errors.Is(err, greader.ErrUnauthorized) {
		return err
	}
	status, msg, after, unknown := appStatus(err)
	if unknown {
		return err
	}
	return &greader.Error{Status: status, Msg: msg, RetryAfter: after}
}

// refusedApp is like googleError for authentication.
func refusedApp(err error) error {
	if fault.CodeOf(err) == fault.Refused && !errors.Is(err, account.ErrScope) {
		return greader.ErrUnauthorized
	}
	return googleError(err)
}

// Login implements greader.Backend. If the password is a token, the app keeps using this token, and
// revoking it signs the app out.
//
// spec:cloudburst#app-keys spec:cloudburst#app-tokens
func (g *googleReader) Login(ctx context.Context, name, password string) (string, error) {
	from := g.apps().caller(greader.RequestFrom(ctx), "greader")
	if account.IsToken(password) {
		t, err := g.Accounts.Token(ctx, password, "read", from)
		if err == nil && t.User != name {
			return "", greader.ErrUnauthorized
		}
		return password, refusedApp(err)
	}
	u, err := g.Accounts.Check(ctx, name, password, from)
	if err != nil {
		return "", refusedApp(err)
	}
	key, err := g.Accounts.AppKey(u)
	return key, googleError(err)
}

// Authenticate implements greader.Backend.
func (g *googleReader) Authenticate(ctx context.Context, auth string) (string, error) {
	from := g.apps().caller(greader.RequestFrom(ctx), "greader")
	if account.IsToken(auth) {
		t, err := g.Accounts.Token(ctx, auth, "read", from)
		return t.User, refusedApp(err)
	}
	u, err := g.Accounts.AppUser(ctx, auth, from)
	return u.Name, refusedApp(err)
}

// UserInfo implements greader.Backend.
func (g *googleReader) UserInfo(_ context.Context, user string) (greader.User, error) {
	return greader.User{ID: user, Name: user, ProfileID: user, Email: user}, nil
}

// Subscriptions implements greader.Backend.
func (g *googleReader) Subscriptions(ctx context.Context, user string) ([]greader.Subscription, error) {
	list, err := g.River.Subscriptions(ctx, river.SubscriptionQuery{Reader: g.apps().reader(user)})
	out := make([]greader.Subscription, 0, len(list))
	for i := range list {
		out = append(out, googleSubscription(&list[i]))
	}
	return out, googleError(err)
}

func googleSubscription(f *river.Followed) greader.Subscription {
	s := greader.Subscription{
		ID: feedStream(f.SourceID), Title: appText(f.Name()), Categories: []greader.Category{},
		URL: f.Source.URL, HTMLURL: f.Source.About.Home, IconURL: f.Source.About.Icon,
	}
	for _, c := range f.Categories {
		s.Categories = append(s.Categories, greader.Category{ID: greader.Label(c).String(), Label: c})
	}
	return s
}

func feedStream(source int64) string { return greader.Feed(strconv.FormatInt(source, 10)).String() }

// Labels implements greader.Backend.
func (g *googleReader) Labels(ctx context.Context, user string) ([]string, error) {
	list, err := g.River.Categories(ctx, g.apps().reader(user), false)
	var names []string
	for _, c := range list {
		names = append(names, c.Name)
	}
	return names, googleError(err)
}

// Unread implements greader.Backend. It counts for each feed, for each label, and in total.
func (g *googleReader) Unread(ctx context.Context, user string) ([]greader.Unread, error) {
	reader := g.apps().reader(user)
	counts, err := g.River.CountUnread(ctx, reader)
	if err != nil {
		return nil, googleError(err)
	}
	list, err := g.River.Subscriptions(ctx, river.SubscriptionQuery{Reader: reader})
	if err != nil {
		return nil, googleError(err)
	}
	type sum struct {
		items  int64
		newest time.Time
	}
	sums := map[greader.Stream]sum{{}: {}}
	add := func(s greader.Stream, n int64, newest time.Time) {
		was := sums[s]
		if was.items += n; newest.After(was.newest) {
			was.newest = newest
		}
		sums[s] = was
	}
	for _, f := range list {
		n := counts[f.SourceID].Items
		add(greader.Feed(strconv.FormatInt(f.SourceID, 10)), n, f.Source.NewestAt)
		add(greader.Stream{}, n, f.Source.NewestAt)
		for _, c := range f.Categories {
			add(greader.Label(c), n, f.Source.NewestAt)
		}
	}
	out := make([]greader.Unread, 0, len(sums))
	for s, u := range sums {
		newest := int64(0)
		if !u.newest.IsZero() {
			newest = u.newest.UnixMicro()
		}
		out = append(out, greader.Unread{ID: s.String(), Count: u.items, Newest: strconv.FormatInt(newest, 10)})
	}
	slices.SortFunc(out, func(a, b greader.Unread) int { return strings.Compare(a.ID, b.ID) })
	return out, nil
}

// category returns the category of a folder of an app, with the same name as after an import. A name
// that no category can have is returned unchanged.
func category(label string) string { return cmp.Or(naming.CategoryOf(label), label) }

func categories(labels []string) []string {
	all := slices.Clone(labels)
	for i := range all {
		all[i] = category(all[i])
	}
	return all
}

// Subscribe implements greader.Backend.
func (g *googleReader) Subscribe(ctx context.Context, user, url, title string, labels []string) (greader.Subscription, error) {
	added, err := g.River.Add(ctx, river.Request{
		Reader: g.apps().reader(user), URL: url, Title: title, Categories: categories(labels), First: true,
	})
	if err != nil {
		return greader.Subscription{}, googleError(err)
	}
	g.apps().forget(g.apps().reader(user))
	return googleSubscription(&added.Followed), nil
}

// source returns the source of a stream of one feed. The stream names the feed by number or URL.
func (g *googleReader) source(ctx context.Context, reader string, feed greader.Stream) (int64, error) {
	if id, err := strconv.ParseInt(feed.Name, 10, 64); err == nil && id > 0 {
		return id, nil
	}
	f, err := g.River.Find(ctx, reader, feed.Name)
	return f.SourceID, err
}

// Unsubscribe implements greader.Backend.
func (g *googleReader) Unsubscribe(ctx context.Context, user string, feeds []greader.Stream) error {
	reader := g.apps().reader(user)
	var ids []int64
	for _, feed := range feeds {
		id, err := g.source(ctx, reader, feed)
		if err != nil {
			return googleError(err)
		}
		ids = append(ids, id)
	}
	return googleError(g.River.Remove(ctx, reader, ids...))
}

// EditSubscription implements greader.Backend.
func (g *googleReader) EditSubscription(ctx context.Context, user string, feed greader.Stream, title string, add, remove []string) error {
	reader := g.apps().reader(user)
	id, err := g.source(ctx, reader, feed)
	if err != nil {
		return googleError(err)
	}
	add, remove = categories(add), categories(remove)
	_, err = g.River.Change(ctx, reader, id, func(s *river.Subscription) error {
		if title != "" {
			s.Title = title
		}
		categories := slices.DeleteFunc(slices.Clone(s.Categories), func(c string) bool { return slices.Contains(remove, c) })
		for _, c := range add {
			if !slices.Contains(categories, c) {
				categories = append(categories, c)
			}
		}
		slices.Sort(categories)
		s.Categories = categories
		return nil
	})
	return googleError(err)
}

// RenameLabel implements greader.Backend.
func (g *googleReader) RenameLabel(ctx context.Context, user, from, to string) error {
	return googleError(g.River.RenameCategory(ctx, g.apps().reader(user), category(from), category(to)))
}

// Export implements greader.Backend.
func (g *googleReader) Export(ctx context.Context, user string) ([]byte, error) {
	doc, err := g.River.Export(ctx, g.apps().reader(user), "")
	if err != nil {
		return nil, googleError(err)
	}
	return doc.AppendXML(nil)
}

// Import implements greader.Backend.
func (g *googleReader) Import(ctx context.Context, user string, doc io.Reader) (int, error) {
	got, err := g.River.Import(ctx, g.apps().reader(user), doc, river.ImportOptions{})
	if err == nil && got.Over > 0 {
		err = fault.New(fault.TooMany, "%d feeds were added. %s", got.Added, got.Problems[0])
	}
	return got.Added + got.Had, googleError(err)
}

// Mark implements greader.Backend.
func (g *googleReader) Mark(ctx context.Context, user string, ids []greader.ItemID, read, starred *bool) error {
	firsts := make([]int64, len(ids))
	for i, id := range ids {
		firsts[i] = int64(id)
	}
	return googleError(g.apps().markFirsts(ctx, g.apps().reader(user), firsts, read, starred))
}

// markFirsts marks the items with the given numbers, in batches that are small enough for the
// river.
func (a *Apps) markFirsts(ctx context.Context, reader string, firsts []int64, read, starred *bool) error {
	for some := range slices.Chunk(firsts, 1000) {
		// A number may have several items, because two processes can assign the same number.
		list, err := a.River.Items(ctx, river.ItemQuery{Reader: reader, Firsts: some, Bare: true, Limit: 2 * len(some)})
		if err != nil {
			return err
		}
		ids := make([]int64, len(list))
		for i := range list {
			ids[i] = list[i].ID
		}
		for part := range slices.Chunk(ids, 1000) {
			if _, err := a.River.Mark(ctx, reader, part, read, starred); err != nil {
				return err
			}
		}
	}
	return nil
}

// MarkAllRead implements greader.Backend.
func (g *googleReader) MarkAllRead(ctx context.Context, user string, s greader.Stream, to time.Time) error {
	reader := g.apps().reader(user)
	switch s.Kind {
	case greader.KindLabel:
		return googleError(g.River.MarkAllRead(ctx, reader, 0, category(s.Name), to))
	case greader.KindFeed:
		id, err := g.source(ctx, reader, s)
		if err != nil {
			return googleError(err)
		}
		return googleError(g.River.MarkAllRead(ctx, reader, id, "", to))
	}
	return googleError(g.River.MarkAllRead(ctx, reader, 0, "", to))
}
