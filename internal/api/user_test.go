package api

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cloudburst/client"
	"cloudburst/internal/account"
	"cloudburst/internal/audience"
	"cloudburst/internal/event"
	"cloudburst/internal/fault"
)

// fakeAccounts stores users, tokens and secrets in memory. It implements only what the API uses.
type fakeAccounts struct {
	mu        sync.Mutex
	users     []account.User // sorted by name
	passwords map[string]string
	tokens    []account.Token
	secrets   []account.Secret
}

func newFakeAccounts(names ...string) *fakeAccounts {
	w := &fakeAccounts{passwords: map[string]string{}}
	for _, n := range names {
		w.users = append(w.users, account.User{Name: n, CreatedAt: start(), PasswordAt: start()})
	}
	return w
}

func (w *fakeAccounts) at(name string) (int, error) {
	i, ok := slices.BinarySearchFunc(w.users, name, func(u account.User, n string) int { return strings.Compare(u.Name, n) })
	if !ok {
		return i, fault.New(fault.NotFound, "There is no user %s.", name)
	}
	return i, nil
}

func (w *fakeAccounts) Add(_ context.Context, name, password string) (account.User, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	i, err := w.at(name)
	switch {
	case err == nil:
		return account.User{}, fault.New(fault.Conflict, "The name %s is taken.", name)
	case password == "":
		return account.User{}, fault.New(fault.Invalid, "The password is empty.")
	}
	u := account.User{Name: name, CreatedAt: start(), PasswordAt: start()}
	w.users = slices.Insert(w.users, i, u)
	w.passwords[name] = password
	return u, nil
}

func (w *fakeAccounts) Users(_ context.Context, after string, limit int) ([]account.User, error) {
	i := 0
	for i < len(w.users) && w.users[i].Name <= after {
		i++
	}
	return w.users[i:min(i+limit, len(w.users))], nil
}

func (w *fakeAccounts) User(_ context.Context, name string) (account.User, error) {
	i, err := w.at(name)
	if err != nil {
		return account.User{}, err
	}
	return w.users[i], nil
}

func (w *fakeAccounts) SetPassword(_ context.Context, name, password string) error {
	if _, err := w.at(name); err != nil {
		return err
	}
	w.passwords[name] = password
	return nil
}

func (w *fakeAccounts) Disable(_ context.Context, name string, disabled bool) error {
	i, err := w.at(name)
	if err == nil {
		w.users[i].Disabled = disabled
	}
	return err
}

func (w *fakeAccounts) NewToken(_ context.Context, user, label string, scopes []string) (string, account.Token, error) {
	if _, err := w.at(user); err != nil {
		return "", account.Token{}, err
	}
	if len(scopes) == 0 || !slices.Contains(account.Scopes(), scopes[0]) {
		return "", account.Token{}, fault.New(fault.Invalid, "There is no such scope.")
	}
	t := account.Token{ID: "t1", User: user, Label: label, Scopes: scopes, CreatedAt: start()}
	w.tokens = append(w.tokens, t)
	return "plain-token", t, nil
}

func (w *fakeAccounts) Tokens(_ context.Context, user string) ([]account.Token, error) {
	return w.tokens, nil
}

func (w *fakeAccounts) RevokeToken(_ context.Context, user, id string) error {
	for i, t := range w.tokens {
		if t.User == user && t.ID == id {
			w.tokens = slices.Delete(w.tokens, i, i+1)
			return nil
		}
	}
	return fault.New(fault.NotFound, "%s has no token %s.", user, id)
}

func (w *fakeAccounts) NewSecret(_ context.Context, user, feed, reader string) (account.Secret, error) {
	if _, err := w.at(user); err != nil {
		return account.Secret{}, err
	}
	if reader == "" {
		return account.Secret{}, fault.New(fault.Invalid, "The reader has no name.")
	}
	s := account.Secret{Selector: "s1", User: user, Feed: feed, Reader: reader, CreatedAt: start()}
	w.secrets = append(w.secrets, s)
	s.Plain = "plain-secret"
	return s, nil
}

func (w *fakeAccounts) Secrets(_ context.Context, user, feed string) ([]account.Secret, error) {
	return w.secrets, nil
}

func (w *fakeAccounts) RevokeSecret(_ context.Context, user, selector string) error {
	for i, s := range w.secrets {
		if s.User == user && s.Selector == selector {
			w.secrets = slices.Delete(w.secrets, i, i+1)
			return nil
		}
	}
	return fault.New(fault.NotFound, "%s has no secret %s.", user, selector)
}

// expectation is a request and the expected status of its response. route is the path in the OpenAPI
// document; "": the path of the request.
type expectation struct {
	method, path, route, body string
	status                    int
}

// checkResponses sends each request and checks its response against the OpenAPI document. It returns
// the bodies of all responses.
func checkResponses(t *testing.T, o Options, list []expectation) (all string) {
	t.Helper()
	doc, err := document()
	if err != nil {
		t.Fatal(err)
	}
	o.Hub, o.Bus = newFakeHub(), event.NewBus(1)
	_, srv := serveWith(t, o)
	for _, d := range list {
		if d.route == "" {
			d.route, _, _ = strings.Cut(d.path, "?")
		}
		res, body := do(t, srv, d.method, d.path, "application/json", d.body)
		if all += body; res.StatusCode != d.status {
			t.Errorf("%s %s: %d %s", d.method, d.path, res.StatusCode, body)
			continue
		}
		if err := checkAnswer(doc, d.method, d.route, res, body); err != nil {
			t.Errorf("%s %s: %v\n%s", d.method, d.path, err, body)
		}
	}
	return all
}

func TestUserResponsesMatchSchema(t *testing.T) {
	t.Parallel()
	const one, tokens = "/v1/users/{user}", "/v1/users/{user}/tokens"
	w := newFakeAccounts("carol", "dave")
	all := checkResponses(t, Options{Accounts: w}, []expectation{
		{"GET", "/v1/users?limit=1", "", "", 200},
		{"GET", "/v1/users?after=carol", "", "", 200},
		{"GET", "/v1/users?limit=none", "", "", 400},
		{"POST", "/v1/users", "", `{"name":"alice","password":"shown-to-nobody"}`, 200},
		{"POST", "/v1/users", "", `{"name":"alice","password":"shown-to-nobody"}`, 409},
		{"POST", "/v1/users", "", `{"name":"bob","password":""}`, 400},
		{"POST", "/v1/users", "", `{"name":"bob","pass":"shown-to-nobody"}`, 400},
		{"POST", "/v1/users", "", `{"name":"bob","password":"shown-to-nobody`, 400},
		{"GET", "/v1/users/alice", one, "", 200},
		{"GET", "/v1/users/alice?all=1", one, "", 400},
		{"GET", "/v1/users/nobody", one, "", 404},
		{"POST", "/v1/users/alice/password", one + "/password", `{"password":"shown-to-nobody, either"}`, 200},
		{"POST", "/v1/users/nobody/password", one + "/password", `{"password":"shown-to-nobody"}`, 404},
		{"POST", "/v1/users/alice/disabled", one + "/disabled", `{"disabled":true}`, 200},
		{"POST", "/v1/users/alice/disabled", one + "/disabled", `{"disabled":false}`, 200},
		{"POST", "/v1/users/alice/disabled", one + "/disabled", `{}`, 400},
		{"POST", "/v1/users/nobody/disabled", one + "/disabled", `{"disabled":true}`, 404},
		{"GET", "/v1/users/alice/tokens", tokens, "", 200},
		{"POST", "/v1/users/alice/tokens", tokens, `{"label":"phone","scopes":["create","read"]}`, 200},
		{"POST", "/v1/users/alice/tokens", tokens, `{"scopes":["all"]}`, 400},
		{"POST", "/v1/users/nobody/tokens", tokens, `{"scopes":["read"]}`, 404},
		{"GET", "/v1/users/alice/tokens", tokens, "", 200},
		{"GET", "/v1/users/nobody/tokens", tokens, "", 404},
		{"DELETE", "/v1/users/alice/tokens/t1", tokens + "/{id}", "", 200},
		{"DELETE", "/v1/users/alice/tokens/t1", tokens + "/{id}", "", 404},
	})
	if w.passwords["alice"] != "shown-to-nobody, either" {
		t.Errorf("the password is %q", w.passwords["alice"])
	}
	if strings.Contains(all, "shown-to-nobody") {
		t.Errorf("a password is shown: %s", all)
	}
	if n := strings.Count(all, "plain-token"); n != 1 {
		t.Errorf("a token is shown %d times", n)
	}
}

func TestSecretResponsesMatchSchema(t *testing.T) {
	t.Parallel()
	const secrets = "/v1/feeds/{user}/private/secrets"
	o := Options{Accounts: newFakeAccounts("alice"), PublicURL: "https://one.example", Origin: func() string { return "https://cloud.example" }}
	all := checkResponses(t, o, []expectation{
		{"GET", "/v1/feeds/alice/private/secrets", secrets, "", 200},
		{"POST", "/v1/feeds/alice/private/secrets", secrets, `{"reader":"Bob: at home"}`, 200},
		{"POST", "/v1/feeds/alice/private/secrets", secrets, `{"reader":""}`, 400},
		{"POST", "/v1/feeds/nobody/private/secrets", secrets, `{"reader":"Bob"}`, 404},
		{"GET", "/v1/feeds/alice/private/secrets", secrets, "", 200},
		{"GET", "/v1/feeds/nobody/private/secrets", secrets, "", 404},
		{"DELETE", "/v1/feeds/alice/private/secrets/s1", secrets + "/{selector}", "", 200},
		{"DELETE", "/v1/feeds/alice/private/secrets/s1", secrets + "/{selector}", "", 404},
	})
	if !strings.Contains(all, `"ways":{"url":"https://cloud.example/alice/private/s1.plain-secret/rss.xml","address":"https://cloud.example/alice/private/rss.xml","name":"s1","password":"plain-secret"}`) {
		t.Errorf("unexpected access: %s", all)
	}
	if n := strings.Count(all, "plain-secret"); n != 2 {
		t.Errorf("a secret is shown %d times", n)
	}
}

// fullReport returns a report with sample values. days is the number of days of the last request.
type fullReport struct{ days int }

func (r *fullReport) Report(_ context.Context, user string, days int) (audience.Report, error) {
	r.days = days
	out := audience.Report{User: user, At: start(), WindowDays: 3, Readers: 10, Partial: true, NotCounted: audience.NotCounted{Browsers: 5, Robots: 6}}
	out.Services = audience.Services{Readers: 4, List: []audience.ServiceRow{{Name: "Far", Format: "atom", Subscribers: 4, LastAt: start()}}}
	out.Programs = audience.Programs{Readers: 3, Once: 1, List: []audience.Count{{Name: "Near", N: 3}}}
	out.Push = audience.Push{Subscriptions: 7, Readers: 2, List: []audience.Count{{Name: "websub", N: 7}}}
	out.Private.Readers = 1
	out.Here = audience.Here{Followers: 2, Names: []string{"bob"}}
	out.Mail = audience.Mail{Each: 1, Daily: 2, Weekly: 3, Waiting: 4}
	out.Days = []audience.Day{{Day: start(), Readers: 10, Services: 4, Programs: 3, Push: 2, Private: 1, Requests: 90, NotModified: 80}}
	return out, nil
}

func TestReaderResponsesMatchSchema(t *testing.T) {
	t.Parallel()
	const one = "/v1/users/{user}/readers"
	r := &fullReport{}
	o := Options{Accounts: newFakeAccounts("alice"), Audience: r}
	checkResponses(t, o, []expectation{
		{"GET", "/v1/users/alice/readers", one, "", 200},
		{"GET", "/v1/users/nobody/readers", one, "", 404},
		{"GET", "/v1/users/alice/readers?days=0", one, "", 400},
		{"GET", "/v1/users/alice/readers?days=3661", one, "", 400},
		{"GET", "/v1/users/alice/readers?weeks=1", one, "", 400},
	})
	checkResponses(t, Options{Accounts: o.Accounts}, []expectation{{"GET", "/v1/users/alice/readers", one, "", 501}})
	o.Hub, o.Bus = newFakeHub(), event.NewBus(1)
	c, _ := serveWith(t, o)
	got, err := c.Readers(t.Context(), "alice", 7)
	if err != nil || r.days != 7 {
		t.Fatal(err, r.days)
	}
	want := client.Readers{
		User: "alice", At: start(), WindowDays: 3, Count: 10, Services: 4, Programs: 3, Once: 1, Push: 2, Subscriptions: 7, Private: 1, Browsers: 5, Robots: 6, Partial: true, Here: 2, HereNames: []string{"bob"},
		Mail:        client.MailReaders{Each: 1, Daily: 2, Weekly: 3, Waiting: 4},
		ServiceList: []client.Service{{Name: "Far", Format: "atom", Subscribers: 4, LastAt: start()}},
		ProgramList: []client.NamedCount{{Name: "Near", Count: 3}}, PushList: []client.NamedCount{{Name: "websub", Count: 7}}, Formats: []client.NamedCount{},
		Days: []client.Day{{Day: start(), Readers: 10, Services: 4, Programs: 3, Push: 2, Private: 1, Requests: 90, NotModified: 80}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestUserRequestsReturn501WithoutUsers(t *testing.T) {
	t.Parallel()
	_, srv := serve(t, newFakeHub())
	for _, path := range []string{"/v1/users", "/v1/users/alice", "/v1/users/alice/tokens", "/v1/feeds/alice/private/secrets"} {
		if res, body := do(t, srv, "GET", path, "", ""); res.StatusCode != 501 || !strings.Contains(body, "has no users") {
			t.Errorf("%s: %d %s", path, res.StatusCode, body)
		}
	}
}

func TestPasswordsAndTokensAreNotLogged(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	api := New(Options{Hub: newFakeHub(), Accounts: failing{newFakeAccounts("alice")}, Log: slog.New(slog.NewTextHandler(&log, nil))})
	r := httptest.NewRequestWithContext(t.Context(), "POST", "http://localhost/v1/users", strings.NewReader(`{"name":"bob","password":"shown-to-nobody"}`))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	api.Handler().ServeHTTP(w, r)
	if w.Code != 500 || !strings.Contains(log.String(), "an API request of the operator failed") || strings.Contains(log.String(), "nobody") {
		t.Error(w.Code, w.Body, log.String())
	}
}

// failing is a fakeAccounts whose method Add fails as if the database failed.
type failing struct{ *fakeAccounts }

func (failing) Add(context.Context, string, string) (account.User, error) {
	return account.User{}, errors.New("a constraint failed")
}

func TestClientManagesUsersTokensAndSecrets(t *testing.T) {
	t.Parallel()
	w := newFakeAccounts()
	for i := range 2100 {
		b, _ := json.Marshal(10000 + i)
		w.users = append(w.users, account.User{Name: "u" + string(b), CreatedAt: start()})
	}
	c, _ := serveWith(t, Options{Hub: newFakeHub(), Bus: event.NewBus(1), Accounts: w, PublicURL: "https://cloud.example"})
	n := 0
	for u, err := range c.Users(t.Context(), 0) {
		if err != nil || u.Name != w.users[n].Name {
			t.Fatal(u, err)
		}
		n++
	}
	if n != 2100 {
		t.Errorf("%d of 2100 users", n)
	}
	if u, err := c.AddUser(t.Context(), "alice", "pw"); err != nil || u.Name != "alice" || w.passwords["alice"] != "pw" {
		t.Error(u, err)
	}
	if u, err := c.SetPassword(t.Context(), "alice", "other"); err != nil || u.Name != "alice" || w.passwords["alice"] != "other" {
		t.Error(u, err)
	}
	if u, err := c.DisableUser(t.Context(), "alice", true); err != nil || !u.Disabled {
		t.Error(u, err)
	}
	if u, err := c.User(t.Context(), "alice"); err != nil || !u.Disabled {
		t.Error(u, err)
	}
	if _, err := c.User(t.Context(), "no body/.."); !client.IsNotFound(err) || !strings.Contains(err.Error(), "no body/..") {
		t.Error(err)
	}
	token, err := c.NewToken(t.Context(), "alice", client.TokenRequest{Label: "l", Scopes: []string{"read"}})
	if err != nil || token.Token != "plain-token" || token.ID != "t1" {
		t.Error(token, err)
	}
	if list, err := c.Tokens(t.Context(), "alice"); err != nil || len(list) != 1 || list[0].Token != "" {
		t.Error(list, err)
	}
	if err := c.RevokeToken(t.Context(), "alice", "t1"); err != nil {
		t.Error(err)
	}
	if err := c.RevokeToken(t.Context(), "alice", "t1"); !client.IsNotFound(err) {
		t.Error(err)
	}
	secret, err := c.NewSecret(t.Context(), "alice", "Bob")
	if err != nil || secret.Access == nil || secret.Access.URL != "https://cloud.example/alice/private/s1.plain-secret/rss.xml" {
		t.Error(secret, err)
	}
	if list, err := c.Secrets(t.Context(), "alice"); err != nil || len(list) != 1 || list[0].Access != nil {
		t.Error(list, err)
	}
	if err := c.RevokeSecret(t.Context(), "alice", "s1"); err != nil {
		t.Error(err)
	}
}
