package web

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"cloudburst/feed"
	"cloudburst/internal/account"
	"cloudburst/internal/audience"
	"cloudburst/internal/author"
	"cloudburst/internal/fault"
	"cloudburst/internal/hub"
)

// fakeAccounts is a store of accounts in memory, with plain passwords.
type fakeAccounts struct {
	mu         sync.Mutex
	now        func() time.Time
	users      map[string]account.User
	pass       map[string]string
	sessions   map[string]account.Session // key: value of the cookie
	tokens     []account.Token
	secrets    []account.Secret
	made       int
	first      string
	sessionErr error // if set, every lookup of a session returns this error
	callers    []account.Caller
}

func newFakeAccounts(f *fake) *fakeAccounts {
	p := &fakeAccounts{now: func() time.Time { return f.now }, users: map[string]account.User{}, pass: map[string]string{}, sessions: map[string]account.Session{}}
	return p
}

// with adds a user with a password.
func (p *fakeAccounts) with(name, password string) *fakeAccounts {
	p.users[name] = account.User{Name: name, CreatedAt: p.now().Add(-40 * 24 * time.Hour), PasswordAt: p.now().Add(-3 * time.Hour)}
	p.pass[name] = password
	return p
}

func errWrongPassword() error {
	return fault.New(fault.Refused, "The user name and the password do not belong together.")
}

func (p *fakeAccounts) Check(_ context.Context, name, password string, from account.Caller) (account.User, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.callers = append(p.callers, from)
	if password == "too often" {
		return account.User{}, &fault.Error{Code: fault.TooMany, Msg: "Too many log-ins have failed.", RetryAfter: 90 * time.Second}
	}
	if want, ok := p.pass[name]; !ok || want != password {
		return account.User{}, errWrongPassword()
	}
	return p.users[name], nil
}

func (p *fakeAccounts) Register(_ context.Context, name, password string, from account.Caller) (account.User, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.callers = append(p.callers, from)
	if _, ok := p.users[name]; ok {
		return account.User{}, fault.New(fault.Conflict, "The name %s is taken.", name)
	}
	if len(password) < 8 {
		return account.User{}, fault.New(fault.Invalid, "The password has fewer than 8 characters.")
	}
	p.with(name, password)
	return p.users[name], nil
}

func (p *fakeAccounts) Invited(_ context.Context, secret string) (account.Invite, error) {
	if secret != "secret" {
		return account.Invite{}, fault.New(fault.Refused, "This invitation has already been used.")
	}
	return account.Invite{ID: "id"}, nil
}

func (p *fakeAccounts) RegisterInvited(ctx context.Context, secret, name, password string, from account.Caller) (account.User, error) {
	if _, err := p.Invited(ctx, secret); err != nil {
		return account.User{}, err
	}
	return p.Register(ctx, name, password, from)
}

func (p *fakeAccounts) User(_ context.Context, name string) (account.User, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	u, ok := p.users[name]
	if !ok {
		return u, fault.New(fault.NotFound, "There is no user %s.", name)
	}
	return u, nil
}

func (p *fakeAccounts) ChangePassword(_ context.Context, u account.User, password string) (account.User, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	name := u.Name
	if p.users[name] != u {
		return account.User{}, fault.New(fault.Conflict, "The password was changed meanwhile.")
	}
	if len(password) < 8 {
		return account.User{}, fault.New(fault.Invalid, "The password has fewer than 8 characters.")
	}
	p.pass[name] = password
	for cookie, s := range p.sessions {
		if s.User == name {
			delete(p.sessions, cookie)
		}
	}
	u.PasswordAt = u.PasswordAt.Add(time.Hour)
	p.users[name] = u
	return u, nil
}

func (p *fakeAccounts) SetupToken() string { return p.first }

func (p *fakeAccounts) AddFirst(ctx context.Context, token, name, password string, from account.Caller) (account.User, error) {
	if token != p.first {
		return account.User{}, fault.New(fault.Refused, "This is not the token that was printed at the start.")
	}
	u, err := p.Register(ctx, name, password, from)
	if err == nil {
		p.first = ""
	}
	return u, err
}

func (p *fakeAccounts) StartSession(_ context.Context, u account.User, agent string) (string, account.Session, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now := p.users[u.Name]; !now.PasswordAt.Equal(u.PasswordAt) {
		return "", account.Session{}, errWrongPassword()
	}
	p.made++
	cookie := fmt.Sprintf("cookie-%d", p.made)
	s := account.Session{ID: fmt.Sprintf("session-%d", p.made), User: u.Name, Agent: agent, CreatedAt: p.now(), SeenAt: p.now(), ExpiresAt: p.now().Add(30 * 24 * time.Hour)}
	p.sessions[cookie] = s
	return cookie, s, nil
}

func (p *fakeAccounts) Session(_ context.Context, cookie string) (account.Session, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s, ok := p.sessions[cookie]
	switch {
	case p.sessionErr != nil:
		return s, p.sessionErr
	case !ok:
		return s, fault.New(fault.Refused, "The session is over.")
	}
	return s, nil
}

func (p *fakeAccounts) Sessions(_ context.Context, user string) (all []account.Session, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.sessions {
		if s.User == user {
			all = append(all, s)
		}
	}
	slices.SortFunc(all, func(a, b account.Session) int { return strings.Compare(b.ID, a.ID) })
	return all, nil
}

func (p *fakeAccounts) SetPreferences(_ context.Context, user string, chosen account.Preferences) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for cookie, one := range p.sessions {
		if one.User == user {
			one.Preferences = chosen
			p.sessions[cookie] = one
		}
	}
	return nil
}

func (p *fakeAccounts) EndSession(_ context.Context, id string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for cookie, s := range p.sessions {
		if s.ID == id {
			delete(p.sessions, cookie)
		}
	}
	return nil
}

func (p *fakeAccounts) NewToken(_ context.Context, user, label string, scopes []string) (string, account.Token, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.made++
	t := account.Token{ID: fmt.Sprintf("token-%d", p.made), User: user, Label: label, Scopes: scopes, CreatedAt: p.now()}
	p.tokens = append(p.tokens, t)
	return "cb_plain-" + t.ID, t, nil
}

// SealRequest returns the request unsealed; package account tests the seal.
func (p *fakeAccounts) SealRequest(_ context.Context, z account.Authorization) (string, error) {
	b, err := json.Marshal(z)
	return string(b), err
}

func (p *fakeAccounts) OpenRequest(user, ask string) (z account.Authorization, err error) {
	if err = json.Unmarshal([]byte(ask), &z); err != nil || z.User != user {
		return z, fault.New(fault.Refused, "This page was open for too long.")
	}
	return z, nil
}

func (p *fakeAccounts) Allow(z account.Authorization) (string, error) {
	return "code for " + strings.Join(z.Scopes, ","), nil
}

func (p *fakeAccounts) Tokens(_ context.Context, user string) (all []account.Token, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, t := range p.tokens {
		if t.User == user {
			all = append(all, t)
		}
	}
	return all, nil
}

func (p *fakeAccounts) RevokeToken(_ context.Context, user, id string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.tokens)
	p.tokens = slices.DeleteFunc(p.tokens, func(t account.Token) bool { return t.User == user && t.ID == id })
	if len(p.tokens) == n {
		return fault.New(fault.NotFound, "There is no such token.")
	}
	return nil
}

func (p *fakeAccounts) NewSecret(_ context.Context, user, name, reader string) (account.Secret, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.secrets {
		if s.User == user && s.Reader == reader {
			return account.Secret{}, fault.New(fault.Conflict, "%s already has a secret.", reader)
		}
	}
	p.made++
	s := account.Secret{Selector: fmt.Sprintf("sel%d", p.made), User: user, Feed: name, Reader: reader, CreatedAt: p.now()}
	p.secrets = append(p.secrets, s)
	s.Plain = "plain-" + s.Selector
	return s, nil
}

func (p *fakeAccounts) Secrets(_ context.Context, user, name string) (all []account.Secret, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.secrets {
		if s.User == user && s.Feed == name {
			all = append(all, s)
		}
	}
	return all, nil
}

func (p *fakeAccounts) RevokeSecret(_ context.Context, user, selector string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.secrets = slices.DeleteFunc(p.secrets, func(s account.Secret) bool { return s.User == user && s.Selector == selector })
	return nil
}

// fakeFeeds stores feeds in memory.
type fakeFeeds struct {
	mu    sync.Mutex
	now   func() time.Time
	feeds map[string]author.Feed
	docs  map[string][]byte
	reads int // number of documents that were read
}

func newFakeFeeds(f *fake) *fakeFeeds {
	return &fakeFeeds{now: func() time.Time { return f.now }, feeds: map[string]author.Feed{}, docs: map[string][]byte{}}
}

func (s *fakeFeeds) Put(_ context.Context, d author.Document) (author.Feed, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	parsed, err := feed.ParseBytes(d.Bytes, nil)
	if err != nil {
		return author.Feed{}, fault.Wrap(fault.Invalid, err, "The document is no feed; the feed of before stays.")
	}
	key := d.User + "/" + d.Name
	f := s.feeds[key]
	f.User, f.Name, f.Version, f.SavedAt, f.Size = d.User, d.Name, f.Version+1, s.now(), int64(len(d.Bytes))
	f.Title, f.Items, f.Type, f.Gone = parsed.Title.Value, len(parsed.Items), "application/rss+xml; charset=utf-8", false
	if d.Type != "" {
		f.Type = d.Type
	}
	if f.Push = author.PushNamed; len(parsed.Clouds)+len(parsed.Hubs) == 0 {
		f.Push = author.PushMissing
	}
	s.feeds[key], s.docs[key] = f, d.Bytes
	return f, nil
}

func (s *fakeFeeds) Feed(_ context.Context, user, name string) (author.Feed, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f, ok := s.feeds[user+"/"+name]
	if !ok {
		return f, fault.New(fault.NotFound, "Nothing was saved.")
	}
	return f, nil
}

func (s *fakeFeeds) Document(ctx context.Context, user, name string) (author.Feed, []byte, error) {
	f, err := s.Feed(ctx, user, name)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reads++
	return f, s.docs[user+"/"+name], err
}

func (s *fakeFeeds) change(user, name, to string, gone bool) (author.Feed, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f, ok := s.feeds[user+"/"+name]
	if !ok {
		return f, fault.New(fault.NotFound, "Nothing was saved.")
	}
	f.MovedTo, f.Temporary, f.Gone = to, false, gone
	s.feeds[user+"/"+name] = f
	return f, nil
}

func (s *fakeFeeds) Move(_ context.Context, user, name, to string) (author.Feed, error) {
	if strings.Contains(to, "@") {
		return author.Feed{}, fault.New(fault.Invalid, "The new address has a name or password in it; leave it out.")
	}
	return s.change(user, name, to, false)
}

func (s *fakeFeeds) MoveTemporarily(ctx context.Context, user, name, to string) (author.Feed, error) {
	f, err := s.Move(ctx, user, name, to)
	if err == nil {
		f.Temporary = true
		s.mu.Lock()
		defer s.mu.Unlock()
		s.feeds[user+"/"+name] = f
	}
	return f, err
}

func (s *fakeFeeds) AddCloud(ctx context.Context, user string, on bool) (author.Feed, error) {
	f, err := s.Feed(ctx, user, author.Public)
	if err == nil {
		f.AddCloud = on
		s.mu.Lock()
		defer s.mu.Unlock()
		s.feeds[user+"/"+author.Public] = f
	}
	return f, err
}

func (s *fakeFeeds) End(_ context.Context, user, name string) (author.Feed, error) {
	return s.change(user, name, "", true)
}

func (s *fakeFeeds) Restore(_ context.Context, user, name string) (author.Feed, error) {
	return s.change(user, name, "", false)
}

// fakeAudience returns the same report for every author. It records the author of the last request.
type fakeAudience struct {
	report audience.Report
	asked  string
}

func (c *fakeAudience) Report(_ context.Context, user string, _ int) (audience.Report, error) {
	c.asked = user
	return c.report, nil
}

// sampleAudience returns a report with readers of every kind. The report covers 30 days, and three of
// these days are missing.
func sampleAudience(now time.Time) *fakeAudience {
	r := audience.Report{At: now, WindowDays: 7, Readers: 1204}
	r.Services = audience.Services{Readers: 1100, List: []audience.ServiceRow{{Name: "Feedbin", Format: "rss20", Subscribers: 900, LastAt: now.Add(-time.Hour)}, {Name: "Newsly", Subscribers: 200, LastAt: now.Add(-50 * time.Hour)}}}
	r.Programs = audience.Programs{Readers: 80, Once: 12, List: []audience.Count{{Name: "NetNewsWire", N: 60}, {Name: "without a name", N: 20}}}
	r.Push = audience.Push{Subscriptions: 40, Readers: 22, List: []audience.Count{{Name: hub.WebSub, N: 30}, {Name: hub.HTTPPost, N: 10}}}
	r.Private = audience.PrivateReaders{Readers: 2}
	r.NotCounted = audience.NotCounted{Browsers: 31, Robots: 7}
	r.Formats = []audience.Count{{Name: "", N: 1000}, {Name: "atom", N: 180}}
	for i := range 30 {
		if i > 8 && i < 12 {
			continue
		}
		n := int64(900 + i*10)
		r.Days = append(r.Days, audience.Day{Day: now.UTC().Truncate(24*time.Hour).AddDate(0, 0, i-29), Readers: n, Services: n - 100, Programs: 76, Push: 22, Private: 2, Requests: 4000 + 97*int64(i%7), NotModified: 3600})
	}
	return &fakeAudience{report: r}
}

// accountHarness is a server with the users alice and bob. Both have a password, and neither has a feed.
type accountHarness struct {
	*testing.T
	*Web
	fake         *fake
	fakeAccounts *fakeAccounts
	fakeFeeds    *fakeFeeds
	fakeAudience *fakeAudience
	pages        http.Handler
	author       AuthorPage
	cookie       string // session cookie that each request sends; "": no user is signed in
}

// rebuild creates the pages again, after a test changed a setting.
func (x *accountHarness) rebuild() { x.pages, x.author = x.Routes(), x.AuthorPage() }

func newAccountHarness(t *testing.T) *accountHarness {
	t.Helper()
	f := newFake()
	w, _ := newWeb(t, f)
	p, s := newFakeAccounts(f).with("alice", "correct horse").with("bob", "battery staple"), newFakeFeeds(f)
	c := sampleAudience(f.now)
	w.Accounts, w.Authors, w.Audience = p, s, c
	return &accountHarness{T: t, Web: w, fake: f, fakeAccounts: p, fakeFeeds: s, fakeAudience: c, pages: w.Routes(), author: w.AuthorPage()}
}

// as signs a user in without a sign-in request.
func (x *accountHarness) as(name string) *accountHarness {
	x.Helper()
	cookie, _, err := x.fakeAccounts.StartSession(x.Context(), x.fakeAccounts.users[name], "Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0")
	if err != nil {
		x.Fatal(err)
	}
	x.cookie = cookie
	return x
}

func (x *accountHarness) do(r *http.Request) *httptest.ResponseRecorder {
	x.Helper()
	if x.cookie != "" {
		r.AddCookie(&http.Cookie{Name: "cloudburst", Value: x.cookie})
	}
	r.RemoteAddr = "203.0.113.9:4711"
	rec := httptest.NewRecorder()
	x.pages.ServeHTTP(rec, r)
	return rec
}

// open requests a path. header contains names and values in turn.
func (x *accountHarness) open(path string, header ...string) *httptest.ResponseRecorder {
	x.Helper()
	r := httptest.NewRequest("GET", path, nil)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	return x.do(r)
}

func (x *accountHarness) send(path string, fields ...string) *httptest.ResponseRecorder {
	x.Helper()
	form := url.Values{}
	for i := 0; i+1 < len(fields); i += 2 {
		form.Add(fields[i], fields[i+1])
	}
	r := httptest.NewRequest("POST", path, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return x.do(r)
}

// page opens the page of an author.
func (x *accountHarness) page(user, query string) *httptest.ResponseRecorder {
	x.Helper()
	r := httptest.NewRequest("GET", "/"+user+"/"+query, nil)
	if x.cookie != "" {
		r.AddCookie(&http.Cookie{Name: "cloudburst", Value: x.cookie})
	}
	rec := httptest.NewRecorder()
	x.author(rec, r, user)
	return rec
}

func (x *accountHarness) save(user, name, doc string) {
	x.Helper()
	if _, err := x.fakeFeeds.Put(x.Context(), author.Document{User: user, Name: name, Bytes: []byte(doc)}); err != nil {
		x.Fatal(err)
	}
}
