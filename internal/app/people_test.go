package app

import (
	"strings"
	"testing"

	"cloudburst/client"
	"cloudburst/internal/account"
	"cloudburst/internal/author"
)

// TestDirectoryAndThreadsHideUnlistedAuthorsAndPrivateReplies reads the directory of authors and a thread with the
// token of a user. The results must contain neither an author who is not listed nor a reply that
// is visible only to a group.
//
// spec:cloudburst#private-threads
func TestDirectoryAndThreadsHideUnlistedAuthorsAndPrivateReplies(t *testing.T) {
	t.Parallel()
	s := newPrivateScene(t)
	write := signUp(t, s.App, "bob", "carol")
	write("carol", "I am not listed.")
	if err := s.accounts.SetPreferences(t.Context(), "carol", account.Preferences{Unlisted: true}); err != nil {
		t.Fatal(err)
	}
	s.people.Forget()
	top := write("bob", "The heron is back.")
	reply := func(user, text string, to author.Post, groups ...string) author.Post {
		t.Helper()
		p, err := s.posts.Save(t.Context(), author.Edit{User: user, To: author.Published, Via: "test", Change: func(c *author.Content) error {
			c.Source, c.Groups, c.Reply = text, groups, &author.Reply{URL: s.posts.Address(to)}
			return nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	first := reply("carol", "I saw it.", top)
	second := reply("bob", "Where?", first)
	reply("alice", "Text "+hiddenWord, top, "family")

	river := (&client.Client{Base: s.names.Public(), Token: s.visitor("eve").token}).River("")
	var users []string
	for one, err := range river.People(t.Context(), "", 0) {
		if err != nil {
			t.Fatal(err)
		}
		users = append(users, one.User)
	}
	if got := strings.Join(users, " "); got != "bob alice" {
		t.Errorf("the directory lists %s", got)
	}
	var texts []string
	for one, err := range river.Replies(t.Context(), s.posts.Address(top)) {
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, one.User+" "+one.HTML)
	}
	if got := strings.Join(texts, "\n"); got != "carol <p>I saw it.</p>\nbob <p>Where?</p>" {
		t.Errorf("the thread is %s", got)
	}
	th, err := river.Thread(t.Context(), s.posts.Address(second), "")
	if err != nil || len(th.Replies) != 0 || len(th.Above) != 2 || th.Above[0].URL != s.posts.Address(top) || th.Above[1].URL != s.posts.Address(first) {
		t.Errorf("%+v, %v", th, err)
	}
	for _, unknown := range []string{s.post.GUID, s.names.Public() + "/bob/", "http://nowhere.example/1"} {
		if th, err := river.Thread(t.Context(), unknown, ""); !client.IsNotFound(err) {
			t.Errorf("the thread of %s: %+v, %v", unknown, th, err)
		}
	}
}
