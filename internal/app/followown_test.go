package app

import (
	"testing"

	"cloudburst/internal/account"
	"cloudburst/internal/author"
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
