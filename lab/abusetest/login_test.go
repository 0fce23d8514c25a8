package abusetest

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"cloudburst/client"
	"cloudburst/lab/outside"
	"cloudburst/protocol/wsse"
)

const ownersPassword = "correct horse battery"

// guesses returns requests to the endpoints that accept a password, key or token.
func guesses(base string) []func(ctx ctx, c *http.Client, n int) outside.Answer {
	wrong := func(n int) string { return fmt.Sprintf("wrong password %d", n) }
	basic := func(n int) string {
		return "Basic " + base64.StdEncoding.EncodeToString([]byte("owner:"+wrong(n)))
	}
	call := func(method string, params ...string) string {
		body := `<?xml version="1.0"?><methodCall><methodName>` + method + `</methodName><params>`
		for _, p := range params {
			body += "<param><value>" + p + "</value></param>"
		}
		return body + "</params></methodCall>"
	}
	return []func(ctx ctx, c *http.Client, n int) outside.Answer{
		func(ctx ctx, c *http.Client, n int) outside.Answer {
			return outside.Post(ctx, c, base+"/login", url.Values{"name": {"owner"}, "password": {wrong(n)}})
		},
		func(ctx ctx, c *http.Client, n int) outside.Answer {
			return outside.Send(ctx, c, http.MethodPut, base+"/owner/rss.xml", "application/rss+xml", saved(n), "Authorization", basic(n))
		},
		func(ctx ctx, c *http.Client, n int) outside.Answer {
			return outside.Send(ctx, c, http.MethodPost, base+"/RPC2", "text/xml", call("rssCloud.saveRss", "owner", wrong(n), "x"))
		},
		func(ctx ctx, c *http.Client, n int) outside.Answer {
			return outside.Send(ctx, c, http.MethodPost, base+"/RPC2", "text/xml", call("metaWeblog.getRecentPosts", "1", "owner", wrong(n), "<int>1</int>"))
		},
		func(ctx ctx, c *http.Client, n int) outside.Answer {
			return outside.Post(ctx, c, base+"/accounts/ClientLogin", url.Values{"Email": {"owner"}, "Passwd": {wrong(n)}})
		},
		func(ctx ctx, c *http.Client, n int) outside.Answer {
			return outside.Post(ctx, c, base+"/fever/?api", url.Values{"api_key": {fmt.Sprintf("%032x", n)}})
		},
		func(ctx ctx, c *http.Client, n int) outside.Answer {
			return outside.Send(ctx, c, http.MethodGet, base+"/owner/private/rss.xml", "", "", "X-WSSE", wsse.Header("owner", wrong(n), time.Now(), nil))
		},
		func(ctx ctx, c *http.Client, n int) outside.Answer {
			return outside.Send(ctx, c, http.MethodGet, base+"/v1/sources", "", "", "Authorization", fmt.Sprintf("Bearer cb_%040x", n))
		},
		func(ctx ctx, c *http.Client, n int) outside.Answer {
			return outside.Post(ctx, c, base+"/micropub", url.Values{"h": {"entry"}, "content": {"x"}, "access_token": {fmt.Sprintf("%040x", n)}})
		},
	}
}

func TestPasswordGuessingDoesNotLockOutTheOwner(t *testing.T) {
	t.Parallel()
	p := start(t, descrs)
	v := visit(t, p)
	if _, err := p.operator().AddUser(t.Context(), "owner", ownersPassword); err != nil {
		t.Fatal(err)
	}
	token, err := p.operator().NewToken(t.Context(), "owner", client.TokenRequest{Label: "x", Scopes: []string{"create", "update", "read"}})
	if err != nil {
		t.Fatal(err)
	}
	owner := from(visitorHost, false)
	owner.Timeout = soon
	signIn := func() outside.Answer {
		return outside.Post(t.Context(), owner, p.Base+"/login", url.Values{"name": {"owner"}, "password": {ownersPassword}})
	}
	if a := signIn(); a.Status != http.StatusSeeOther {
		t.Fatalf("the owner signs in: %s", a)
	}
	var tried, limited, failed, let atomic.Int64
	endpoints := guesses(p.Base)
	v.during(t, "password guesses at nine endpoints", func() {
		done := make(chan struct{})
		go func() {
			defer close(done)
			each(90, lasts(4*time.Second), func(ctx ctx, i int) {
				n := int(tried.Add(1))
				a := endpoints[i%len(endpoints)](ctx, from(source(n%400), false), n)
				switch {
				case a.Limited():
					limited.Add(1)
				case a.Err != nil:
					failed.Add(1)
				case a.Status == http.StatusSeeOther || a.Status == http.StatusNoContent || a.Status == http.StatusCreated:
					let.Add(1)
				}
			})
		}()
		in, byToken := 0, 0
		for over := false; !over; {
			select {
			case <-done:
				over = true
			default:
			}
			if a := signIn(); a.Status == http.StatusSeeOther {
				in++
			} else {
				t.Errorf("the owner's sign-in from the known address: %s", a)
			}
			if a := outside.Send(t.Context(), owner, http.MethodGet, p.Base+"/v1/sources", "", "", "Authorization", "Bearer "+token.Token); a.Status == http.StatusOK {
				byToken++
			} else {
				t.Errorf("the owner's token: %s", a)
			}
			time.Sleep(100 * time.Millisecond)
		}
		t.Logf("meanwhile the owner signed in %d times, and used the token %d times", in, byToken)
	})
	t.Logf("%d guesses: %d were rate-limited, %d got no answer", tried.Load(), limited.Load(), failed.Load())
	if let.Load() > 0 {
		t.Errorf("%d guesses were accepted, want 0", let.Load())
	}
	if *forFlag > 0 && limited.Load() == 0 { // in a run of a few seconds, most guesses are still waiting
		t.Error("no guess was rate-limited")
	}
	v.served(t)
	v.well(t)
	p.peaks.within(t, descrs, bounds{rss: 400e6, goroutines: 12_000})
}
