package publishhttp

import (
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"

	"cloudburst/internal/author"
	"cloudburst/internal/author/upload"
	"cloudburst/internal/store/sqlite"
	"cloudburst/internal/store/sqlite/sqlitetest"
	"cloudburst/protocol/metaweblog"
	"cloudburst/protocol/xmlrpc"
)

// weblog is the harness with the users alice and carol, posts and files on the real store, and the
// endpoint for editors.
type weblog struct {
	*harness
	posts  *author.Posts
	editor *MetaWeblog
	srv    *httptest.Server
}

func newWeblog(t testing.TB) *weblog {
	t.Helper()
	d := newHarness(t)
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	st, err := sqlite.Open(t.Context(), sqlite.Options{Dir: sqlitetest.Dir(t), Log: log})
	if err != nil {
		t.Fatal(err)
	}
	now := func() time.Time { return d.now }
	origin := func() string { return public }
	d.authors = &author.Feeds{Store: st, Now: now, Log: log}
	d.Feeds.Authors = d.authors
	w := &weblog{harness: d}
	w.posts = &author.Posts{Store: st, Feeds: d.authors, Origin: origin, About: d.Feeds.About, Now: now, Log: log, LimitMode: author.LimitOff}
	files := &upload.Files{Store: st, Posts: st, Origin: origin, Now: now, Log: log, Temp: t.TempDir()}
	w.editor = &MetaWeblog{Posts: w.posts, Files: files, Accounts: d.accounts, Public: origin, Log: log}
	d.Feeds.RSD = w.editor.ServeRSD
	mux := http.NewServeMux()
	mux.Handle("/RPC2", rpcWith(w.editor.Methods(), w.editor.LargeMethods()))
	mux.Handle("/", d)
	w.srv = httptest.NewServer(mux)
	t.Cleanup(func() {
		w.srv.Close()
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

// as returns the editor of a user, with a User-Agent.
func (w *weblog) as(user, agent string) *metaweblog.Client {
	return &metaweblog.Client{URL: w.srv.URL + "/RPC2", Blog: user, Name: user, Password: goodPassword, UserAgent: agent}
}

// must fails the test on an error.
func must[T any](t *testing.T) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// saved returns a post of alice as stored.
func (w *weblog) saved(t *testing.T, id string) author.Post {
	t.Helper()
	n, err := strconv.ParseInt(id, 10, 64)
	ok(t, err)
	return must[author.Post](t)(w.posts.Get(t.Context(), "alice", n))
}

func isFault(err error, want int) bool {
	f, is := errors.AsType[*xmlrpc.Fault](err)
	return is && f.Code == want && f.String != ""
}
