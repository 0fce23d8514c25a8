package app_test

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"cloudburst/client"
	"cloudburst/internal/config"
)

const adminPassword = "correct horse battery"

// browser is an HTTP client that keeps cookies and follows redirects.
type browser struct {
	t    *testing.T
	base string
	http http.Client
}

// signedIn returns a browser in which the user is signed in.
func signedIn(t *testing.T, r *running, name string) *browser {
	t.Helper()
	b := anonymous(t, r)
	if code, body := b.send("/login", "name", name, "password", adminPassword, "next", "/account"); code != 200 || !strings.Contains(body, "Signed in as") {
		t.Fatalf("sign in as %s: %d %s", name, code, body)
	}
	return b
}

func anonymous(t *testing.T, r *running) *browser {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &browser{t, r.base, http.Client{Jar: jar}}
}

func (b *browser) read(res *http.Response, err error) (int, string) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return res.StatusCode, string(body)
}

func (b *browser) open(path string) (int, string) {
	b.t.Helper()
	return b.read(b.http.Get(b.base + path))
}

func (b *browser) send(path string, fields ...string) (int, string) {
	b.t.Helper()
	form := url.Values{}
	for i := 0; i < len(fields); i += 2 {
		form.Set(fields[i], fields[i+1])
	}
	return b.read(b.http.PostForm(b.base+path, form))
}

// shows returns a function that checks the status of a page and that the page contains all words.
func (b *browser) shows(want int, words ...string) func(int, string) {
	return func(code int, body string) {
		b.t.Helper()
		if code != want {
			b.t.Errorf("status %d, want %d: %s", code, want, body)
		}
		for _, w := range words {
			if !strings.Contains(body, w) {
				b.t.Errorf("the page does not contain %q:\n%s", w, body)
			}
		}
	}
}

// administered starts a server with the users alice and bob. alice is the first user and
// therefore an administrator; bob is an ordinary user. Both are signed in.
func administered(t *testing.T) (r *running, alice, bob *browser) {
	t.Helper()
	cfg := conf(t, t.TempDir())
	for _, s := range config.Settings() {
		cfg.Values = append(cfg.Values, config.Value{Setting: s, Text: s.Default, Source: config.FromDefault})
	}
	r = start(t, cfg)
	for _, name := range []string{"alice", "bob"} {
		if _, err := (&client.Client{Base: r.admin}).AddUser(t.Context(), name, adminPassword); err != nil {
			t.Fatal(err)
		}
	}
	return r, signedIn(t, r, "alice"), signedIn(t, r, "bob")
}

func TestOnlyAdministratorsCanOpenAdministrationPages(t *testing.T) {
	t.Parallel()
	r, alice, bob := administered(t)
	for _, path := range []string{"/admin", "/admin/users", "/admin/users/bob", "/admin/users/bob/delete", "/admin/invites", "/admin/settings", "/admin/blocks",
		"/admin/subscriptions", "/admin/backups", "/admin/audit"} {
		alice.shows(200, "<h1", `href="/admin/audit"`)(alice.open(path))
		bob.shows(403, "You are signed in as bob")(bob.open(path))
	}
	for _, path := range []string{"/admin/users/alice/disable", "/admin/users", "/admin/blocks", "/admin/backups", "/admin/settings"} {
		bob.shows(403, "For administrators only")(bob.send(path))
	}
	if _, body := bob.open("/account"); strings.Contains(body, "/admin") {
		t.Error("the pages of an ordinary user link to the administration")
	}
	nobody := anonymous(t, r)
	nobody.shows(200, "Sign in")(nobody.open("/admin/users"))
	// The new role takes effect at once in a session that is already open.
	alice.shows(200, "bob is an administrator now.", `action="/admin/users/bob/demote"`)(alice.send("/admin/users/bob/promote"))
	bob.shows(200, "Users")(bob.open("/admin/users"))
	alice.shows(200, "bob is no longer an administrator.")(alice.send("/admin/users/bob/demote"))
	bob.shows(403)(bob.open("/admin/users"))
}

func TestAdministratorManagesUsers(t *testing.T) {
	t.Parallel()
	r, alice, bob := administered(t)
	alice.shows(400, `id="c-name-wrong"><p`)(alice.send("/admin/users", "name", "Carol!", "password", adminPassword))
	alice.shows(409, `id="c-name-wrong"><p`)(alice.send("/admin/users", "name", "bob", "password", adminPassword))
	alice.shows(400, `id="c-password-wrong"><p`)(alice.send("/admin/users", "name", "carol", "password", "short"))
	alice.shows(200, "The user is created.")(alice.send("/admin/users", "name", "carol", "password", adminPassword))
	signedIn(t, r, "carol")
	alice.shows(200, ">carol<")(alice.open("/admin/users?q=AROL"))
	alice.shows(200, "No user matches.")(alice.open("/admin/users?q=nobody"))

	alice.shows(200, "bob is disabled.", `action="/admin/users/bob/enable"`)(alice.send("/admin/users/bob/disable"))
	bob.shows(200, "Sign in")(bob.open("/account"))
	alice.shows(200, "bob can sign in again.")(alice.send("/admin/users/bob/enable"))
	bob = signedIn(t, r, "bob")
	alice.shows(200, "The password of bob is changed")(alice.send("/admin/users/bob/password", "password", "another long one"))
	bob.shows(200, "Sign in")(bob.open("/account"))

	for _, action := range []string{"disable", "demote"} {
		alice.shows(409, "another administrator")(alice.send("/admin/users/alice/" + action))
	}
	alice.shows(404, "There is no user")(alice.send("/admin/users/nobody/disable"))
	alice.shows(404)(alice.open("/admin/users/nobody"))
}

func TestDeletingAUserNeedsThePassword(t *testing.T) {
	t.Parallel()
	r, alice, _ := administered(t)
	api := &client.Client{Base: r.admin}
	if _, err := api.CreatePost(t.Context(), "bob", client.PostChange{Title: new("Hello"), Source: new("First post")}, ""); err != nil {
		t.Fatal(err)
	}
	code, body := alice.open("/admin/users/bob/export")
	if code != 200 || !strings.HasPrefix(body, "PK") {
		t.Errorf("the export: %d, %d bytes", code, len(body))
	}
	alice.shows(403, "That is not your password.")(alice.send("/admin/users/bob/delete", "password", "wrong"))
	anonymous(t, r).shows(200, "Hello")(get(t, r.base+"/bob/"))
	alice.shows(200, "The user is deleted.")(alice.send("/admin/users/bob/delete", "password", adminPassword))
	if code, _ := get(t, r.base+"/bob/rss.xml"); code != 404 {
		t.Errorf("the feed of a deleted user answers %d", code)
	}
	if _, body := get(t, r.base+"/bob/"); strings.Contains(body, "Hello") {
		t.Error("a post of a deleted user is still shown")
	}
	alice.shows(404)(alice.open("/admin/users/bob"))
	alice.shows(409, "belonged to a user who was deleted")(alice.send("/admin/users", "name", "bob", "password", adminPassword))
	alice.shows(409, "your own account")(alice.send("/admin/users/alice/delete", "password", adminPassword))
	alice.shows(200, "deleted the user", "exported the user", "failed: ", "belonged to a user")(alice.open("/admin/audit?action=user"))
	if _, body := alice.open("/admin/audit?action=block"); strings.Contains(body, "deleted the user") {
		t.Error("the filter by action has no effect")
	}
}

func TestInvitedUserSignsUpWhileRegistrationIsClosed(t *testing.T) {
	t.Parallel()
	r, alice, _ := administered(t)
	carol := anonymous(t, r)
	carol.shows(404, "Sign-up is closed")(carol.open("/signup"))
	_, body := alice.send("/admin/invites", "note", "for Carol", "days", "7")
	link := regexp.MustCompile(`/signup\?invite=[\w-]+`).FindString(body)
	if link == "" {
		t.Fatalf("the page shows no link:\n%s", body)
	}
	carol.shows(200, `name="invite"`)(carol.open(link))
	_, secret, _ := strings.Cut(link, "=")
	carol.shows(400, `id="c-password-wrong"><p`, `name="invite"`)(carol.send("/signup", "invite", secret, "name", "carol", "password", "short"))
	carol.shows(200)(carol.send("/signup", "invite", secret, "name", "carol", "password", adminPassword))
	carol.shows(200, "Signed in as")(carol.open("/account"))
	dave := anonymous(t, r)
	dave.shows(403, "This invitation has already been used")(dave.open(link))
	dave.shows(403, "This invitation has already been used")(dave.send("/signup", "invite", secret, "name", "dave", "password", adminPassword))
	alice.shows(200, "for Carol", `href="/admin/users/carol"`)(alice.open("/admin/invites"))
}

func TestRegistrationIsOpenedAndResetAtRunTime(t *testing.T) {
	t.Parallel()
	r, alice, _ := administered(t)
	alice.shows(400, "it must be one of closed, open")(alice.send("/admin/settings", "name", "accounts.registration", "value", "ajar"))
	alice.shows(404)(alice.send("/admin/settings", "name", "listen", "value", ":80"))
	alice.shows(200, "The setting is changed.", "Changed here by <bdi>alice</bdi>", `value="closed"`)(alice.send("/admin/settings", "name", "accounts.registration", "value", "open"))
	visitor := anonymous(t, r)
	visitor.shows(200, "Create an account")(visitor.open("/signup"))
	alice.shows(200, "configured value again")(alice.send("/admin/settings/reset", "name", "accounts.registration"))
	visitor.shows(404, "Sign-up is closed")(visitor.open("/signup"))
}

func TestBlockedHostIsNeitherReadNorNotified(t *testing.T) {
	t.Parallel()
	r, alice, _ := administered(t)
	f := newFeed(t)
	host := strings.TrimPrefix(f.URL, "http://")
	host, _, _ = strings.Cut(host, ":")
	if _, body := post(t, r.base+"/rsscloud/ping", url.Values{"url": {f.URL + "/rss.xml"}}); strings.Contains(body, "blocked") {
		t.Fatal(body)
	}
	alice.shows(400, `id="b-value-wrong"><p`)(alice.send("/admin/blocks", "block", "no host"))
	alice.shows(200, "Blocked.", "/admin/blocks/remove")(alice.send("/admin/blocks", "block", host, "reason", "test"))
	if _, body := post(t, r.base+"/rsscloud/ping", url.Values{"url": {f.URL + "/rss.xml"}}); !strings.Contains(body, "blocked by an administrator") {
		t.Errorf("a ping for a blocked host: %s", body)
	}
	alice.shows(200, "The block is removed.")(alice.send("/admin/blocks/remove", "kind", "network", "value", host+"/32"))
	if _, body := post(t, r.base+"/rsscloud/ping", url.Values{"url": {f.URL + "/rss.xml"}}); strings.Contains(body, "blocked") {
		t.Errorf("after removing the block: %s", body)
	}
}

func TestBackupIsCreatedVerifiedDownloadedAndDeleted(t *testing.T) {
	t.Parallel()
	_, alice, bob := administered(t)
	_, body := alice.send("/admin/backups")
	name := regexp.MustCompile(`cloudburst-\d{8}T\d{6}Z\.db`).FindString(body)
	if name == "" {
		t.Fatalf("the page lists no backup:\n%s", body)
	}
	alice.shows(200, "The backup is complete")(alice.send("/admin/backups/" + name + "/verify"))
	if code, body := alice.open("/admin/backups/" + name); code != 200 || !strings.HasPrefix(body, "SQLite format 3") {
		t.Errorf("the download: %d, %d bytes", code, len(body))
	}
	bob.shows(403)(bob.open("/admin/backups/" + name))
	alice.shows(404)(alice.open("/admin/backups/secret.key"))
	alice.shows(200, "Delete this backup?")(alice.send("/admin/backups/" + name + "/delete"))
	alice.shows(200, "The backup is deleted.")(alice.send("/admin/backups/"+name+"/delete", "sure", "yes"))
	alice.shows(200, "downloaded the backup", "deleted the backup")(alice.open("/admin/audit?action=backup"))
}

func TestOperatorManagesServerThroughTheAPI(t *testing.T) {
	t.Parallel()
	r, alice, bob := administered(t)
	api := client.Admin{Client: &client.Client{Base: r.admin}}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	u, err := api.SetAdministrator(t.Context(), "bob", true)
	must(err)
	if !u.Administrator {
		t.Errorf("user: %+v", u)
	}
	bob.shows(200)(bob.open("/admin"))
	i, err := api.Invite(t.Context(), "for Carol", 3)
	must(err)
	carol := anonymous(t, r)
	carol.shows(200, `name="invite"`)(carol.read(carol.http.Get(i.URL)))
	must(api.RevokeInvite(t.Context(), i.ID))
	b, err := api.AddBlock(t.Context(), "Spam.example", "spam")
	must(err)
	list, err := api.Blocks(t.Context())
	must(err)
	if b.Kind != "host" || len(list) != 1 || list[0] != b {
		t.Errorf("blocks: %+v, added %+v", list, b)
	}
	must(api.RemoveBlock(t.Context(), "spam.example"))
	s, err := api.SetSetting(t.Context(), "accounts.registration", "open")
	must(err)
	if s.Value != "open" || s.Configured != "closed" || s.ChangedAt == nil {
		t.Errorf("setting: %+v", s)
	}
	_, err = api.ResetSetting(t.Context(), "accounts.registration")
	must(err)
	alice.shows(200)(alice.send("/admin/backups"))
	backups, err := api.Backups(t.Context())
	must(err)
	if len(backups) != 1 {
		t.Fatalf("backups: %+v", backups)
	}
	sum, err := api.VerifyBackup(t.Context(), backups[0].Name)
	must(err)
	if len(sum) != 64 {
		t.Errorf("sum %q", sum)
	}
	must(api.DeleteUser(t.Context(), "bob"))
	if err := api.DeleteUser(t.Context(), "alice"); err == nil {
		t.Error("the first user is deleted")
	}
	var actions []string
	for e, err := range api.Audit(t.Context(), client.AuditQuery{Actor: "-"}) {
		must(err)
		actions = append(actions, e.Action)
	}
	want := "user.delete user.delete backup.verify setting.reset setting.change block.remove block.add user.revoke-invite user.invite user.promote user.create user.create"
	if got := strings.Join(actions, " "); got != want {
		t.Errorf("the operator's actions:\n%s\nwant\n%s", got, want)
	}
}
