package publishhttp

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"cloudburst/internal/account"
	"cloudburst/internal/author"
	"cloudburst/internal/fault"
	"cloudburst/internal/syndicate"
	"cloudburst/protocol/wsse"
)

// Credentials of these tests.
const (
	goodPassword = "correct horse"
	goodSecret   = "s3cret-of-bob"
	goodSelector = "sel1"
	tokenAll     = "cb_" + "all-scopes-all-scopes-all-scopes-all-scope1"
	tokenDelete  = "cb_" + "delete-only-delete-only-delete-only-delete1"
	tokenOther   = "cb_" + "of-another-user-of-another-user-of-another1"
	public       = "https://hub.example"
)

// fakeAccounts authenticates alice, and her reader bob. It records the attempts.
type fakeAccounts struct {
	mu     sync.Mutex
	tried  []string // interface and name of each login attempt
	fail   error    // error that all methods return
	nonces map[string]bool
}

func (d *fakeAccounts) note(from account.Caller, name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.tried = append(d.tried, from.Via+" "+name+" "+from.Addr.String())
	return d.fail
}

func (d *fakeAccounts) Check(_ context.Context, name, password string, from account.Caller) (account.User, error) {
	if err := d.note(from, name); err != nil {
		return account.User{}, err
	}
	if name != "alice" && name != "carol" || password != goodPassword {
		return account.User{}, fault.New(fault.Refused, "The name or the password is wrong.")
	}
	return account.User{Name: name}, nil
}

func (d *fakeAccounts) Token(_ context.Context, plain, scope string, from account.Caller) (account.Token, error) {
	if err := d.note(from, cmp.Or(scope, "token")); err != nil {
		return account.Token{}, err
	}
	user, scopes := "alice", []string{"update"}
	switch plain {
	case tokenAll:
		scopes = account.Scopes()
	case tokenDelete:
		scopes = []string{"delete"}
	case tokenOther:
		user = "carol"
	default:
		return account.Token{}, fault.New(fault.Refused, "There is no such token.")
	}
	return account.Token{User: user, Scopes: scopes}, nil
}

var errSecret = fault.New(fault.Refused, "No such secret.")

func (d *fakeAccounts) OpenByURL(_ context.Context, user, feed, selector, secret string, from account.Caller) (account.Secret, error) {
	if err := d.note(from, user); err != nil {
		return account.Secret{}, err
	}
	if user != "alice" || feed != author.Private || selector != goodSelector || secret != goodSecret {
		return account.Secret{}, errSecret
	}
	return account.Secret{Selector: goodSelector}, nil
}

func (d *fakeAccounts) OpenByBasic(_ context.Context, user, feed, name, password string, from account.Caller) (account.Secret, error) {
	if err := d.note(from, name); err != nil {
		return account.Secret{}, err
	}
	if user != "alice" || feed != author.Private || name != "bob" || password != goodSecret {
		return account.Secret{}, errSecret
	}
	return account.Secret{Selector: goodSelector}, nil
}

func (d *fakeAccounts) OpenByWSSE(_ context.Context, user, feed string, t wsse.Token, from account.Caller) (account.Secret, error) {
	if err := d.note(from, t.Username); err != nil {
		return account.Secret{}, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if user != "alice" || feed != author.Private || t.Username != "bob" || !t.Check(goodSecret) || d.nonces[t.Nonce] {
		return account.Secret{}, errSecret
	}
	d.nonces[t.Nonce] = true
	return account.Secret{Selector: goodSelector}, nil
}

// memoryStore is an author.Store in memory.
type memoryStore struct {
	mu   sync.Mutex
	rows map[string]*savedRow
}

type savedRow struct {
	author.Feed
	doc []byte
}

func (s *memoryStore) at(user, name string) *savedRow { return s.rows[user+"/"+name] }

func (s *memoryStore) SaveDocument(_ context.Context, d author.Saving) (author.Feed, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := savedRow{Feed: author.Feed{User: d.User, Name: d.Name}}
	if r := s.at(d.User, d.Name); r != nil {
		now = *r
	}
	if err := d.Allow(now.Feed); err != nil {
		return author.Feed{}, false, err
	}
	changed := !bytes.Equal(now.doc, d.Bytes)
	now.Gone, now.Push = false, d.Push
	if changed {
		now.Version++
		now.SavedAt, now.Type, now.Size, now.Title, now.Items = d.At, d.Type, int64(len(d.Bytes)), d.Title, d.Items
		now.doc = bytes.Clone(d.Bytes)
	}
	s.rows[d.User+"/"+d.Name] = &now
	return now.Feed, changed, nil
}

func (s *memoryStore) SavedFeed(ctx context.Context, user, name string) (author.Feed, error) {
	f, _, err := s.SavedDocument(ctx, user, name)
	return f, err
}

func (s *memoryStore) SavedDocument(_ context.Context, user, name string) (author.Feed, []byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.at(user, name); r != nil {
		return r.Feed, bytes.Clone(r.doc), nil
	}
	return author.Feed{}, nil, fault.New(fault.NotFound, "There is no such feed here.")
}

func (s *memoryStore) CloudSaved(_ context.Context, user, name string, on bool, now time.Time) (author.Feed, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.at(user, name)
	if r == nil {
		return author.Feed{}, fault.New(fault.NotFound, "There is no such feed here.")
	}
	if r.AddCloud != on {
		r.AddCloud, r.SavedAt = on, now
		r.Version++
	}
	return r.Feed, nil
}

func (s *memoryStore) PlaceSaved(_ context.Context, user, name string, place author.Place) (author.Feed, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.at(user, name)
	if r == nil {
		return author.Feed{}, fault.New(fault.NotFound, "There is no such feed here.")
	}
	r.MovedTo, r.Temporary, r.Gone = place.MovedTo, place.Temporary, place.Gone
	return r.Feed, nil
}

func (s *memoryStore) SavedFeeds(context.Context, string, string, int) ([]author.Feed, error) {
	return nil, nil
}
func (s *memoryStore) ListUnnotified(context.Context, string, string, int) ([]author.Feed, error) {
	return nil, nil
}
func (s *memoryStore) MarkNotified(context.Context, string, string, int64) error { return nil }

// harness contains the endpoints of hosted feeds with the services that they use.
type harness struct {
	*Feeds
	authors  *author.Feeds
	accounts *fakeAccounts
	hits     []ServedFeed
	logged   *bytes.Buffer
	now      time.Time
}

func newHarness(t testing.TB) *harness {
	t.Helper()
	d := &harness{accounts: &fakeAccounts{nonces: map[string]bool{}}, logged: &bytes.Buffer{}, now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	now := func() time.Time { return d.now }
	log := slog.New(slog.NewTextHandler(d.logged, &slog.HandlerOptions{Level: slog.LevelDebug}))
	d.authors = &author.Feeds{Store: &memoryStore{rows: map[string]*savedRow{}}, Now: now, Log: log}
	d.Feeds = &Feeds{
		Accounts: d.accounts, Authors: d.authors, Layer: &syndicate.Layer{Now: now, Log: log}, Log: log,
		Public: func() string { return public },
		Hit:    func(_ *http.Request, a ServedFeed) { d.hits = append(d.hits, a) },
		HTML:   http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "the page") }),
		Next: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusTeapot)
			fmt.Fprint(w, "next ", r.URL.Path)
		}),
	}
	return d
}

// hostedRSS returns a feed of n items, newest first.
func hostedRSS(n int) string {
	var b strings.Builder
	b.WriteString("<?xml version=\"1.0\"?>\r\n<rss version=\"2.0\"><channel><title>Alice &amp; her feed</title><link>https://alice.example/</link><description>What she does</description>\n")
	for i := range n {
		fmt.Fprintf(&b, "<item><title>Item %d</title><link>https://alice.example/%d</link><guid>https://alice.example/%d</guid><description>&lt;p onclick=\"x()\"&gt;Text&lt;/p&gt;&lt;script&gt;alert(1)&lt;/script&gt;</description></item>\n", n-i, n-i, n-i)
	}
	b.WriteString("</channel></rss>\n")
	return b.String()
}

// save stores a feed of alice.
func (d *harness) save(t *testing.T, name, doc string) author.Feed {
	t.Helper()
	f, err := d.authors.Save(t.Context(), "alice", name, []byte(doc), "test")
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// answer is a response with its body.
type answer struct {
	*http.Response
	body string
}

// do sends a request. headers are alternating names and values. The name "basic" has the value
// name:password.
func (d *harness) do(t *testing.T, method, target, body string, headers ...string) answer {
	t.Helper()
	var in io.Reader
	if body != "" {
		in = strings.NewReader(body)
	}
	r := httptest.NewRequest(method, target, in)
	for i := 0; i+1 < len(headers); i += 2 {
		if headers[i] == "basic" {
			name, password, _ := strings.Cut(headers[i+1], ":")
			r.SetBasicAuth(name, password)
			continue
		}
		r.Header.Add(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	d.ServeHTTP(w, r.WithContext(t.Context()))
	a := answer{w.Result(), w.Body.String()}
	if cmp.Or(a.Header.Get("X-Content-Type-Options"), "nosniff") != "nosniff" {
		t.Errorf("%s %s: X-Content-Type-Options is %q", method, target, a.Header.Get("X-Content-Type-Options"))
	}
	return a
}

// is checks the status, and that the body contains the given words.
func (a answer) is(t *testing.T, what string, status int, words ...string) {
	t.Helper()
	if a.StatusCode != status {
		t.Errorf("%s: status %d, want %d: %.300s", what, a.StatusCode, status, a.body)
	}
	for _, w := range words {
		if !strings.Contains(a.body, w) {
			t.Errorf("%s: there is no %q in %.1000s", what, w, a.body)
		}
	}
}

// has checks headers, given as alternating names and values.
func (a answer) has(t *testing.T, what string, headers ...string) {
	t.Helper()
	for i := 0; i+1 < len(headers); i += 2 {
		if got := strings.Join(a.Header.Values(headers[i]), " | "); got != headers[i+1] {
			t.Errorf("%s: %s is %q, want %q", what, headers[i], got, headers[i+1])
		}
	}
}

// send sends bytes over a connection, closes the connection for writing, and returns the whole
// response.
func (d *harness) send(t *testing.T, request string) string {
	t.Helper()
	srv := httptest.NewServer(d)
	defer srv.Close()
	conn, err := net.Dial("tcp", srv.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	got, _ := io.ReadAll(conn) // ignore the error
	return string(got)
}
