package app_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"cloudburst/client"
	"cloudburst/internal/account"
	"cloudburst/internal/endpoint/hubhttp"
	"cloudburst/internal/event"
	"cloudburst/internal/fault"
	"cloudburst/internal/hub"
	"cloudburst/internal/store"
	"cloudburst/internal/store/storetest"
	"cloudburst/protocol/wsse"
)

// accountsOf returns the accounts of n processes on one database. They use a fixed clock and fast
// password hashes.
func accountsOf(t *testing.T, n int) []*account.Accounts {
	t.Helper()
	database := storetest.Postgres(t)
	now := time.Now().UTC().Truncate(time.Millisecond)
	var all []*account.Accounts
	for range n {
		st, err := store.Open(t.Context(), store.Options{DatabaseURL: database})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = st.Close() })
		all = append(all, &account.Accounts{
			Store: st, Shared: true, Key: []byte("0123456789abcdef0123456789abcdef"), Now: func() time.Time { return now },
			Options: account.Options{Hash: func(password, salt []byte, _, _ uint32) []byte {
				return []byte(fmt.Sprintf("%32.32s", string(password)+string(salt)))
			}},
		})
	}
	return all
}

func callerAt(addr string) account.Caller {
	return account.Caller{Addr: netip.MustParseAddr(addr), Via: "page"}
}

// noisyNetworks makes five failed attempts from each of several networks. It returns a function with the
// address of a client in the i-th network. When the limit of a user name is reached, the program
// refuses these clients instead of delaying them.
func noisyNetworks(t *testing.T, a *account.Accounts, networks int) (from func(i int) string) {
	t.Helper()
	from = func(i int) string { return fmt.Sprintf("10.1.%d.1", i%networks) }
	for i := range networks {
		for range 5 {
			if _, err := a.Token(t.Context(), "cb_x", "", callerAt(from(i))); fault.CodeOf(err) != fault.Refused {
				t.Fatal(err)
			}
		}
	}
	return from
}

func TestNodesShareFailedSignInCounts(t *testing.T) {
	t.Parallel()
	nodes := accountsOf(t, 3)
	if _, err := nodes[0].Add(t.Context(), "alice", alicePassword); err != nil {
		t.Fatal(err)
	}
	tried := func(node int, name, from string) bool {
		_, err := nodes[node].Check(t.Context(), name, "wrong password", callerAt(from))
		if code := fault.CodeOf(err); code != fault.Refused && code != fault.TooMany {
			t.Fatal(err)
		}
		return fault.CodeOf(err) == fault.Refused
	}
	names, sources, from := 0, 0, noisyNetworks(t, nodes[0], 10)
	for i := range 60 {
		if tried(i%3, "alice", from(i)) {
			names++
		}
		if tried(i%3, fmt.Sprint("user", i), "192.0.2.7") {
			sources++
		}
	}
	if names != 10 || sources != 20 {
		t.Errorf("%d guesses for one name, %d from one network", names, sources)
	}
	registered := 0
	for i := range 12 {
		if _, err := nodes[i%3].Register(t.Context(), fmt.Sprint("new", i), alicePassword, callerAt("203.0.113.4")); err == nil {
			registered++
		} else if fault.CodeOf(err) != fault.TooMany {
			t.Fatal(err)
		}
	}
	if registered != 5 {
		t.Errorf("%d accounts were made from one network", registered)
	}
	if a, b := nodes[0].SetupToken(), nodes[1].SetupToken(); a != "" || b != "" {
		t.Errorf("there are users, and the tokens %q and %q", a, b)
	}
}

func TestConcurrentGuessesOnAllNodesAreLimited(t *testing.T) {
	t.Parallel()
	nodes := accountsOf(t, 3)
	if a, b := nodes[0].SetupToken(), nodes[1].SetupToken(); a == "" || a != b {
		t.Errorf("the tokens for the first user are %q and %q", a, b)
	}
	if _, err := nodes[0].Add(t.Context(), "alice", alicePassword); err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	var tried atomic.Int64
	from := noisyNetworks(t, nodes[1], 30)
	for i := range 150 {
		group.Go(func() {
			_, err := nodes[i%3].Check(context.WithoutCancel(t.Context()), "alice", "wrong password", callerAt(from(i)))
			if fault.CodeOf(err) == fault.Refused {
				tried.Add(1)
			} else if fault.CodeOf(err) != fault.TooMany {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if n := tried.Load(); n < 10 || n > 10+2*2 {
		t.Errorf("%d guesses; the limit is 10, and a quarter of it for each further node", n)
	}
}

// TestNodesShareSignInRateLimit makes 30 concurrent attempts at three nodes after many failed
// attempts. One attempt runs immediately, two attempts wait, and the program rejects the others.
// The test then cancels the waiting attempts.
func TestNodesShareSignInRateLimit(t *testing.T) {
	t.Parallel()
	nodes := accountsOf(t, 3)
	from := noisyNetworks(t, nodes[0], 10)
	for i := range 10 {
		if _, err := nodes[i%3].Check(t.Context(), "alice", "wrong password", callerAt(from(i))); fault.CodeOf(err) != fault.Refused {
			t.Fatal(err)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	const all = 30
	ended := make(chan fault.Code, all)
	for i := range all {
		go func() {
			_, err := nodes[i%3].Check(ctx, "alice", "wrong password", callerAt(fmt.Sprintf("10.2.%d.1", i)))
			ended <- fault.CodeOf(err)
		}()
	}
	count := map[fault.Code]int{}
	for n := range all {
		if n == all-2 {
			stop()
		}
		count[<-ended]++
	}
	if count[fault.Refused] != 1 || count[fault.Unavailable] != 2 || count[fault.TooMany] != all-3 {
		t.Errorf("of %d: %v", all, count)
	}
}

func TestReplayedWSSEHeaderIsAcceptedByOneNodeOnly(t *testing.T) {
	t.Parallel()
	nodes := accountsOf(t, 2)
	if _, err := nodes[0].Add(t.Context(), "alice", alicePassword); err != nil {
		t.Fatal(err)
	}
	secret, err := nodes[0].NewSecret(t.Context(), "alice", "private", "Bob")
	if err != nil {
		t.Fatal(err)
	}
	for round := range 20 {
		token, err := wsse.Parse(wsse.Header("Bob", secret.Plain, nodes[0].Now(), nil))
		if err != nil {
			t.Fatal(err)
		}
		var group sync.WaitGroup
		var opened, refused atomic.Int64
		for i, node := range nodes {
			group.Go(func() {
				_, err := node.OpenByWSSE(context.WithoutCancel(t.Context()), "alice", "private", token, callerAt(fmt.Sprintf("10.%d.%d.1", i, round)))
				switch {
				case err == nil:
					opened.Add(1)
				case fault.CodeOf(err) == fault.Refused:
					refused.Add(1)
				default:
					t.Error(err)
				}
			})
		}
		group.Wait()
		if opened.Load() != 1 || refused.Load() != 1 {
			t.Fatalf("one header opened the feed %d times, and was refused %d times", opened.Load(), refused.Load())
		}
	}
}

// ratedHubs starts the hubs of n processes, which share their rate limits. The clock is fixed, so
// that used capacity does not become free again.
func ratedHubs(t *testing.T, n int, open func() store.Store) []*hub.Hub {
	t.Helper()
	now := time.Now().UTC().Truncate(time.Millisecond)
	ctx, stop := context.WithCancel(context.Background())
	var group sync.WaitGroup
	t.Cleanup(func() { stop(); group.Wait() })
	var hubs []*hub.Hub
	for i := range n {
		st := open()
		h := &hub.Hub{
			Store: st, Allowances: st, Bus: event.NewBus(int64(i) + 1), Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return now },
			Notify: &hubhttp.Notifier{}, Verify: &hubhttp.Verifier{}, Ask: &hubhttp.Asker{}, Fetch: &hubhttp.Fetcher{},
			Options: hub.Options{SourceRate: 50},
		}
		h.Init()
		group.Go(func() {
			if err := h.Run(ctx); err != nil {
				t.Error(err)
			}
		})
		hubs = append(hubs, h)
	}
	return hubs
}

// passesLimit reports whether a request from an address passed the rate limit.
func passesLimit(t *testing.T, h *hub.Hub, from string) bool {
	t.Helper()
	_, err := h.Register(t.Context(), hub.Registration{Protocol: hub.HTTPPost, Callback: "http://subscriber.example/", Feeds: []string{"no address"}, Source: netip.MustParseAddr(from)})
	return fault.CodeOf(err) != fault.TooMany
}

// TestNodesShareRateLimit uses up the limit of a network, which is 500 requests, at one node. After
// at most 400 further requests, the other node must also reject requests from this network.
func TestNodesShareRateLimit(t *testing.T) {
	t.Parallel()
	stores := map[string]func(t *testing.T) func() store.Store{
		"PostgreSQL": func(t *testing.T) func() store.Store {
			database := storetest.Postgres(t)
			return func() store.Store { return openStore(t, store.Options{DatabaseURL: database}) }
		},
		"SQLite": func(t *testing.T) func() store.Store { // both hubs share one store, because only one process may use a data folder
			st := openStore(t, store.Options{Dir: t.TempDir()})
			return func() store.Store { return st }
		},
	}
	for name, open := range stores {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hubs := ratedHubs(t, 2, open(t))
			first := 0
			for passesLimit(t, hubs[0], "198.51.100.1") {
				first++
			}
			if first != 500 {
				t.Fatalf("the first node let through %d", first)
			}
			second := 0
			wait(t, "the second node knows", func() bool {
				if !passesLimit(t, hubs[1], "198.51.100.99") {
					return true
				}
				second++
				return false
			})
			if second > 400 {
				t.Errorf("the second node let through %d more", second)
			}
			if !passesLimit(t, hubs[1], "203.0.113.1") {
				t.Error("another network is refused")
			}
		})
	}
}

func openStore(t *testing.T, o store.Options) store.Store {
	t.Helper()
	st, err := store.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	return st
}

// signedInBrowser signs a user in at a node. It returns a function that reports whether the
// session is valid at another node.
func signedInBrowser(t *testing.T, base string) func(base string) bool {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	c := &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := c.PostForm(base+"/login", url.Values{"name": {"alice"}, "password": {alicePassword}})
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	at, _ := url.Parse(base)
	cookies := res.Cookies()
	if res.StatusCode != http.StatusSeeOther || len(cookies) == 0 {
		t.Fatalf("signing in is answered %s, with %d cookies", res.Status, len(jar.Cookies(at)))
	}
	return func(base string) bool {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+"/account/feed", nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, cookie := range cookies {
			req.AddCookie(&http.Cookie{Name: cookie.Name, Value: cookie.Value})
		}
		res, err := (&http.Client{CheckRedirect: c.CheckRedirect}).Do(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		return res.StatusCode == http.StatusOK
	}
}

func TestSignOutOnOneNodeAppliesToTheOther(t *testing.T) {
	t.Parallel()
	database := storetest.Postgres(t)
	node := func() *running {
		cfg := conf(t, t.TempDir())
		cfg.Database, cfg.Accounts.SecretKey = database, "the same on all nodes"
		return start(t, cfg)
	}
	a, b := node(), node()
	atA, atB := a.addAlice(), &client.Client{Base: b.admin}
	reads := func(base, token string) bool {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+"/v1/river", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+token)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		return res.StatusCode == http.StatusOK
	}
	both := func(what string, want bool, opens func(base string) bool) {
		t.Helper()
		for i, r := range []*running{b, a, b} {
			if opens(r.base) != want {
				t.Errorf("%s: %v at node %d", what, !want, 1-i%2)
			}
		}
	}
	token, err := atA.NewToken(t.Context(), "alice", client.TokenRequest{Label: "x", Scopes: []string{"read"}})
	if err != nil {
		t.Fatal(err)
	}
	byToken := func(base string) bool { return reads(base, token.Token) }
	both("a token that was just made", true, byToken)
	signedIn := signedInBrowser(t, a.base)
	both("a session", true, signedIn)

	if _, err := atA.DisableUser(t.Context(), "alice", true); err != nil {
		t.Fatal(err)
	}
	both("the session of a user who is disabled", false, signedIn)
	both("his token", false, byToken)
	if _, err := atB.DisableUser(t.Context(), "alice", false); err != nil {
		t.Fatal(err)
	}
	both("the token of a user who is not disabled any more", true, byToken)
	signedIn = signedInBrowser(t, b.base)
	both("another session", true, signedIn)
	if _, err := atA.SetPassword(t.Context(), "alice", alicePassword+"!"); err != nil {
		t.Fatal(err)
	}
	both("a session from before another password", false, signedIn)
	if err := atA.RevokeToken(t.Context(), "alice", token.ID); err != nil {
		t.Fatal(err)
	}
	both("a revoked token", false, byToken)

	secret, err := atA.NewSecret(t.Context(), "alice", "Bob")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := atA.SaveFeed(t.Context(), "alice", client.PrivateFeed, "", []byte(rssOf("secret"))); err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(secret.Access.URL)
	if err != nil {
		t.Fatal(err)
	}
	byAddress := func(base string) bool {
		code, body := get(t, base+u.Path)
		return code == http.StatusOK && strings.Contains(body, "secret")
	}
	both("a reader's address", true, byAddress)
	if err := atB.RevokeSecret(t.Context(), "alice", secret.Selector); err != nil {
		t.Fatal(err)
	}
	both("a revoked address", false, byAddress)
	if secret, err = atB.NewSecret(t.Context(), "alice", "Bob"); err != nil {
		t.Fatal(err)
	}
	both("the address of before, when there is a new one", false, byAddress)
	if u, err = url.Parse(secret.Access.URL); err != nil {
		t.Fatal(err)
	}
	both("the new address", true, byAddress)
}
