package authortest

import (
	"strings"
	"testing"
	"time"

	"cloudburst/internal/account"
	"cloudburst/internal/author"
	"cloudburst/internal/people"
	"cloudburst/internal/river"
	"cloudburst/internal/store/storetest"
)

func peopleTests() map[string]func(*testing.T, *env) {
	return map[string]func(*testing.T, *env){
		"AuthorsWithFeedsAreListedByName": listAuthors,
		"FollowersOfASourceAreListed":     listFollowers,
	}
}

// peopleOf returns the store of package people.
func (e *env) peopleOf(t *testing.T) people.Store {
	t.Helper()
	s, ok := e.Store.(people.Store)
	if !ok {
		t.Fatalf("%T does not list people", e.Store)
	}
	return s
}

func listAuthors(t *testing.T, e *env) {
	s := e.peopleOf(t)
	users := e.Store.(account.Store)
	for _, name := range []string{"alice", "bob", "carol", "dave"} {
		storetest.Must(t, users.AddUser(e.Ctx, account.User{Name: name, CreatedAt: e.Now, PasswordAt: e.Now}, "hash", false))
	}
	e.newPost(t, "alice", "One", author.Published)
	last := e.newPost(t, "alice", "Two", author.Published, func(p *author.Post) { p.PublishedAt = e.Now.Add(time.Hour) })
	e.newPost(t, "bob", "Draft", author.Draft)
	e.newPost(t, "carol", "Three", author.Published)
	e.newPost(t, "dave", "Four", author.Published)
	for _, name := range []string{"alice", "carol", "dave"} {
		_, _, err := e.Store.(author.Store).SaveDocument(e.Ctx, author.Saving{User: name, Name: author.Public, At: e.Now, Type: "text/xml", Bytes: []byte("<rss/>"), Hash: make([]byte, 32)})
		storetest.Must(t, err)
	}
	storetest.Must(t, users.DisableUser(e.Ctx, "dave", true, e.Now))
	storetest.Must(t, users.SetPreferences(e.Ctx, "carol", `{"unlisted":true}`))
	_, err := e.posts(t).SetProfile(e.Ctx, "alice", func(p *author.Profile) error { p.Name = "Alice A."; return nil })
	storetest.Must(t, err)
	list, err := s.Authors(e.Ctx, "", 10)
	storetest.Must(t, err)
	if len(list) != 2 || list[0].User != "alice" || list[1].User != "carol" || list[0].Posts != 2 || list[0].Profile.Name != "Alice A." || !list[0].LastAt.Equal(last.PublishedAt) || list[1].Preferences != `{"unlisted":true}` {
		t.Errorf("%+v", list)
	}
	if list, err = s.Authors(e.Ctx, "alice", 1); err != nil || len(list) != 1 || list[0].User != "carol" {
		t.Errorf("%+v %v", list, err)
	}
	got, err := s.PreferencesOf(e.Ctx, "carol", "alice", "dave", "nobody")
	for name, want := range map[string]string{"carol": `{"unlisted":true}`, "alice": "", "dave": "", "nobody": ""} {
		if got[name] != want || err != nil {
			t.Errorf("%s: %q %v", name, got[name], err)
		}
	}
	if len(got) != 2 {
		t.Errorf("%q", got)
	}
	if got, err := s.PreferencesOf(e.Ctx); err != nil || len(got) != 0 {
		t.Errorf("%q %v", got, err)
	}
}

func listFollowers(t *testing.T, e *env) {
	s, rivers := e.peopleOf(t), e.Store.(river.Store)
	follow := func(reader, url string) {
		src := river.Source{ID: river.SourceID(url), URL: url, CreatedAt: e.Now}
		_, err := rivers.RiverSubscribe(e.Ctx, []river.Addition{{Subscription: river.Subscription{Reader: reader, SourceID: src.ID, AddedAt: e.Now}, Source: src}}, e.Now, 100)
		storetest.Must(t, err)
	}
	const rss, atom = "https://here.example/alice/rss.xml", "https://here.example/alice/feed.atom"
	follow("bob", rss)
	follow("bob", atom)
	follow("", atom)
	follow("carol", "https://here.example/bob/rss.xml")
	ids := []int64{river.SourceID(rss), river.SourceID(atom)}
	if got, err := s.FollowersOf(e.Ctx, ids, 10); err != nil || strings.Join(got, "|") != "|bob" {
		t.Errorf("%q %v", got, err)
	}
	if got, err := s.FollowersOf(e.Ctx, ids, 1); err != nil || len(got) != 1 {
		t.Errorf("%q %v", got, err)
	}
	if got, err := s.FollowersOf(e.Ctx, nil, 10); err != nil || len(got) != 0 {
		t.Errorf("%q %v", got, err)
	}
}
