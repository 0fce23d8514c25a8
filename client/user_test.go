package client_test

import (
	"errors"
	"net/http"
	"testing"

	"cloudburst/client"
)

func TestUserNameOfDotsIsRejectedBeforeTheRequest(t *testing.T) {
	t.Parallel()
	c := serve(t, func(_ http.ResponseWriter, r *http.Request) { t.Errorf("request to %s", r.URL) })
	for _, name := range []string{"", ".", "..", "..."} {
		if _, err := c.User(t.Context(), name); err == nil {
			t.Errorf("%q is a user", name)
		}
		if err := c.RevokeToken(t.Context(), "alice", name); err == nil {
			t.Errorf("%q is a token", name)
		}
		if err := c.RevokeSecret(t.Context(), "alice", name); err == nil {
			t.Errorf("%q is a secret", name)
		}
		if _, err := c.SaveFeed(t.Context(), name, client.PublicFeed, "", nil); err == nil {
			t.Errorf("%q has a feed", name)
		}
	}
}

func TestNamesAreEscapedInRequestPaths(t *testing.T) {
	t.Parallel()
	var asked []string
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Method+" "+r.RequestURI)
		w.Header().Set("Content-Type", "application/json")
		w.Write([]byte(`{}`))
	})
	if _, err := c.User(t.Context(), "a/../b?c=%64"); err != nil {
		t.Error(err)
	}
	if err := c.RevokeSecret(t.Context(), "a b", "s/1"); err != nil {
		t.Error(err)
	}
	want := []string{"GET /v1/users/a%2F..%2Fb%3Fc=%2564", "DELETE /v1/feeds/a%20b/private/secrets/s%2F1"}
	for i, w := range want {
		if len(asked) <= i || asked[i] != w {
			t.Errorf("requests %q, want %q", asked, w)
			break
		}
	}
}

func TestClientDoesNotSendTooLargeDocument(t *testing.T) {
	t.Parallel()
	c := serve(t, func(_ http.ResponseWriter, r *http.Request) { t.Errorf("request to %s", r.URL) })
	_, err := c.SaveFeed(t.Context(), "alice", client.PublicFeed, "", make([]byte, client.MaxFeed+1))
	if e, ok := errors.AsType[*client.Error](err); !ok || e.Code != "invalid" {
		t.Error(err)
	}
}
