package app

import (
	"testing"

	"cloudburst/internal/account"
	"cloudburst/internal/author"
	"cloudburst/internal/fetch"
	"cloudburst/internal/river"
)

// TestAuthorFollowsOwnFeedAfterFirstPost saves first posts in ways other than the composer
// page, and saves a document. If an author unfollows their feed later, the next post must not
// make them follow it again.
func TestAuthorFollowsOwnFeedAfterFirstPost(t *testing.T) {
	t.Parallel()
	a := program(t)
	write := signUp(t, a, "alice", "bob", "carol", "dave")
	if err := a.accounts.SetPreferences(t.Context(), "carol", account.Preferences{NoOwnPosts: true}); err != nil {
		t.Fatal(err)
	}
	source := func(user string) int64 { return river.SourceID(a.names.Public() + "/" + user + "/rss.xml") }
	follows := func(user string) bool {
		t.Helper()
		list, err := a.river.Following(t.Context(), a.owners.readerOf(user))
		if err != nil {
			t.Fatal(err)
		}
		return list[source(user)]
	}
	if _, err := a.posts.Save(t.Context(), author.Edit{User: "bob", To: author.Draft, Via: "test", Change: func(c *author.Content) error {
		c.Source = "Later"
		return nil
	}}); err != nil {
		t.Fatal(err)
	}
	if follows("bob") {
		t.Error("a draft was enough")
	}
	write("bob", "First")
	write("carol", "First")
	doc := `<rss version="2.0"><channel><title>Dave</title><link>https://dave.example/</link><description>x</description></channel></rss>`
	if _, err := a.authors.Save(t.Context(), "dave", author.Public, []byte(doc), "saveRss"); err != nil {
		t.Fatal(err)
	}
	for user, want := range map[string]bool{"alice": false, "bob": true, "carol": false, "dave": false} {
		if got := follows(user); got != want {
			t.Errorf("%s follows the own feed: %t", user, got)
		}
	}
	if err := a.river.Remove(t.Context(), a.owners.readerOf("bob"), source("bob")); err != nil {
		t.Fatal(err)
	}
	write("bob", "Second")
	if follows("bob") {
		t.Error("bob follows the own feed again")
	}
}

// The paths /riverdale/ and /feedsmith/ begin like those of the river and its feeds, whose pages the
// river does not read.
func TestFeedOfAUserNamedLikeAPageIsRead(t *testing.T) {
	t.Parallel()
	a := program(t)
	write := signUp(t, a, "alice", "riverdale", "feedsmith")
	for _, user := range []string{"riverdale", "feedsmith"} {
		write(user, "First")
		res, err := a.river.Fetch.Get(t.Context(), fetch.Request{URL: a.names.Public() + "/" + user + "/rss.xml"})
		if err != nil || res.Status != 200 {
			t.Errorf("%s: %v", user, err)
		}
	}
	for _, path := range []string{"/river", "/rivers/alice/News", "/rivers/alice/News/feed.rss", "/rivers/alice/opml", "/feeds.opml", "/feeds/1"} {
		if _, err := a.river.Fetch.Get(t.Context(), fetch.Request{URL: a.names.Public() + path}); fetch.KindOf(err) != fetch.Refused {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestPublicCategoryCanBeFollowedAsReadingList(t *testing.T) {
	t.Parallel()
	a := program(t)
	write := signUp(t, a, "alice", "bob")
	write("alice", "First")
	feed := a.names.Public() + "/alice/rss.xml"
	reader := a.owners.readerOf("alice")
	if _, err := a.river.Add(t.Context(), river.Request{Reader: reader, URL: feed, Categories: []string{"My News"}}); err != nil {
		t.Fatal(err)
	}
	if err := a.river.PutCategory(t.Context(), reader, "My News", true); err != nil {
		t.Fatal(err)
	}
	got, err := a.river.Import(t.Context(), a.owners.readerOf("bob"), nil, river.ImportOptions{URL: a.names.Public() + "/rivers/alice/My%20News/opml", Follow: true})
	if err != nil || got.Lists != 1 || got.Found != 1 {
		t.Errorf("%+v %v", got, err)
	}
}
