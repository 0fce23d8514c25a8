package greader_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"testing"
	"time"

	"cloudburst/protocol/greader"
)

// fake is a server of one user, alice, with the items 1 to len.
type fake struct {
	items   int
	read    map[greader.ItemID]bool
	starred map[greader.ItemID]bool
	feeds   map[string]greader.Subscription
	calls   []string // calls that changed something
	fails   error    // error of every method except Login and Authenticate
	failsAt int      // number of the first batch of items that fails; 0: none
	pages   int
	query   greader.Query // last query
}

func newFake(items int) *fake {
	return &fake{items: items, read: map[greader.ItemID]bool{}, starred: map[greader.ItemID]bool{}, feeds: map[string]greader.Subscription{}}
}

func (f *fake) did(format string, args ...any) error {
	f.calls = append(f.calls, fmt.Sprintf(format, args...))
	return f.fails
}

func (f *fake) Login(ctx context.Context, name, password string) (string, error) {
	if greader.RequestFrom(ctx) == nil {
		return "", errors.New("no request")
	}
	switch {
	case name == "busy":
		return "", &greader.Error{Status: http.StatusTooManyRequests, Msg: "Wait.", RetryAfter: 1500 * time.Millisecond}
	case name != "alice" || password != "a+b&c=d% é":
		return "", greader.ErrUnauthorized
	}
	return "alice/secret", nil
}

func (f *fake) Authenticate(_ context.Context, auth string) (string, error) {
	if auth != "alice/secret" {
		return "", greader.ErrUnauthorized
	}
	return "alice", nil
}

func (f *fake) UserInfo(_ context.Context, user string) (greader.User, error) {
	return greader.User{ID: user, Name: user, ProfileID: user, Email: user}, f.fails
}

func (f *fake) Subscriptions(context.Context, string) ([]greader.Subscription, error) {
	var list []greader.Subscription
	for _, s := range f.feeds {
		list = append(list, s)
	}
	return list, f.fails
}

func (f *fake) Labels(context.Context, string) ([]string, error) {
	return []string{"News & more", "Tech/Go"}, f.fails
}

func (f *fake) Unread(context.Context, string) ([]greader.Unread, error) {
	return []greader.Unread{{ID: greader.State(greader.ReadingList).String(), Count: int64(f.items - len(f.read)), Newest: "1700000000000000"}}, f.fails
}

func (f *fake) Subscribe(_ context.Context, _, url, title string, labels []string) (greader.Subscription, error) {
	if url == "http://none.example" {
		return greader.Subscription{}, &greader.Error{Status: http.StatusUnprocessableEntity, Msg: "There is no feed."}
	}
	s := greader.Subscription{ID: "feed/" + strconv.Itoa(len(f.feeds)+1), URL: url, Title: title, Categories: []greader.Category{}}
	f.feeds[url] = s
	return s, f.did("subscribe %s %q %q", url, title, labels)
}

func (f *fake) Unsubscribe(_ context.Context, _ string, feeds []greader.Stream) error {
	return f.did("unsubscribe %v", feeds)
}

func (f *fake) EditSubscription(_ context.Context, _ string, feed greader.Stream, title string, add, remove []string) error {
	return f.did("edit %v %q +%q -%q", feed, title, add, remove)
}

func (f *fake) RenameLabel(_ context.Context, _, from, to string) error {
	return f.did("rename %q to %q", from, to)
}

func (f *fake) Export(context.Context, string) ([]byte, error) { return []byte("<opml/>"), f.fails }

func (f *fake) Import(_ context.Context, _ string, opml io.Reader) (int, error) {
	b, err := io.ReadAll(opml)
	return len(b), errors.Join(err, f.fails)
}

// list returns a batch of item numbers, newest first.
func (f *fake) list(q greader.Query) (ids []greader.ItemID, next string) {
	f.query = q
	id := f.items
	if q.Continuation != "" {
		id, _ = strconv.Atoi(q.Continuation)
	}
	for ; id > 0 && len(ids) < q.N; id-- {
		if one := greader.ItemID(id); !slices.Contains(q.Exclude, greader.State(greader.Read)) || !f.read[one] {
			ids = append(ids, one)
		}
	}
	if id > 0 {
		next = strconv.Itoa(id)
	}
	return ids, next
}

func (f *fake) IDs(_ context.Context, _ string, q greader.Query) ([]greader.Ref, string, error) {
	ids, next := f.list(q)
	var out []greader.Ref
	for _, id := range ids {
		out = append(out, greader.Ref{ID: id, Timestamp: int64(id) * 1e6})
	}
	return out, next, f.fails
}

func (f *fake) item(id greader.ItemID) greader.Item {
	it := greader.Item{
		ID: id.Long(), Timestamp: int64(id) * 1e6, Title: "Item " + id.String(), Canonical: []greader.Link{{Href: "http://x.example/"}},
		Alternate: []greader.Link{}, Categories: []string{"user/-/state/com.google/reading-list"}, Summary: greader.Text{Content: "<p>1 & 2</p>"},
	}
	if f.read[id] {
		it.Categories = append(it.Categories, greader.State(greader.Read).String())
	}
	return it
}

func (f *fake) Items(_ context.Context, _ string, q greader.Query) ([]greader.Item, string, error) {
	if f.pages++; f.failsAt > 0 && f.pages >= f.failsAt {
		return nil, "", errors.New("the database is away")
	}
	ids, next := f.list(q)
	var out []greader.Item
	for _, id := range ids {
		out = append(out, f.item(id))
	}
	return out, next, f.fails
}

func (f *fake) Lookup(_ context.Context, _ string, ids []greader.ItemID) ([]greader.Item, error) {
	if len(ids) > 100 {
		return nil, errors.New("too many at once")
	}
	var out []greader.Item
	for _, id := range ids {
		if int(id) <= f.items {
			out = append(out, f.item(id))
		}
	}
	return out, f.fails
}

func (f *fake) Mark(_ context.Context, _ string, ids []greader.ItemID, read, starred *bool) error {
	for _, id := range ids {
		if read != nil {
			f.read[id] = *read
		}
		if starred != nil {
			f.starred[id] = *starred
		}
	}
	return f.did("mark %d", len(ids))
}

func (f *fake) MarkAllRead(_ context.Context, _ string, s greader.Stream, to time.Time) error {
	at := "all"
	if !to.IsZero() {
		at = to.UTC().Format(time.RFC3339Nano)
	}
	return f.did("all read %v %s", s, at)
}

// serve starts a server with a path prefix and returns a client of it.
func serve(t *testing.T, f *fake, prefix string) *greader.Client {
	t.Helper()
	srv := httptest.NewServer(&greader.Handler{Backend: f, Now: func() time.Time { return time.Unix(1_700_000_000, 0) }})
	t.Cleanup(srv.Close)
	return &greader.Client{Base: srv.URL + prefix, HTTP: srv.Client(), Auth: "alice/secret"}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
