package app

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"cloudburst/feed/render"
	"cloudburst/internal/author"
	"cloudburst/internal/event"
	"cloudburst/internal/fulltest"
)

// privateScene is a server on which alice has a private post with an attached file.
type privateScene struct {
	*App
	t      *testing.T
	post   author.Post
	file   author.File
	secret string // "SELECTOR.SECRET" of a reader in the group family
	other  string // "SELECTOR.SECRET" of a reader in the group work
}

// hiddenWord occurs in every part of the private post.
const hiddenWord = "zyxmarker"

func newPrivateScene(t *testing.T) *privateScene {
	t.Helper()
	s := &privateScene{App: program(t), t: t}
	write := signUp(t, s.App, "alice", "eve")
	write("alice", "A public text.", "Public")
	for _, slug := range []string{"family", "work"} {
		if _, err := (author.Groups{Posts: s.posts}).AddGroup(t.Context(), "alice", author.Group{Slug: slug, Name: slug}); err != nil {
			t.Fatal(err)
		}
	}
	var err error
	if s.file, err = s.files.Put(t.Context(), "alice", "notes.txt", "text/plain", strings.NewReader("file "+hiddenWord)); err != nil {
		t.Fatal(err)
	}
	s.post = s.save(0, "family")
	for to, slug := range map[*string]string{&s.secret: "family", &s.other: "work"} {
		made, err := s.accounts.NewSecret(t.Context(), "alice", author.GroupFeed(slug), "bob")
		if err != nil {
			t.Fatal(err)
		}
		*to = made.Selector + "." + strings.TrimPrefix(made.Plain, made.Selector+".")
	}
	return s
}

// save saves the post for some groups. Without groups, the post is public.
func (s *privateScene) save(id int64, groups ...string) author.Post {
	s.t.Helper()
	p, err := s.posts.Save(s.t.Context(), author.Edit{User: "alice", ID: id, To: author.Published, Via: "test", Change: func(c *author.Content) error {
		c.Title, c.Source, c.Categories, c.Groups = "Title "+hiddenWord, "Text "+hiddenWord, []string{"cat" + hiddenWord}, groups
		c.Enclosures = []author.Enclosure{{URL: s.files.Path(s.file), Type: "text/plain", Length: s.file.Size, Title: "Enclosure " + hiddenWord}}
		return nil
	}})
	if err != nil {
		s.t.Fatal(err)
	}
	return p
}

// visitor is an HTTP client with its own cookies.
type visitor struct {
	http.Client
	t     *testing.T
	base  string
	token string
}

func (s *privateScene) visitor(user string) *visitor {
	s.t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		s.t.Fatal(err)
	}
	v := &visitor{t: s.t, base: s.names.Public(), Client: http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	if user == "" {
		return v
	}
	if status, body := v.send("POST", "/login", url.Values{"name": {user}, "password": {"correct horse battery"}}); status != http.StatusSeeOther {
		s.t.Fatal("sign in", status, body)
	}
	plain, _, err := s.accounts.NewToken(s.t.Context(), user, "test", []string{"create", "update", "delete", "media", "read"})
	if err != nil {
		s.t.Fatal(err)
	}
	v.token = plain
	return v
}

// send returns the status and the whole response including its headers. It stops reading a stream
// after five seconds.
func (v *visitor) send(method, path string, form url.Values) (int, string) {
	v.t.Helper()
	ctx, cancel := context.WithTimeout(v.t.Context(), 5*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, v.base+path, strings.NewReader(form.Encode()))
	if err != nil {
		v.t.Fatal(method, path, err)
	}
	if method != "GET" {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", v.base)
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	if v.token != "" && strings.Contains(path, "/v1/") || strings.HasPrefix(path, "/micropub") {
		r.Header.Set("Authorization", "Bearer "+v.token)
	}
	res, err := v.Do(r)
	if err != nil {
		return 0, "" // the URL is a stream without data
	}
	defer res.Body.Close()
	var out bytes.Buffer
	_ = res.Header.Write(&out)
	_, _ = io.Copy(&out, io.LimitReader(res.Body, 8<<20)) // the time limit ends the reading of a stream
	return res.StatusCode, out.String()
}

// TestNoRouteDisclosesPrivatePosts requests every route of the public listener as an anonymous
// client and as another user. The requests contain the names of a private post, its file, its
// category and its feed.
func TestNoRouteDisclosesPrivatePosts(t *testing.T) {
	t.Parallel()
	fulltest.Long(t)
	s := newPrivateScene(t)
	id := fmt.Sprint(s.post.ID)
	at := s.post.PublishedAt.UTC()
	values := map[string][]string{
		"user": {"alice"}, "id": {id}, "slug": {"family"}, "group": {"family"}, "secret": {"x.y", s.other}, "document": {"rss.xml", "feed.json", "feed"}, "format": {"json", "atom"},
		"hash": {s.file.Hash[:16], s.file.Hash}, "name": {s.file.Name, "alice"}, "category": {"cat" + hiddenWord}, "number": {"1"}, "year": {at.Format("2006")}, "month": {at.Format("01")}, "day": {at.Format("02")},
		"hour": {at.Format("15")}, "feed": {"private", "private-family"}, "selector": {strings.SplitN(s.secret, ".", 2)[0]}, "key": {"alice"},
		"post": {at.Format("01/02/") + "title_" + hiddenWord, at.Format("01/02/") + "title-" + hiddenWord},
	}
	feed := s.names.Public() + "/alice/private/family/rss.xml"
	form := url.Values{"id": {id}, "group": {"family"}, "user": {"alice"}, "url": {feed}, "feed": {feed}, "q": {hiddenWord}, "match": {hiddenWord}, "hub.topic": {feed}, "hub.mode": {"subscribe"},
		"source": {feed}, "target": {s.post.GUID}, "post": {id}, "name": {"family"}, "sure": {"yes"}, "format": {"json"}}
	paths := s.routes(values)
	for _, f := range render.Formats() {
		for _, base := range []string{"/alice/", "/everyone/", "/alice/category/cat" + hiddenWord + "/", "/alice/archive/1/", "/alice/private/", "/alice/private/family/", "/alice/private/family/" + s.other + "/"} {
			paths = append(paths, [2]string{"GET", base + "rss.xml?format=" + f.Name})
		}
	}
	for _, p := range []string{"/alice/media/", "/alice/private/media/", "/alice/private/family/media/", "/alice/private/work/" + s.other + "/media/", "/alice/private/family/" + s.other + "/media/"} {
		paths = append(paths, [2]string{"GET", p + s.file.Hash[:16] + "/" + s.file.Name})
	}
	page := s.post // a public copy of the post, which gives the path that its page would have
	page.State = author.Published
	for _, at := range []string{s.post.GUID, s.names.Public() + s.posts.Path(page), s.names.Public() + s.files.Path(s.file), feed} {
		paths = append(paths, [2]string{"GET", "/v1/thread?url=" + url.QueryEscape(at)})
	}
	paths = append(paths, [2]string{"GET", "/v1/people?limit=1000"}, [2]string{"GET", "/v1/people?match=alice"})
	if len(paths) < 300 {
		t.Errorf("only %d requests", len(paths))
	}
	s.ask(paths, form, func(body string) bool {
		for _, echo := range []string{"cat" + hiddenWord, "title_" + hiddenWord, "title-" + hiddenWord} {
			body = strings.ReplaceAll(body, echo, "") // remove names that the request contains, because responses may repeat them
		}
		return strings.Contains(body, "Text "+hiddenWord) || strings.Contains(body, "Title "+hiddenWord) || strings.Contains(body, "Enclosure "+hiddenWord) || strings.Contains(body, "file "+hiddenWord)
	})
	if now, err := s.posts.Get(t.Context(), "alice", s.post.ID); err != nil || now.Revision != s.post.Revision || now.State != author.ForGroups {
		t.Errorf("the post was changed: %+v, %v", now, err)
	}
}

// routes returns the method and path of every route of the public listener. values contains the
// values to insert for each path parameter.
func (s *privateScene) routes(values map[string][]string) (paths [][2]string) {
	public := s.names.Public()
	for _, g := range (routing{s.App}).groups(public, routing{s.App}.pages(public), http.NotFoundHandler()) {
		if g.title == "Operator" {
			continue // skip the routes of other listeners
		}
		for _, r := range g.routes {
			for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE"} {
				if r.Method == method || r.Method == "" && (method == "GET" || method == "POST") {
					for _, p := range fillPath(r.Path, values) {
						paths = append(paths, [2]string{method, p})
					}
				}
			}
		}
	}
	return paths
}

// ask sends all requests with a form, as another user and as an anonymous client. shows reports
// whether a response reveals private data.
func (s *privateScene) ask(paths [][2]string, form url.Values, shows func(body string) bool) {
	s.t.Helper()
	visitors := map[string]*visitor{"eve": s.visitor("eve"), "": s.visitor("")} // sign in first, because failed attempts would block sign-ins
	for who, v := range visitors {
		answered := 0
		for _, p := range paths {
			if p[1] == "/logout" || strings.Contains(p[1], "/stream") {
				continue
			}
			path := p[1]
			if p[0] == "GET" && !strings.Contains(path, "?") {
				path += "?" + form.Encode()
			}
			status, body := v.send(p[0], path, form)
			if status == http.StatusOK {
				answered++
			}
			if shows(strings.ReplaceAll(body, url.QueryEscape(hiddenWord), hiddenWord)) {
				s.t.Errorf("%q reads what is private with %s %s:\n%.2000s", who, p[0], p[1], body)
			}
		}
		if answered < 50 {
			s.t.Errorf("%q got only %d answers", who, answered)
		}
	}
}

// fillPath returns the paths that result when each parameter of a pattern is replaced by each of
// its values.
func fillPath(pattern string, values map[string][]string) []string {
	all := []string{strings.TrimSuffix(pattern, "{$}")}
	for {
		i := strings.IndexByte(all[0], '{')
		if i < 0 {
			return all
		}
		name := all[0][i+1 : i+strings.IndexByte(all[0][i:], '}')]
		of := values[strings.TrimSuffix(name, "...")]
		if len(of) == 0 {
			of = []string{"1"}
		}
		var next []string
		for _, p := range all {
			for _, v := range of {
				next = append(next, strings.Replace(p, "{"+name+"}", v, 1))
			}
		}
		all = next
	}
}

// TestReadersOfAGroupGetItsPostsAndFiles reads posts and files with the secrets of two groups.
func TestReadersOfAGroupGetItsPostsAndFiles(t *testing.T) {
	t.Parallel()
	s := newPrivateScene(t)
	v := s.visitor("")
	media := "media/" + s.file.Hash[:16] + "/" + s.file.Name
	for path, want := range map[string]int{
		"family/" + s.secret + "/rss.xml": 200, "family/" + s.secret + "/feed.json": 200, "family/" + s.secret + "/feed.atom": 200, "family/" + s.secret + "/" + media: 200,
		"work/" + s.secret + "/rss.xml": 404, "work/" + s.other + "/rss.xml": 200, "family/" + s.other + "/rss.xml": 404, "family/" + s.other + "/" + media: 404, "work/" + s.other + "/" + media: 404,
		s.secret + "/rss.xml": 404, "family/rss.xml": 401, "nothing/rss.xml": 401, "family/" + media: 401,
	} {
		status, body := v.send("GET", "/alice/private/"+path, nil)
		if status != want || strings.Contains(body, hiddenWord) != (want == 200 && strings.Contains(path, "family")) {
			t.Errorf("%s: %d\n%.600s", path, status, body)
		}
	}
	// The reader of the feed can open the file at the URL that the feed contains.
	_, feed := v.send("GET", "/alice/private/family/"+s.secret+"/rss.xml", nil)
	if status, body := v.send("GET", s.fileIn(feed, media), nil); status != 200 || !strings.Contains(body, hiddenWord) {
		t.Errorf("the file in the feed: %d", status)
	}
	if status, _ := v.send("GET", s.files.Path(s.file), nil); status != 404 {
		t.Errorf("the public URL of the file: %d", status)
	}
	if status, body := s.visitor("alice").send("GET", s.files.Path(s.file), nil); status != 200 || !strings.Contains(body, hiddenWord) {
		t.Errorf("the author reads the file: %d", status)
	}
	if _, err := (author.Groups{Posts: s.posts}).RemoveGroup(t.Context(), "alice", "family"); err != nil {
		t.Fatal(err)
	}
	if status, _ := v.send("GET", "/alice/private/family/"+s.secret+"/rss.xml", nil); status != 404 {
		t.Errorf("the feed of a deleted group: %d", status)
	}
	if _, err := (author.Groups{Posts: s.posts}).RestoreGroup(t.Context(), "alice", "family"); err != nil {
		t.Fatal(err)
	}
	if status, _ := v.send("GET", "/alice/private/family/"+s.secret+"/rss.xml", nil); status != 200 {
		t.Errorf("the feed of a restored group: %d", status)
	}
}

// fileIn returns the path of a file in a document for a reader of a private feed. Each document names
// the files below the reader's topic.
func (s *privateScene) fileIn(doc, media string) string {
	s.t.Helper()
	end := strings.Index(doc, media)
	start := strings.LastIndex(doc[:max(end, 0)], s.names.Public()+event.PrivateTopics)
	if start < 0 || strings.Contains(doc, s.secret) || strings.Contains(doc, "/alice/private/") {
		s.t.Fatalf("the document does not name the file below a topic, or contains the secret:\n%s", doc)
	}
	return doc[start+len(s.names.Public()):end] + media
}

var etagLine = regexp.MustCompile(`(?m)^Etag: .*$`)

// TestDocumentsOfAPrivateFeedContainNoSecret reads a private feed in all formats with a secret URL, by
// Basic and by topic. Readers that show a post send no login for its files.
//
// spec:cloudburst#private-topic
func TestDocumentsOfAPrivateFeedContainNoSecret(t *testing.T) {
	t.Parallel()
	s := newPrivateScene(t)
	v := s.visitor("")
	media := "media/" + s.file.Hash[:16] + "/" + s.file.Name
	topic := strings.TrimPrefix(v.topicOf("/alice/private/family/"+s.secret+"/rss.xml"), s.names.Public())
	selector, key, _ := strings.Cut(s.secret, ".")
	withLogin, err := url.Parse(v.base)
	if err != nil {
		t.Fatal(err)
	}
	withLogin.User = url.UserPassword(selector, key)
	basic := &visitor{t: t, base: withLogin.String(), Client: v.Client}
	for _, f := range render.Formats() {
		name := "rss.xml?format=" + f.Name
		_, body := v.send("GET", "/alice/private/family/"+s.secret+"/"+name, nil)
		_, byBasic := basic.send("GET", "/alice/private/family/"+name, nil)
		_, byTopic := v.send("GET", strings.TrimSuffix(topic, "rss.xml")+name, nil)
		if strings.Contains(body, s.secret) || strings.Contains(body, key) {
			t.Errorf("%s contains the secret:\n%s", f.Name, body)
		}
		if tag := etagLine.FindString(body); tag == "" || tag != etagLine.FindString(byBasic) || tag != etagLine.FindString(byTopic) {
			t.Errorf("%s differs: with the secret in the URL\n%s\nby Basic\n%s\nby topic\n%s", f.Name, body, byBasic, byTopic)
		}
	}
	_, feed := v.send("GET", "/alice/private/family/"+s.secret+"/rss.xml", nil)
	path := s.fileIn(feed, media)
	other := strings.TrimPrefix(v.topicOf("/alice/private/work/"+s.other+"/rss.xml"), s.names.Public())
	for path, want := range map[string]int{path: 200, path + "x": 404, strings.Replace(path, "-", "-x", 1): 404, strings.TrimSuffix(other, "rss.xml") + media: 404} {
		if status, body := v.send("GET", path, nil); status != want || strings.Contains(body, hiddenWord) != (want == 200) {
			t.Errorf("%s: %d, want %d", path, status, want)
		}
	}
	if err := s.accounts.RevokeSecret(t.Context(), "alice", selector); err != nil {
		t.Fatal(err)
	}
	if status, _ := v.send("GET", path, nil); status != 404 {
		t.Errorf("the file after the secret was revoked: %d", status)
	}
}

// TestChangedVisibilityOfAPostAppliesToEveryFormat makes a post public and private in turn. After
// each change, it checks which formats of which feeds contain the post.
func TestChangedVisibilityOfAPostAppliesToEveryFormat(t *testing.T) {
	t.Parallel()
	s := newPrivateScene(t)
	v := s.visitor("")
	public := func(paths ...string) {
		for _, f := range render.Formats() {
			paths = append(paths, "/alice/rss.xml?format="+f.Name, "/everyone/rss.xml?format="+f.Name, "/alice/archive/1/rss.xml?format="+f.Name, "/alice/category/cat"+hiddenWord+"/rss.xml?format="+f.Name)
		}
		post, err := s.posts.Get(t.Context(), "alice", s.post.ID)
		if err != nil {
			t.Fatal(err)
		}
		once := post // a public copy of the post, which gives the path of its page
		once.State = author.Published
		if page := s.posts.Path(once); page != "" {
			paths = append(paths, page, s.files.Path(s.file))
		}
		for _, p := range append(paths, "/alice/") {
			status, body := v.send("GET", p, nil)
			want := post.State == author.Published
			shown := strings.Contains(body, "itle "+hiddenWord) || strings.Contains(body, "ext "+hiddenWord) || strings.Contains(body, "file "+hiddenWord)
			if format := p[strings.Index(p, "=")+1:]; want && slices.Contains([]string{"opml", "html"}, format) {
				continue // the texts of these formats do not contain the marker
			}
			if !want && shown || want && !shown && status != 404 {
				t.Errorf("%s of a post that is %s: %d, shown %v", p, post.State, status, shown)
			}
			if p == s.posts.Path(once) && (status == 200) != want {
				t.Errorf("the page of a post that is %s: %d", post.State, status)
			}
		}
		for slug, secret := range map[string]string{"family": s.secret, "work": s.other} {
			want := post.State == author.ForGroups && slices.Contains(post.Groups, slug)
			for _, ext := range []string{"rss.xml", "feed.json", "feed.atom"} {
				if _, body := v.send("GET", "/alice/private/"+slug+"/"+secret+"/"+ext, nil); strings.Contains(body, "ext "+hiddenWord) != want {
					t.Errorf("%s of %s: want the post: %v", ext, slug, want)
				}
			}
		}
	}
	public()
	guid := s.post.GUID
	for _, groups := range [][]string{nil, {"family"}, {"work", "family"}, nil, {"work"}, nil} {
		if p := s.save(s.post.ID, groups...); p.GUID != guid {
			t.Errorf("the guid changed from %s to %s", guid, p.GUID)
		}
		public()
	}
}
