package websub_test

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"cloudburst/feed/discover"
	"cloudburst/protocol/websub"

	"github.com/google/go-cmp/cmp"
)

func FuzzParseRequest(f *testing.F) {
	for _, s := range []string{
		subscribe(), subscribe("hub.lease_seconds", "300", "hub.secret", "s"), form("hub.mode", "publish", "hub.url", "a", "hub.topic", "b"),
		"hub.mode=unsubscribe&hub.callback=http://a&hub.topic=http://b", "hub.mode=%zz", "a;b", "&&\r\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		q, err := websub.ParseRequest(body)
		if err != nil {
			if e, ok := errors.AsType[*websub.Error](err); !ok || e.Status != 400 && e.Status != 413 || e.Msg == "" {
				t.Fatalf("%v", err)
			}
			if q.Subscription != (websub.Subscription{}) || q.URLs != nil {
				t.Fatalf("a request was returned with the error: %+v", q)
			}
			return
		}
		if s := q.Subscription; q.Mode != websub.ModePublish && (websub.CheckURL("", s.Topic) != nil || websub.CheckURL("", s.Callback) != nil || s.Lease < 0 || len(s.Secret) > websub.MaxSecret) {
			t.Fatalf("%+v", q)
		}
		again, err := websub.ParseRequest(q.Encode())
		if len(q.Encode()) > websub.MaxForm {
			return // the encoded form is longer than the limit
		}
		if d := cmp.Diff(q, again); err != nil || d != "" {
			t.Fatalf("%v\n%s", err, d)
		}
	})
}

func FuzzVerifyURL(f *testing.F) {
	f.Add("http://s.example/cb", "http://t.example/?a=1&b", "c", "")
	f.Add("https://s.example?", "http://t.example/ü", "c&d=#", "no")
	f.Add("https://s.example??", "http://t.example/", "c", "no") // the query of this URL is a single question mark
	f.Add("http://s.example/?hub.mode=x&hub.topic", "a b", "c\n", "a\x00")
	f.Fuzz(func(t *testing.T, callback, topic, challenge, reason string) {
		if websub.CheckURL("", callback) != nil {
			return
		}
		for _, v := range []websub.Verification{
			{Mode: "subscribe", Topic: topic, Challenge: challenge, Lease: time.Hour},
			{Mode: "unsubscribe", Topic: topic, Challenge: challenge},
			{Mode: "denied", Topic: topic, Reason: reason},
		} {
			got := websub.VerifyURL(callback, v)
			if !strings.HasPrefix(got, callback) {
				t.Fatalf("%q is not at the beginning of %q", callback, got)
			}
			if websub.CheckURL("", got[:min(len(got), websub.MaxURL)]) != nil {
				t.Fatalf("%q is not a valid URL", got)
			}
			_, query, _ := strings.Cut(got, "?")
			q, err := url.ParseQuery(query)
			if err != nil { // the callback's own query is invalid
				q, err = url.ParseQuery(strings.TrimPrefix(got[len(callback):], "&"))
			}
			last := func(name string) string {
				if len(q[name]) == 0 {
					return ""
				}
				return q[name][len(q[name])-1]
			}
			if err != nil || last("hub.mode") != v.Mode || last("hub.topic") != v.Topic ||
				v.Mode != "denied" && last("hub.challenge") != v.Challenge ||
				v.Mode == "subscribe" && last("hub.lease_seconds") != "3600" ||
				v.Reason != "" && last("hub.reason") != v.Reason {
				t.Fatalf("%q is parsed as %v, %v", got, q, err)
			}
		}
	})
}

func FuzzCheckSignature(f *testing.F) {
	f.Add("sha256=00", "secret", []byte("body"))
	f.Add("SHA1=EFFCDF6AE5EB2FA2D27416D5F184DF9C259A7C79", "Jefe", []byte("what do ya want for nothing?"))
	f.Add("=", "", []byte{})
	f.Fuzz(func(t *testing.T, header, secret string, body []byte) {
		for _, method := range []string{websub.SHA1, websub.SHA256, websub.SHA384, websub.SHA512} {
			right, err := websub.Sign(method, secret, body)
			if err != nil || websub.CheckSignature(right, secret, body) != nil {
				t.Fatalf("%s does not verify: %v", right, err)
			}
			if websub.CheckSignature(right, secret, append(body, 0)) == nil {
				t.Fatal("a longer body verifies")
			}
		}
		if websub.CheckSignature(header, secret, body) != nil {
			return
		}
		method, digits, _ := strings.Cut(strings.ToLower(header), "=")
		right, err := websub.Sign(strings.TrimSpace(method), secret, body)
		if err != nil || !strings.HasSuffix(right, "="+strings.TrimSpace(digits)) {
			t.Fatalf("%q verifies but differs from %q", header, right)
		}
	})
}

func FuzzLinkHeader(f *testing.F) {
	f.Add("https://hub.example/", "http://t.example/a,b;c?d")
	f.Add("", `http://t.example/>; rel="hub"`)
	f.Add("http://h.example/\r\nX: y", "ü")
	f.Fuzz(func(t *testing.T, hub, self string) {
		got := websub.LinkHeader(hub, self)
		if strings.ContainsFunc(got, func(r rune) bool { return r < ' ' || r > '~' }) {
			t.Fatalf("%q cannot be sent", got)
		}
		want := 0
		for _, s := range []string{hub, self} {
			if s != "" {
				want++
			}
		}
		if n := strings.Count(got, "<"); n != want || strings.Count(got, ">") != want || strings.Count(got, `"`) != 2*want {
			t.Fatalf("%q has %d links", got, n)
		}
		if d := discover.Header(http.Header{"Link": {got}}, ""); len(d.Hubs) > 1 || hub == "" && len(d.Hubs) > 0 || self == "" && d.Self != "" {
			t.Fatalf("%q is parsed as %+v", got, d)
		}
	})
}
