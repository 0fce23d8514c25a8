package app

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"cloudburst/feed/opml"
	"cloudburst/internal/author"
	"cloudburst/internal/config"
	"cloudburst/internal/fulltest"
	"cloudburst/internal/hub"
	"cloudburst/internal/river"
)

// follower is a server that subscribes by rssCloud and WebSub, and confirms every verification.
type follower struct {
	*httptest.Server
	mu       sync.Mutex
	received []string // URLs in rssCloud notifications
	bodies   []string // documents in WebSub notifications
}

func newFollower(t *testing.T) *follower {
	t.Helper()
	f := &follower{}
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		if c := q.Get("challenge") + q.Get("hub.challenge"); c != "" {
			_, _ = io.WriteString(w, c)
			return
		}
		body, _ := io.ReadAll(r.Body) // an error is ignored, because the test detects missing content
		f.mu.Lock()
		defer f.mu.Unlock()
		if r.URL.Path == "/websub" {
			f.bodies = append(f.bodies, string(body))
			return
		}
		form, _ := url.ParseQuery(string(body))
		f.received = append(f.received, form.Get("url"))
	}))
	t.Cleanup(f.Close)
	return f
}

// count returns the number of notifications by each protocol.
func (f *follower) count() (cloud, websub int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.received), len(f.bodies)
}

func send(t *testing.T, to string, form url.Values) string {
	t.Helper()
	res, err := http.PostForm(to, form)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(res.StatusCode, " ", string(body))
}

// follow subscribes the server to a URL by both protocols.
func (f *follower) follow(t *testing.T, a *App, address string) {
	t.Helper()
	u, err := url.Parse(f.URL)
	if err != nil {
		t.Fatal(err)
	}
	before, _ := f.count()
	form := url.Values{"notifyProcedure": {""}, "port": {u.Port()}, "path": {"/cloud"}, "protocol": {"http-post"}, "url1": {address}}
	if got := send(t, a.names.Public()+"/rsscloud/pleaseNotify", form); !strings.Contains(got, `success="true"`) {
		t.Fatalf("%s cannot be followed: %s", address, got)
	}
	until(t, "the test call", func() bool { n, _ := f.count(); return n == before+1 })
	if got := send(t, a.names.Public()+"/websub", url.Values{"hub.mode": {"subscribe"}, "hub.topic": {address}, "hub.callback": {f.URL + "/websub"}}); !strings.HasPrefix(got, "202") {
		t.Fatalf("%s cannot be subscribed to: %s", address, got)
	}
	until(t, "both subscriptions stand", func() bool {
		n, err := a.store.Subscribers(t.Context(), hub.TopicID(address), a.clock.Now())
		return err == nil && n[hub.WebSub] == 1 && n[hub.HTTPPost] == 1
	})
	f.mu.Lock()
	f.received, f.bodies = nil, nil
	f.mu.Unlock()
}

// signUp creates users. It returns a function that publishes a post of a user.
func signUp(t *testing.T, a *App, names ...string) func(user, text string, categories ...string) author.Post {
	t.Helper()
	for _, name := range names {
		if _, err := a.accounts.Add(t.Context(), name, "correct horse battery"); err != nil {
			t.Fatal(err)
		}
	}
	return func(user, text string, categories ...string) author.Post {
		t.Helper()
		p, err := a.posts.Save(t.Context(), author.Edit{User: user, To: author.Published, Via: "test", Change: func(c *author.Content) error {
			c.Source, c.Categories = text, categories
			return nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
}

// rest waits until the hub has no pending delivery.
func rest(t *testing.T, a *App) {
	t.Helper()
	until(t, "all deliveries are done", func() bool {
		n, err := a.hub.Counts(t.Context())
		return err == nil && n.Pending == 0 && n.ShardsDue == 0 && n.ChecksDue == 0 && n.Requests == 0
	})
}

func TestSubscribersOfACategoryAreNotifiedOnlyOfItsPosts(t *testing.T) {
	t.Parallel()
	a := programWith(t, func(c *config.Config) { c.Hub.PingInterval, c.Hub.ClientRate, c.Hub.HostRate = time.Millisecond, 0, 0 })
	write := signUp(t, a, "alice", "bob")
	write("alice", "first", "Go")
	write("bob", "first of bob", "Go")
	write("alice", "first of tea", "Tea")
	follow := map[string]*follower{}
	for _, path := range []string{"/alice/category/go/rss.xml", "/alice/category/go/feed.json", "/alice/category/tea/rss.xml", "/bob/category/go/feed.atom",
		"/everyone/rss.xml", "/everyone/category/go/feed", "/everyone/category/tea/feed.atom"} {
		f := newFollower(t)
		f.follow(t, a, a.names.Public()+path)
		follow[path] = f
	}
	notified := func(what string, want ...string) {
		t.Helper()
		rest(t, a)
		for path, f := range follow {
			cloud, websub := 0, 0
			if slices.Contains(want, path) {
				until(t, what+": "+path+" is notified", func() bool { cloud, websub = f.count(); return cloud > 0 && websub > 0 })
			}
			if cloud, websub = f.count(); cloud != websub || cloud > 1 || (cloud == 1) != slices.Contains(want, path) {
				t.Errorf("%s: %s received %d and %d notifications", what, path, cloud, websub)
			}
			f.mu.Lock()
			for _, u := range f.received {
				if u != a.names.Public()+path {
					t.Errorf("%s: %s was notified of %s", what, path, u)
				}
			}
			f.received, f.bodies = nil, nil
			f.mu.Unlock()
		}
	}
	p := write("alice", "about go", "go")
	alice := []string{"/alice/category/go/rss.xml", "/alice/category/go/feed.json", "/everyone/rss.xml", "/everyone/category/go/feed"}
	notified("a post", alice...)
	write("alice", "about nothing")
	notified("a post in none", "/everyone/rss.xml")
	edit := func(change func(c *author.Content) error) {
		t.Helper()
		if _, err := a.posts.Save(t.Context(), author.Edit{User: "alice", ID: p.ID, Via: "test", Change: change}); err != nil {
			t.Fatal(err)
		}
	}
	edit(func(c *author.Content) error { c.Source = "about go, better"; return nil })
	notified("an edit", alice...)
	edit(func(c *author.Content) error { c.Categories = []string{"Tea"}; return nil })
	notified("another category", append([]string{"/alice/category/tea/rss.xml", "/everyone/category/tea/feed.atom"}, alice...)...)
	if _, err := a.posts.Delete(t.Context(), "alice", p.ID, 0, "test"); err != nil {
		t.Fatal(err)
	}
	notified("a post that is taken back", "/alice/category/tea/rss.xml", "/everyone/rss.xml", "/everyone/category/tea/feed.atom")
	if _, err := a.posts.Save(t.Context(), author.Edit{User: "bob", Via: "test", Change: func(c *author.Content) error {
		c.Source, c.Categories = "a draft", []string{"go"}
		return nil
	}}); err != nil {
		t.Fatal(err)
	}
	notified("a draft")
	write("bob", "of bob", "Go")
	notified("a post of bob", "/bob/category/go/feed.atom", "/everyone/rss.xml", "/everyone/category/go/feed")
}

func TestRiverReceivesCategoryPostImmediately(t *testing.T) {
	t.Parallel()
	a := program(t)
	write := signUp(t, a, "alice")
	write("alice", "first", "Go")
	id := read(t, a, a.names.Public()+"/alice/category/go/feed.atom")
	until(t, "the first post is read", func() bool { return len(titles(t, a, id)) == 1 })
	p := write("alice", "second", "Go")
	until(t, "the second post is read", func() bool { return len(titles(t, a, id)) == 2 })
	items, err := a.river.Items(t.Context(), river.ItemQuery{SourceID: id, Limit: 1})
	if err != nil || len(items) != 1 || items[0].Link != a.posts.Address(p) {
		t.Errorf("the river has %+v, %v; the page of the post is %s", items, err, a.posts.Address(p))
	}
}

func TestDisabledUserIsHiddenUntilEnabled(t *testing.T) {
	t.Parallel()
	a := programWith(t, func(c *config.Config) { c.Hub.PingInterval, c.Hub.ClientRate, c.Hub.HostRate = time.Millisecond, 0, 0 })
	write := signUp(t, a, "alice", "bob")
	page := a.posts.Path(write("alice", "words of alice", "Go"))
	write("bob", "words of bob", "Tea")
	everyone := newFollower(t)
	everyone.follow(t, a, a.names.Public()+"/everyone/rss.xml")
	hers := []string{"/alice/", "/alice/rss.xml", "/alice/feed", "/alice/feed.json", "/alice/rss.xml?page=2", "/alice/category/go/", "/alice/category/go/rss.xml",
		"/alice/archive/1/rss.xml", "/alice/archive/", page, "/alice/rsd.xml"}
	all := []string{"/everyone/", "/everyone/rss.xml", "/everyone/feed.atom", "/everyone/category/", "/everyone/category/go/rss.xml"}
	look := func(path string) (int, string) {
		t.Helper()
		res, err := http.Get(a.names.Public() + path)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, res.Header.Get("Content-Type") + " " + string(body)
	}
	hasHers := func(s string) bool {
		return strings.Contains(s, "words of alice") || strings.Contains(s, "/category/go/\"")
	}
	for i, disabled := range []bool{false, true, false} {
		if i > 0 {
			if err := a.accounts.Disable(t.Context(), "alice", disabled); err != nil {
				t.Fatal(err)
			}
			rest(t, a)
			until(t, "the follower of all users is notified", func() bool { cloud, websub := everyone.count(); return cloud == i && websub == i })
		}
		for _, path := range hers {
			status, body := look(path)
			if plain := strings.HasPrefix(body, "text/plain") && strings.Contains(body, "account alice is disabled"); plain != disabled || (status == 404) != (disabled || strings.Contains(path, "page=2")) {
				t.Errorf("disabled: %v: %s: %d %.200s", disabled, path, status, body)
			}
		}
		for _, path := range all {
			if status, body := look(path); status != 200 || hasHers(body) == disabled {
				t.Errorf("disabled: %v: %s: %d %s", disabled, path, status, body)
			}
		}
		if status, body := look("/bob/rss.xml"); status != 200 || !strings.Contains(body, "words of bob") {
			t.Errorf("disabled: %v: bob: %d %s", disabled, status, body)
		}
	}
}

func TestServerOPMLListsEveryFeedWithPosts(t *testing.T) {
	t.Parallel()
	a := program(t)
	write := signUp(t, a, "alice", "bob", "carol", "dave", "erin")
	for _, user := range []string{"alice", "bob", "carol", "dave"} { // erin is left out, because she has no posts
		write(user, "words")
	}
	if _, err := a.posts.SetProfile(t.Context(), "alice", func(p *author.Profile) error { p.Title = "Alice & Co"; return nil }, "test"); err != nil {
		t.Fatal(err)
	}
	if _, err := a.authors.Move(t.Context(), "bob", author.Public, "https://b.example/feed"); err != nil {
		t.Fatal(err)
	}
	get := func(path string) string {
		t.Helper()
		res, err := http.Get(a.names.Public() + path)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		if err != nil || res.StatusCode != 200 {
			t.Fatal(path, res.StatusCode, err)
		}
		return res.Header.Get("Content-Type") + "\n" + string(body)
	}
	listed := func() (names []string) {
		t.Helper()
		kind, body, _ := strings.Cut(get("/everyone/opml"), "\n")
		list, err := opml.ParseBytes([]byte(body), nil)
		if err != nil || !strings.HasPrefix(kind, "text/x-opml") {
			t.Fatal(kind, err)
		}
		for _, f := range list.Feeds() {
			user := strings.TrimSuffix(strings.TrimPrefix(f.XMLURL, a.names.Public()+"/"), "/rss.xml")
			if f.HTMLURL != a.names.Public()+"/"+user+"/" {
				t.Errorf("the page of %s is %s", f.XMLURL, f.HTMLURL)
			}
			names = append(names, user+": "+f.Text)
		}
		return names
	}
	if err := a.accounts.Disable(t.Context(), "carol", true); err != nil {
		t.Fatal(err)
	}
	if got := listed(); !slices.Equal(got, []string{"alice: Alice & Co", "dave: dave"}) {
		t.Errorf("listed: %q", got)
	}
	if err := a.accounts.Disable(t.Context(), "carol", false); err != nil {
		t.Fatal(err)
	}
	if got := listed(); len(got) != 3 {
		t.Errorf("listed with carol: %q", got)
	}
	if got := get("/feeds.opml"); got != get("/everyone/opml") {
		t.Errorf("/feeds.opml is another list: %s", got)
	}
	if page := get("/everyone/"); !strings.Contains(page, `<link rel="blogroll" type="text/x-opml" title="Everyone's feeds" href="/everyone/opml">`) {
		t.Errorf("the page does not name it:\n%s", page)
	}
}

func TestFeedsOfAUserAreInOneOPMLList(t *testing.T) {
	t.Parallel()
	a := program(t)
	write := signUp(t, a, "alice", "bob", "carol")
	write("alice", "words", "Go", "Fun stuff")
	write("bob", "words")
	if _, err := a.posts.SetProfile(t.Context(), "alice", func(p *author.Profile) error {
		p.Title, p.Name, p.Email = "Alice & Co", "Alice Doe", "alice@example.com"
		return nil
	}, "test"); err != nil {
		t.Fatal(err)
	}
	save := func(user, name string) {
		t.Helper()
		doc := `<rss version="2.0"><channel><title>Saved</title><link>http://s.example/</link><description>d</description></channel></rss>`
		if _, err := a.authors.Save(t.Context(), user, name, []byte(doc), "put"); err != nil {
			t.Fatal(err)
		}
	}
	save("alice", author.Private)
	get := func(path string) (status int, kind, body string) {
		t.Helper()
		res, err := http.Get(a.names.Public() + path)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		b, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, res.Header.Get("Content-Type"), string(b)
	}
	listed := func(path string) (list *opml.Document, feeds []string) {
		t.Helper()
		status, kind, body := get(path)
		list, err := opml.ParseBytes([]byte(body), nil)
		if err != nil || status != 200 || !strings.HasPrefix(kind, "text/x-opml") {
			t.Fatal(path, status, kind, err)
		}
		for _, f := range list.Feeds() {
			if f.Type != "rss" || f.Text == "" || f.Title != f.Text || !strings.HasPrefix(f.HTMLURL, a.names.Public()+"/") {
				t.Errorf("the line is %+v", f)
			}
			feeds = append(feeds, strings.TrimPrefix(f.XMLURL, a.names.Public())+" "+f.Text)
		}
		return list, feeds
	}
	list, feeds := listed("/alice/feeds.opml")
	want := []string{"/alice/rss.xml Alice & Co", "/alice/category/fun-stuff/rss.xml Alice & Co: Fun stuff", "/alice/category/go/rss.xml Alice & Co: Go", "/alice/archive/1/rss.xml Alice & Co: archive 1"}
	if !slices.Equal(feeds, want) {
		t.Errorf("listed: %q", feeds)
	}
	if h := list.Head; h.Title != "Feeds of Alice & Co" || h.OwnerName != "Alice Doe" || h.OwnerEmail != "alice@example.com" || h.OwnerID != a.names.Public()+"/alice/" || h.DateModified == "" {
		t.Errorf("the head is %+v", h)
	}
	if _, again := listed("/alice/opml"); !slices.Equal(again, want) {
		t.Errorf("/alice/opml lists %q", again)
	}
	for _, f := range list.Feeds() {
		if status, _, _ := get(strings.TrimPrefix(f.XMLURL, a.names.Public())); status != 200 {
			t.Errorf("%s is answered %d", f.XMLURL, status)
		}
	}
	link := `<link rel="outline" type="text/x-opml" title="Feeds of Alice &amp; Co" href="/alice/feeds.opml">`
	if _, _, page := get("/alice/"); !strings.Contains(page, link) || !strings.Contains(page, `<a href="/alice/feeds.opml"`) {
		t.Errorf("the page does not name the list:\n%s", page)
	}
	if _, err := a.authors.Move(t.Context(), "bob", author.Public, "https://b.example/feed"); err != nil {
		t.Fatal(err)
	}
	if _, feeds := listed("/bob/feeds.opml"); !slices.Equal(feeds, []string{"https://b.example/feed bob"}) {
		t.Errorf("listed of a feed that has moved: %q", feeds)
	}
	if _, err := a.authors.End(t.Context(), "bob", author.Public); err != nil {
		t.Fatal(err)
	}
	save("carol", author.Private)
	for _, path := range []string{"/bob/feeds.opml", "/carol/feeds.opml", "/nobody/feeds.opml"} {
		if status, _, body := get(path); status != 404 {
			t.Errorf("%s is answered %d: %s", path, status, body)
		}
	}
	save("carol", author.Public)
	if _, feeds := listed("/carol/feeds.opml"); !slices.Equal(feeds, []string{"/carol/rss.xml Saved"}) {
		t.Errorf("listed of a saved document: %q", feeds)
	}
	if _, _, page := get("/carol/"); !strings.Contains(page, `href="/carol/feeds.opml"`) {
		t.Errorf("the page of a saved document does not name the list:\n%s", page)
	}
}

func TestFeedsContainNewPublicURLAfterRestart(t *testing.T) {
	t.Parallel()
	fulltest.Long(t)
	dir := t.TempDir()
	names := func(t *testing.T, a *App, user, url string) (version int64, ok bool) {
		t.Helper()
		f, doc, err := a.authors.Document(t.Context(), user, author.Public)
		if err != nil {
			t.Fatal(err)
		}
		return f.Version, strings.Contains(string(doc), `"`+url+"/"+user+`/rss.xml"`)
	}
	users := []string{"saved"}
	for i := range renewFirst + 2 {
		users = append(users, fmt.Sprintf("u%02d", i))
	}
	run := func(url string, do func(t *testing.T, a *App)) {
		t.Run(url, func(t *testing.T) {
			do(t, programWith(t, func(c *config.Config) { c.Data, c.PublicURL = dir, url }))
		})
	}
	run("http://old.example", func(t *testing.T, a *App) {
		write := signUp(t, a, users...)
		for _, user := range users[1:] {
			write(user, "words")
		}
		if _, err := a.authors.Save(t.Context(), "saved", author.Public, []byte(`<rss version="2.0"><channel><title>x</title></channel></rss>`), "test"); err != nil {
			t.Fatal(err)
		}
	})
	for _, url := range []string{"http://new.example", "http://new.example"} { // the second start must not change anything
		run(url, func(t *testing.T, a *App) {
			for _, user := range users[1:] {
				until(t, user+" has the new address", func() bool { version, ok := names(t, a, user, url); return ok && version == 2 })
			}
			if f, err := a.authors.Feed(t.Context(), "saved", author.Public); err != nil || f.Version != 1 {
				t.Errorf("the saved feed is version %d, %v", f.Version, err)
			}
		})
	}
}
