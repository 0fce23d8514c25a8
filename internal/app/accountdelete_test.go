package app_test

import (
	"strings"
	"testing"

	"cloudburst/client"
)

func TestUserDeletesTheirOwnAccount(t *testing.T) {
	t.Parallel()
	r, alice, bob := administered(t)
	api := &client.Client{Base: r.admin}
	if _, err := api.CreatePost(t.Context(), "bob", client.PostChange{Title: new("Hello"), Source: new("First post")}, ""); err != nil {
		t.Fatal(err)
	}
	elsewhere := signedIn(t, r, "bob")
	bob.shows(200, "Delete this account", `action="/account/delete#s-delete"`, `href="/account/export"`, `href="/feeds/export.opml"`)(bob.open("/account"))
	bob.shows(400, `id="d-name-wrong"><p`)(bob.send("/account/delete", "name", "alice", "password", adminPassword))
	bob.shows(403, `id="d-password-wrong"><p`, "That is not your current password.")(bob.send("/account/delete", "name", "bob", "password", "wrong"))
	anonymous(t, r).shows(200, "Hello")(get(t, r.base+"/bob/rss.xml"))

	bob.shows(200, "Your account is deleted", `action="/login"`)(bob.send("/account/delete", "name", " bob ", "password", adminPassword))
	for _, path := range []string{"/bob/rss.xml", "/bob/feed.json"} {
		if code, _ := get(t, r.base+path); code != 404 {
			t.Errorf("%s of a deleted user answers %d", path, code)
		}
	}
	elsewhere.shows(200, "Sign in")(elsewhere.open("/account"))
	elsewhere.shows(403)(elsewhere.send("/login", "name", "bob", "password", adminPassword))
	alice.shows(200, "<bdi>bob</bdi>", "deleted the user")(alice.open("/admin/audit?actor=bob"))
	alice.shows(409, "belonged to a user who was deleted")(alice.send("/admin/users", "name", "bob", "password", adminPassword))
}

func TestAdministratorsAndTheFirstUserCannotDeleteTheirOwnAccount(t *testing.T) {
	t.Parallel()
	_, alice, bob := administered(t)
	_, body := alice.open("/account")
	if strings.Contains(body, `action="/account/delete#s-delete"`) || !strings.Contains(body, "Administrators cannot delete their own account.") {
		t.Errorf("the account page of an administrator:\n%s", body)
	}
	alice.shows(409, "Administrators cannot delete")(alice.send("/account/delete", "name", "alice", "password", adminPassword))
	alice.shows(200)(alice.send("/admin/users/bob/promote"))
	bob.shows(409, "Administrators cannot delete")(bob.send("/account/delete", "name", "bob", "password", adminPassword))
	bob.shows(200)(bob.send("/admin/users/alice/demote"))
	alice.shows(409, "the first user of this server")(alice.send("/account/delete", "name", "alice", "password", adminPassword))
	alice.shows(200, "Signed in as")(alice.open("/account"))
}

func TestWrongPasswordsOfADeletionAreLimitedLikeSignIns(t *testing.T) {
	t.Parallel()
	_, _, bob := administered(t)
	for range 10 {
		bob.shows(403)(bob.send("/account/delete", "name", "bob", "password", "wrong"))
	}
	bob.shows(429, "too many failed attempts")(bob.send("/account/delete", "name", "bob", "password", adminPassword))
	bob.shows(200, "Signed in as")(bob.open("/account"))
}

func TestUserSignsOutAllOtherBrowsers(t *testing.T) {
	t.Parallel()
	r, alice, bob := administered(t)
	const button = "Sign out all other browsers"
	if _, body := bob.open("/account"); strings.Contains(body, button) {
		t.Error("the only session has a button to end other sessions")
	}
	other, third := signedIn(t, r, "bob"), signedIn(t, r, "bob")
	bob.shows(200, button)(bob.open("/account"))
	bob.shows(200, "All other browsers are signed out.", "this browser")(bob.send("/account/sessions/end", "others", "yes"))
	for _, b := range []*browser{other, third} {
		b.shows(200, "Sign in")(b.open("/account"))
	}
	alice.shows(200, "Signed in as")(alice.open("/account"))
}
