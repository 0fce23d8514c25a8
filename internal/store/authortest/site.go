package authortest

import (
	"fmt"
	"strings"
	"testing"

	"cloudburst/internal/author"
	"cloudburst/internal/fault"
	"cloudburst/internal/store/storetest"
)

func siteTests() map[string]func(*testing.T, *env) {
	return map[string]func(*testing.T, *env){
		"PagesAreListedInTheirOrder":            siteTest(listedPages),
		"PageReplacesItsFormerAddress":          siteTest(replacedPage),
		"UnusedStyleSheetsAreDeleted":           siteTest(keptStyles),
		"PostsAreFoundByTheirCurrentWords":      siteTest(foundPosts),
		"SearchNeedsAllWordsAndSortsByDateOnly": siteTest(sortedSearch),
	}
}

type site struct {
	*env
	author.SiteStore
	t *testing.T
}

func siteTest(f func(*testing.T, *site)) func(*testing.T, *env) {
	return func(t *testing.T, e *env) {
		s, ok := e.Store.(author.SiteStore)
		if !ok {
			t.Fatal("the store is not an author.SiteStore")
		}
		f(t, &site{env: e, SiteStore: s, t: t})
	}
}

func (s *site) slugs(user string) string {
	s.t.Helper()
	list, err := s.AuthorPages(s.Ctx, user)
	storetest.Must(s.t, err)
	var all []string
	for _, p := range list {
		if p.Source != "" || p.User != user {
			s.t.Errorf("the list has %+v", p)
		}
		all = append(all, p.Slug)
	}
	return strings.Join(all, " ")
}

func listedPages(t *testing.T, s *site) {
	for i, slug := range []string{"now", "about", "uses"} {
		storetest.Must(t, s.PutAuthorPage(s.Ctx, author.Page{User: "alice", Slug: slug, Title: "☂ " + slug, Source: "*x*", Place: int64(3 - i), InMenu: true, UpdatedAt: s.Now}, "", 9))
	}
	storetest.Must(t, s.PutAuthorPage(s.Ctx, author.Page{User: "bob", Slug: "about", Title: "x", UpdatedAt: s.Now}, "", 9))
	if got := s.slugs("alice"); got != "uses about now" {
		t.Errorf("the pages are %s", got)
	}
	p, err := s.AuthorPage(s.Ctx, "alice", "about")
	if err != nil || p.Title != "☂ about" || p.Source != "*x*" || p.Place != 2 || !p.InMenu || !p.UpdatedAt.Equal(s.Now) {
		t.Errorf("%+v %v", p, err)
	}
	storetest.Must(t, s.DeleteAuthorPage(s.Ctx, "alice", "about"))
	if err := s.DeleteAuthorPage(s.Ctx, "alice", "about"); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("deleted twice: %v", err)
	}
	if _, err := s.AuthorPage(s.Ctx, "alice", "about"); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("a deleted page: %v", err)
	}
	if got := s.slugs("bob"); got != "about" {
		t.Errorf("the pages of another user are %s", got)
	}
}

func replacedPage(t *testing.T, s *site) {
	put := func(slug, was string, limit int) error {
		return s.PutAuthorPage(s.Ctx, author.Page{User: "alice", Slug: slug, Title: slug, UpdatedAt: s.Now}, was, limit)
	}
	storetest.Must(t, put("about", "", 2))
	storetest.Must(t, put("me", "about", 1))
	storetest.Must(t, put("now", "", 2))
	for _, c := range []struct {
		slug, was string
		limit     int
		code      fault.Code
	}{{"uses", "", 2, fault.TooMany}, {"now", "me", 2, fault.Conflict}, {"now", "", 9, fault.Conflict}, {"x", "about", 9, fault.NotFound}} {
		if err := put(c.slug, c.was, c.limit); fault.CodeOf(err) != c.code {
			t.Errorf("%+v: %v", c, err)
		}
	}
	if got := s.slugs("alice"); got != "me now" {
		t.Errorf("the pages are %s", got)
	}
}

func keptStyles(t *testing.T, s *site) {
	for _, hash := range []string{"a", "b", "c"} {
		storetest.Must(t, s.PutAuthorStyle(s.Ctx, author.Style{User: "alice", Hash: hash, Source: hash + " {}", CSS: "." + hash}))
	}
	storetest.Must(t, s.PutAuthorStyle(s.Ctx, author.Style{User: "alice", Hash: "a", Source: "again", CSS: ".a"}))
	storetest.Must(t, s.PutAuthorStyle(s.Ctx, author.Style{User: "bob", Hash: "b", Source: "b", CSS: "b"}))
	storetest.Must(t, s.KeepAuthorStyles(s.Ctx, "alice", []string{"a", ""}))
	got, err := s.AuthorStyle(s.Ctx, "alice", "a")
	if want := (author.Style{User: "alice", Hash: "a", Source: "again", CSS: ".a"}); err != nil || got != want {
		t.Errorf("%+v %v", got, err)
	}
	if _, err := s.AuthorStyle(s.Ctx, "alice", "b"); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("a style that is not kept: %v", err)
	}
	if _, err := s.AuthorStyle(s.Ctx, "bob", "b"); err != nil {
		t.Errorf("the style of another user: %v", err)
	}
}

// indexAll indexes all posts.
func (s *site) indexAll() (posts int) {
	s.t.Helper()
	for {
		n, err := s.IndexPosts(s.Ctx, 2)
		storetest.Must(s.t, err)
		if n == 0 {
			return posts
		}
		posts += n
	}
}

func (s *site) found(user string, words ...string) string {
	s.t.Helper()
	posts, err := s.SearchPosts(s.Ctx, user, strings.Join(words, " "), 10)
	storetest.Must(s.t, err)
	var all []string
	for _, p := range posts {
		all = append(all, fmt.Sprint(p.ID))
	}
	return strings.Join(all, " ")
}

func (s *site) add(user string, list ...author.Post) {
	s.t.Helper()
	_, err := s.posts(s.t).AddPosts(s.Ctx, user, s.Now, list)
	storetest.Must(s.t, err)
}

func (s *site) post(slug, title string, day int, state author.State) author.Post {
	at := s.Now.AddDate(0, 0, day)
	return author.Post{GUID: "g-" + slug, Slug: slug, State: state, CreatedAt: at, UpdatedAt: at, PublishedAt: at, Content: author.Content{Title: title, HTML: "<p>Häfen " + slug + "</p>"}}
}

func foundPosts(t *testing.T, s *site) {
	s.add("alice", s.post("one", "Green Rain", 1, author.Published), s.post("two", "Rain", 2, author.Published), s.post("three", "Rain", 3, author.Draft))
	s.add("bob", s.post("four", "Rain", 4, author.Published))
	if n := s.indexAll(); n != 4 {
		t.Errorf("indexed %d posts", n)
	}
	if n := s.indexAll(); n != 0 {
		t.Errorf("indexed %d posts again", n)
	}
	for words, want := range map[string]string{"rain": "2 1", "green rain": "1", "hafen": "2 1", "rain snow": "", "one": "1", "three": ""} {
		if got := s.found("alice", strings.Fields(words)...); got != want {
			t.Errorf("%s finds %q, want %q", words, got, want)
		}
	}
	if _, err := s.posts(t).WritePost(s.Ctx, author.Writing{User: "alice", ID: 1, At: s.Now, Change: func(now author.Post, _ bool, _ *author.Post, _ author.Writer, _ func(string) (string, error)) (*author.Post, *author.Post, error) {
		now.Title = "Snow"
		return &now, nil, nil
	}}); err != nil {
		t.Fatal(err)
	}
	if n := s.indexAll(); n != 1 {
		t.Errorf("indexed %d posts after a change", n)
	}
	if got := s.found("alice", "green") + "|" + s.found("alice", "snow"); got != "|1" {
		t.Errorf("after the change it finds %s", got)
	}
	if _, err := s.posts(t).WritePost(s.Ctx, author.Writing{User: "alice", ID: 1, At: s.Now, Change: func(now author.Post, _ bool, _ *author.Post, _ author.Writer, _ func(string) (string, error)) (*author.Post, *author.Post, error) {
		now.State = author.Deleted
		return &now, nil, nil
	}}); err != nil {
		t.Fatal(err)
	}
	if got := s.found("alice", "snow"); got != "" {
		t.Errorf("a deleted post is found: %s", got)
	}
}

func sortedSearch(t *testing.T, s *site) {
	s.add("alice", s.post("b", "wind tide", 5, author.Published), s.post("a", "tide tide", 9, author.Published), s.post("c", "tide wind", 7, author.Published))
	s.indexAll()
	if got := s.found("alice", "tide"); got != "2 3 1" {
		t.Errorf("sorted as %s", got)
	}
	if got := s.found("alice", "tide", "wind"); got != "3 1" {
		t.Errorf("sorted as %s", got)
	}
	if posts, err := s.SearchPosts(s.Ctx, "alice", "tide", 1); err != nil || len(posts) != 1 || posts[0].ID != 2 {
		t.Errorf("limited to %v %v", posts, err)
	}
	if posts, err := s.SearchPosts(s.Ctx, "alice", "", 1); err != nil || len(posts) != 0 {
		t.Errorf("without words: %v %v", posts, err)
	}
}

// callSite calls the methods that an author's page uses.
func (e *env) callSite(t *testing.T, user string) {
	t.Helper()
	s := e.Store.(author.SiteStore)
	for {
		n, err := s.IndexPosts(e.Ctx, 100)
		storetest.Must(t, err)
		if n == 0 {
			break
		}
	}
	posts, err := s.SearchPosts(e.Ctx, user, "post 7 post", 20)
	storetest.Must(t, err)
	if len(posts) == 0 {
		t.Error("the search finds nothing")
	}
}
