package author_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"cloudburst/feed"
	"cloudburst/feed/render"
	"cloudburst/internal/author"
	"cloudburst/internal/fault"
	"cloudburst/internal/store/sqlite"
	"cloudburst/internal/store/sqlite/sqlitetest"
)

const origin = "https://here.example"

// harness is a Posts with a real store. It runs in a synctest bubble.
type harness struct {
	*author.Posts
	t   *testing.T
	ctx context.Context

	mu       sync.Mutex
	versions []int64 // versions that subscribers were notified of
}

func withHarness(t *testing.T, do func(*testing.T, *harness)) {
	t.Helper()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		log := slog.New(slog.NewTextHandler(t.Output(), nil))
		st, err := sqlite.Open(t.Context(), sqlite.Options{Dir: sqlitetest.Fill(t, dir), Log: log})
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := st.Close(); err != nil {
				t.Error(err)
			}
		}()
		d := &harness{t: t, ctx: t.Context()}
		feeds := &author.Feeds{Store: st, Log: log, Notify: d.notify}
		d.Posts = &author.Posts{
			Store: st, Feeds: feeds, Log: log, Origin: func() string { return origin },
			About: func(user string) render.Options { return render.Options{Self: origin + "/" + user + "/rss.xml"} },
		}
		do(t, d)
	})
}

func (d *harness) notify(_ context.Context, f author.Feed) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.versions = append(d.versions, f.Version)
	return nil
}

// notified returns the versions that subscribers were notified of.
func (d *harness) notified() []int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.versions)
}

func (d *harness) must(post author.Post, err error) author.Post {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
	return post
}

// write returns an Edit that publishes a new post with this text.
func write(text string) author.Edit {
	return author.Edit{User: "alice", To: author.Published, Via: "test", Change: func(c *author.Content) error {
		c.Source = text
		return nil
	}}
}

func (d *harness) post(text string) author.Post {
	d.t.Helper()
	return d.must(d.Save(d.ctx, write(text)))
}

// feed returns the parsed public feed.
func (d *harness) feed() *feed.Feed {
	d.t.Helper()
	f, doc, err := d.Feeds.Document(d.ctx, "alice", author.Public)
	if err != nil {
		d.t.Fatal(err)
	}
	got, err := feed.ParseBytes(doc, &feed.Options{Header: http.Header{"Content-Type": {f.Type}}})
	if err != nil {
		d.t.Fatal(err)
	}
	return got
}

// texts returns the items of the public feed as text.
func (d *harness) texts() string {
	d.t.Helper()
	var all []string
	for _, it := range d.feed().Items {
		s := it.Summary.Value
		if it.Title.Value != "" {
			s = it.Title.Value + ": " + s
		}
		all = append(all, strings.NewReplacer("<p>", "", "</p>", "").Replace(s))
	}
	return strings.Join(all, " | ")
}

func (d *harness) wantFeed(want string) {
	d.t.Helper()
	if got := d.texts(); got != want {
		d.t.Errorf("the feed is %q; want %q", got, want)
	}
}

// wantRefusal checks the kind and the text of a fault.
func (d *harness) wantRefusal(err error, code fault.Code, words string) {
	d.t.Helper()
	if fault.CodeOf(err) != code || err == nil || !strings.Contains(err.Error(), words) {
		d.t.Errorf("the error is %v; want %v with %q", err, code, words)
	}
}

func (d *harness) sleep(dur time.Duration) { time.Sleep(dur) } // advances the clock of the synctest bubble

var errBreak = errors.New("break")
