package location

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cloudburst/internal/fault"
	"cloudburst/internal/fetch"
)

func TestReadAcceptsURLsAsUsersTypeThem(t *testing.T) {
	t.Parallel()
	both := func(rest string) []string { return []string{"https://" + rest, "http://" + rest} }
	for typed, want := range map[string][]string{
		"https://example.org/feed":                {"https://example.org/feed"},
		"HTTP://Example.ORG/Feed#top":             {"http://example.org/Feed"},
		"  <https://example.org/feed>\n":          {"https://example.org/feed"},
		`"https://example.org/feed"`:              {"https://example.org/feed"},
		"https://example.org/a long\n/name.xml":   {"https://example.org/a%20long/name.xml"},
		"example.org":                             both("example.org/"),
		"//example.org/feed":                      both("example.org/feed"),
		"Example.org/feed?x=1":                    both("example.org/feed?x=1"),
		"localhost:8080/feed":                     both("localhost:8080/feed"),
		"localhost/feed":                          both("localhost/feed"),
		"[2001:db8::1]/feed":                      both("[2001:db8::1]/feed"),
		"bücher.example/ä":                        both("xn--bcher-kva.example/%C3%A4"),
		"feed:https://example.org/feed":           {"https://example.org/feed"},
		"feed://example.org/feed":                 both("example.org/feed"),
		"feed:feed://example.org/feed":            both("example.org/feed"),
		"feed+https://example.org/feed":           {"https://example.org/feed"},
		"Feed+Http://example.org/feed":            {"http://example.org/feed"},
		"itpc://example.org/cast.xml":             both("example.org/cast.xml"),
		"pcast:http://example.org/cast.xml":       {"http://example.org/cast.xml"},
		"example.org:80/feed":                     {"https://example.org:80/feed", "http://example.org/feed"},
		"http://@example.org/":                    {"http://example.org/"},
		"":                                        nil,
		"   ":                                     nil,
		"news":                                    nil,
		"my favourite weblog":                     nil,
		"mailto:ann@example.org":                  nil,
		"javascript:alert(1)":                     nil,
		"ftp://example.org/feed":                  nil,
		"file:///etc/passwd":                      nil,
		"data:text/xml,<rss/>":                    nil,
		"ann@example.org":                         {"https://example.org/.well-known/webfinger?resource=acct%3Aann%40example.org"},
		" @Ann@Example.org ":                      {"https://example.org/.well-known/webfinger?resource=acct%3AAnn%40example.org"},
		"acct:ann@127.0.0.1:8080":                 {"http://127.0.0.1:8080/.well-known/webfinger?resource=acct%3Aann%40127.0.0.1%3A8080"},
		"https://":                                nil,
		"https://exa mple.org/":                   nil,
		"https://example.org/\x00":                nil,
		"https://0x7f.1/":                         nil,
		"https://example.org/\xff":                nil,
		"https://" + strings.Repeat("a.", 1000):   nil,
		"https://example.org:70000/":              nil,
		"http://http://example.org/":              {"http://example.org/"},
		"http://https://example.org/":             {"https://example.org/"},
		"https://http/":                           {"https://http/"},
		"feed:feed:feed:feed:https://example.org": nil,
	} {
		a, err := Read(typed)
		if d := cmp.Diff(want, a.URLs); d != "" || (err == nil) != (want != nil) {
			t.Errorf("%q: %v\n%s", typed, err, d)
		}
		if err != nil && fault.CodeOf(err) != fault.Invalid {
			t.Errorf("%q: %v", typed, err)
		}
	}
}

func TestMailAddressIsNamedInTheError(t *testing.T) {
	t.Parallel()
	for _, typed := range []string{"mailto:ann@example.org", "MAILTO:ann@example.org"} {
		_, err := Read(typed)
		if got := fault.Message(err); got != "“ann@example.org” looks like a mail address: enter the URL of a feed, or of a page that has one." {
			t.Errorf("%s: %s", typed, got)
		}
	}
}

func TestReadExtractsCredentialsFromURL(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]Login{
		"https://ann:secret@example.org/feed":     {Basic, "ann", "secret"},
		"https://ann%40home:a%3Ab@example.org/":   {Basic, "ann@home", "a:b"},
		"https://token@example.org/":              {Basic, "token", ""},
		"ann:secret@example.org/feed":             {Basic, "ann", "secret"},
		"feed:https://ann:secret@example.org/":    {Basic, "ann", "secret"},
		"https://ann:100%@example.org/":           {Basic, "ann", "100%"},
		"https://example.org/feed?mail=a@b.c":     {},
		"https://example.org/@ann/feed":           {},
		"https://xn--bcher-kva.example:8443/@ann": {},
	} {
		a, err := Read(typed)
		if err != nil || a.Login != want {
			t.Errorf("%q: %+v %v", typed, a.Login, err)
		}
		for _, u := range a.URLs {
			if strings.Contains(u, "secret") {
				t.Errorf("%q: %s", typed, u)
			}
		}
	}
	for _, bad := range []string{"https://ann:secret@exa mple.org/", "ann:secret@ex ample", "https://ann:secret@0x7f.1/", "ftp://ann:secret@example.org/"} {
		if _, err := Read(bad); err == nil || strings.Contains(fault.Message(err), "secret") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// The message for users and the cause that operators see must not state the same reason.
func TestURLErrorStatesItsCauseOnce(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"http://", "http://0x7f.1/", "http://a.example:99999/"} {
		if _, err := Read(bad); err == nil || err.Error() != fault.Message(err) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestWebFingerDocumentNamesFeedAndPage(t *testing.T) {
	t.Parallel()
	const query = "https://b.example/.well-known/webfinger?resource=acct%3Aa%40b.example"
	feed, page, ok := Account(query, []byte(`{"links":[{"rel":"http://schemas.google.com/g/2010#updates-from","href":"https://b.example/a.xml"},{"rel":"http://webfinger.net/rel/profile-page","href":"`+query+`"}]}`))
	if feed != "https://b.example/a.xml" || page != "" || !ok {
		t.Errorf("%q %q %t", feed, page, ok) // following a page that is a query again would never end
	}
	for _, other := range []string{"https://b.example/", "https://b.example/.well-known/webfinger", "https://b.example/.well-known/webfinger?resource=https://b.example/"} {
		if _, _, ok := Account(other, []byte(`{"subject":"acct:a@b"}`)); ok {
			t.Errorf("%s asks for an account", other)
		}
	}
	err := AccountError(query, fault.New(fault.NotFound, "It answered 404."))
	if fault.Message(err) != "b.example did not say who a@b.example is. Check the spelling, or enter the URL of their page." {
		t.Error(fault.Message(err))
	}
}

func FuzzAddress(f *testing.F) {
	for _, s := range []string{"example.org", "feed:https://ann:secret@bücher.example:443/ä?b#c", "[::1]:80", "//x.y/ z"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, typed string) {
		a, err := Read(typed)
		if err != nil {
			if fault.CodeOf(err) != fault.Invalid || len(a.URLs) != 0 {
				t.Fatalf("%v %q", err, a.URLs)
			}
			return
		}
		if len(a.URLs) < 1 || len(a.URLs) > 2 {
			t.Fatalf("%q", a.URLs)
		}
		for _, u := range a.URLs {
			again, err := fetch.Normal(u)
			if err != nil || again != u || fetch.Redact(u) != u {
				t.Fatalf("%q became %q, and that %q: %v", typed, u, again, err)
			}
			b, err := Read(u)
			if len(u) <= Longest && (err != nil || len(b.URLs) != 1 || b.URLs[0] != u) {
				t.Fatalf("%q is read as %q: %v", u, b.URLs, err)
			}
		}
	})
}
