package transfer

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"cloudburst/feed"
	"cloudburst/feed/render"
	"cloudburst/internal/author"
	"cloudburst/internal/author/upload"
	"cloudburst/internal/fault"
	"cloudburst/internal/store/sqlite"
	"cloudburst/internal/store/sqlite/sqlitetest"
)

// testServer is a server with posts and a real store.
type testServer struct {
	*Transfer
	t     *testing.T
	posts *author.Posts
	files *upload.Files
	site  *author.Site
}

var startTime = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

func newTestServer(t *testing.T, origin string) *testServer {
	t.Helper()
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	st, err := sqlite.Open(t.Context(), sqlite.Options{Dir: sqlitetest.Dir(t), Log: log})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	now := func() time.Time { return startTime }
	at := func() string { return origin }
	s := &testServer{t: t}
	s.posts = &author.Posts{Store: st, Feeds: &author.Feeds{Store: st, Log: log, Now: now}, Origin: at, Now: now, Log: log,
		About: func(user string) render.Options { return render.Options{Self: origin + "/" + user + "/rss.xml"} }}
	s.files = &upload.Files{Store: st, Posts: st, Origin: at, Now: now, Log: log, Temp: t.TempDir()}
	s.site = &author.Site{Store: st, Posts: s.posts, Now: now}
	s.Transfer = &Transfer{Posts: author.Groups{Posts: s.posts}, Files: s.files, Site: s.site, Origin: at, Now: now, batchSize: 7}
	return s
}

func (s *testServer) image(user string, shade uint8) author.File {
	s.t.Helper()
	m := image.NewGray(image.Rect(0, 0, 4, 4))
	m.Set(1, 1, color.Gray{shade})
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		s.t.Fatal(err)
	}
	f, err := s.files.Put(s.t.Context(), user, fmt.Sprintf("grey %d.png", shade), "image/png", &b)
	if err != nil {
		s.t.Fatal(err)
	}
	return f
}

func (s *testServer) export(user string) []byte {
	s.t.Helper()
	var b bytes.Buffer
	if _, err := s.Export(s.t.Context(), user, &b, nil); err != nil {
		s.t.Fatal(err)
	}
	return b.Bytes()
}

func (s *testServer) mustImport(user string, b []byte) Result {
	s.t.Helper()
	res, err := s.Import(s.t.Context(), user, bytes.NewReader(b), int64(len(b)), Options{}, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	return res
}

func (s *testServer) mustReject(b []byte, words string) {
	s.t.Helper()
	_, err := s.Import(s.t.Context(), "alice", bytes.NewReader(b), int64(len(b)), Options{}, nil)
	if fault.CodeOf(err) != fault.Invalid || !strings.Contains(fault.Message(err), words) {
		s.t.Errorf("got error %v, want one that contains %q", err, words)
	}
	if all := s.all("alice"); len(all) != 0 {
		s.t.Errorf("%d posts were imported from a file that was rejected with %q", len(all), words)
	}
}

// all returns a user's posts, except deleted posts, without the fields that differ between servers.
func (s *testServer) all(user string) (posts []author.Post) {
	s.t.Helper()
	each := func(batch []author.Post) error {
		for _, p := range batch {
			p.User, p.ID, p.Revision, p.Seq, p.Key, p.UndoUntil = "", 0, 0, 0, "", time.Time{}
			posts = append(posts, p)
		}
		return nil
	}
	if err := s.published(s.t.Context(), user, each); err != nil {
		s.t.Fatal(err)
	}
	for _, state := range []author.State{author.Scheduled, author.Draft} {
		if err := s.unpublished(s.t.Context(), user, state, each); err != nil {
			s.t.Fatal(err)
		}
	}
	return posts
}

// feed returns a user's public feed without origin and times.
func (s *testServer) feed(user string) *feed.Feed {
	s.t.Helper()
	_, doc, err := s.posts.Feeds.Document(s.t.Context(), user, author.Public)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, at := range []string{"https://one.example/alice/", s.origin() + "/" + user + "/"} { // GUIDs contain the server that created them
		doc = bytes.ReplaceAll(doc, []byte(at), []byte("https://here.example/somebody/"))
	}
	f, err := feed.ParseBytes(doc, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	f.Updated, f.Published = feed.Date{}, feed.Date{}
	return f
}

// randomPosts writes posts of all kinds, some of them with files.
func (s *testServer) randomPosts(r *rand.Rand, user string, n int) {
	s.t.Helper()
	words := strings.Fields("Fish chips vinegar salt & pepper <b>bold</b> *soft* `code` grüße 日本 :-) \"quoted\" it's 5>3 --- #tag _x_ http://a.example/?b=c&d")
	text := func(limit int) string {
		var b strings.Builder
		for range 1 + r.IntN(limit) {
			b.WriteString(words[r.IntN(len(words))] + [...]string{" ", " ", "\n", "\n\n"}[r.IntN(4)])
		}
		return b.String()
	}
	files := []author.File{s.image(user, 10), s.image(user, 20)}
	for i := range n {
		f := files[r.IntN(len(files))]
		e := author.Edit{User: user, Via: "test", To: []author.State{author.Published, author.Published, author.Published, author.Draft, author.Scheduled}[r.IntN(5)],
			At: startTime.Add(-time.Duration(r.IntN(1e6)) * time.Second), NoUndo: true,
			Change: func(c *author.Content) error {
				c.Source = fmt.Sprintf("%d ", i) + text(20)
				c.Format = []author.Format{author.Markdown, author.HTML, author.Plain}[r.IntN(3)]
				if r.IntN(2) == 0 {
					c.Title = strings.TrimSpace(text(5))
				}
				if r.IntN(3) == 0 {
					c.Source += "\n\n![x](" + s.files.Path(f) + ")"
				}
				if r.IntN(3) == 0 {
					c.Enclosures = []author.Enclosure{{URL: s.files.Path(f), Type: f.Type, Length: f.Size}, {URL: "https://else.example/a.mp3", Type: "audio/mpeg", Length: 5}}
				}
				if r.IntN(3) == 0 {
					c.Categories = []string{"Food & Drink", "x" + fmt.Sprint(r.IntN(5))}
				}
				if r.IntN(4) == 0 {
					c.Link = "https://else.example/page"
				}
				if r.IntN(5) == 0 {
					c.Reply = &author.Reply{URL: "https://else.example/said", Feed: "https://else.example/rss"}
				}
				if r.IntN(5) == 0 {
					c.Outline = []author.Node{{Text: "one " + text(3), Nodes: []author.Node{{Text: "two ![](" + s.files.Path(f) + ")"}}}, {Text: "three"}}
				}
				return nil
			}}
		if e.To == author.Scheduled {
			e.At = startTime.Add(time.Duration(1+r.IntN(1e6)) * time.Hour)
		}
		if i%3 == 0 {
			e.Slug = fmt.Sprintf("wish-%d", i)
		}
		if _, err := s.posts.Save(s.t.Context(), e); err != nil {
			s.t.Fatal(err)
		}
	}
}
