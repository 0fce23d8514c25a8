package api

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"cloudburst/client"
	"cloudburst/internal/account"
	"cloudburst/internal/fault"
	"cloudburst/internal/limit"
	"cloudburst/internal/route"
)

// fakeTokens accepts each token of the form USER:SCOPE,SCOPE.
type fakeTokens struct{}

func (fakeTokens) Token(_ context.Context, plain, scope string, from account.Caller) (account.Token, error) {
	user, scopes, ok := strings.Cut(plain, ":")
	switch t := (account.Token{User: user, Scopes: strings.Split(scopes, ",")}); {
	case plain == "often":
		return t, &fault.Error{Code: fault.TooMany, Msg: "Too many.", RetryAfter: time.Minute}
	case !ok:
		return t, fault.New(fault.Refused, "There is no such token, or it was revoked.")
	case scope != "" && !slices.Contains(t.Scopes, scope):
		return t, fault.Wrap(fault.Refused, account.ErrScope, "This token is not for %s.", scope)
	default:
		return t, nil
	}
}

// newRiver returns a handler with the routes of the river on the public listener.
func newRiver(o Options) http.Handler {
	mux := http.NewServeMux()
	route.Mount(mux, RiverRoutes(o), Protect())
	return mux
}

func TestTokenGivesAccessToOwnRiverOnly(t *testing.T) {
	t.Parallel()
	w, id, item := fullRiver()
	w.follow("alice", "http://alice.example/", 1)
	srv := httptest.NewServer(newRiver(Options{River: w, Tokens: fakeTokens{}, ReaderOf: readerOf, Now: start}))
	t.Cleanup(srv.Close)
	bearer := func(token string) func(*http.Request) {
		return func(r *http.Request) {
			if token != "" {
				r.Header.Set("Authorization", "Bearer "+token)
			}
		}
	}
	const add = `{"url":"http://new.example/"}`
	for _, tt := range []struct {
		method, path, body, token string
		status                    int
		want                      string
	}{
		{"GET", "/v1/sources", "", "", 401, "Authorization: Bearer"},
		{"GET", "/v1/sources", "", "wrong", 401, "no such token"},
		{"GET", "/v1/sources", "", "alice:create", 403, "not for read"},
		{"GET", "/v1/sources", "", "often", 429, "Too many."},
		{"GET", "/v1/sources", "", "alice:read", 200, "alice.example"},
		{"GET", "/v1/sources?user=alice", "", "alice:read", 200, "alice.example"},
		{"GET", "/v1/sources?user=first", "", "alice:read", 403, "This token does not belong to first."},
		{"GET", "/v1/river?user=alice&user=first", "", "alice:read", 400, "may occur only once"},
		{"GET", "/v1/river?x=1", "", "alice:read", 400, "this endpoint accepts: user."},
		{"GET", "/v1/sources/" + id, "", "alice:read", 404, ""},
		{"GET", "/v1/items/" + item, "", "alice:read", 404, ""},
		{"GET", "/v1/items/" + item, "", "first:read", 200, `"id":"` + item},
		{"GET", "/v1/river", "", "first:read", 200, `{"sources":2,"unread":5,"seq":"`},
		{"POST", "/v1/items/mark", `{"ids":["` + item + `"],"read":true}`, "first:read", 200, ""},
		{"POST", "/v1/sources", add, "alice:read", 403, "needs create or update"},
		{"POST", "/v1/sources", add, "alice:read,create", 200, "new.example"},
		{"POST", "/v1/sources", add, "alice:read,update", 200, "new.example"},
		{"POST", "/v1/sources", add, "alice:create", 403, "not for read"},
		{"POST", "/v1/sources", `{"url":"http://secret-host/"}`, "alice:read,update", 403, `"This address may not be read."`},
		{"POST", "/v1/sources/" + id + "/refresh", "", "first:read", 200, "One new item."},
		{"POST", "/v1/sources/refresh", "", "first:read", 200, `{"due":1,"sources":2}`},
		{"PUT", "/v1/filters", `{"conditions":[{"field":"title","op":"word","values":["x"]}],"hide":true}`, "alice:read", 403, ""},
		{"PUT", "/v1/notices", `{"via":"post","target":"http://x.example/"}`, "alice:read", 403, ""},
		{"GET", "/v1/status", "", "alice:read", 404, ""},
		{"GET", "/v1/users", "", "alice:read", 404, ""},
		{"GET", "/v1/openapi.json", "", "alice:read", 404, "There is no endpoint /v1/openapi.json; /docs describes all endpoints."},
		{"OPTIONS", "/v1/sources", "", "alice:read", 405, ""},
	} {
		res, body := do(t, srv, tt.method, tt.path, "application/json", tt.body, bearer(tt.token), func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") })
		if res.StatusCode != tt.status || !strings.Contains(body, tt.want) {
			t.Errorf("%s %s as %s: %d %s", tt.method, tt.path, tt.token, res.StatusCode, body)
		}
		for name := range res.Header {
			if strings.HasPrefix(name, "Access-Control-") {
				t.Errorf("%s %s allows pages of other sites: %s", tt.method, tt.path, name)
			}
		}
		if got := res.Header.Get("WWW-Authenticate"); (got == "Bearer") != (tt.status == 401) {
			t.Errorf("%s %s as %s: WWW-Authenticate %q", tt.method, tt.path, tt.token, got)
		}
	}
	c := &client.Client{Base: srv.URL, HTTP: srv.Client(), Token: "alice:read"}
	for _, user := range []string{"", "alice"} {
		st, err := c.River(user).Status(t.Context())
		if err != nil || st.Live != nil || st.Counts != nil {
			t.Errorf("%q: %+v %v", user, st, err)
		}
	}
}

func TestErrorsForPublicClientsHideTheirCauses(t *testing.T) {
	t.Parallel()
	w := newFakeRiver()
	w.abort = fmt.Errorf("the disk sda1 is full")
	srv := httptest.NewServer(newRiver(Options{River: w, Tokens: fakeTokens{}}))
	t.Cleanup(srv.Close)
	res, body := do(t, srv, "GET", "/v1/sources", "", "", func(r *http.Request) { r.Header.Set("Authorization", "Bearer a:read") })
	if res.StatusCode != 500 || strings.Contains(body, "sda1") {
		t.Error(res.StatusCode, body)
	}
}

func TestStreamsPerUserAreLimited(t *testing.T) {
	t.Parallel()
	p := &publicRiver{streams: limit.NewSemaphore(maxStreams)}
	var release func()
	for range maxStreams {
		var err error
		if release, err = p.acquireStream("alice"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := p.acquireStream("alice"); fault.CodeOf(err) != fault.TooMany {
		t.Error(err)
	}
	if _, err := p.acquireStream("bob"); err != nil {
		t.Error(err)
	}
	release()
	if _, err := p.acquireStream("alice"); err != nil {
		t.Error(err)
	}
	if _, err := p.acquireStream("alice"); fault.CodeOf(err) != fault.TooMany {
		t.Error(err)
	}
}
