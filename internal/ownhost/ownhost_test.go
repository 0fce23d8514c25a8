package ownhost

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"cloudburst/internal/fault"
)

// memory is a Store in memory.
type memory struct {
	hosts []Host
	past  []Past
}

func (m *memory) AuthorHosts(context.Context) ([]Host, error)     { return slices.Clone(m.hosts), nil }
func (m *memory) PastAuthorHosts(context.Context) ([]Past, error) { return slices.Clone(m.past), nil }

func (m *memory) PutAuthorHost(_ context.Context, h Host, until time.Time) error {
	m.end(h.User, until)
	m.hosts = append(m.hosts, h)
	return nil
}

func (m *memory) VerifyAuthorHost(_ context.Context, h Host) error {
	for i, one := range m.hosts {
		if one.Name == h.Name && one.User != h.User && one.InUse() {
			return fault.New(fault.Conflict, "in use")
		}
		if one.User == h.User && one.Token == h.Token {
			m.hosts[i] = h
		}
	}
	return nil
}

func (m *memory) DeleteAuthorHost(_ context.Context, user string, until time.Time) error {
	if !m.end(user, until) {
		return fault.New(fault.NotFound, "no domain")
	}
	return nil
}

func (m *memory) ForgetAuthorHosts(_ context.Context, user string) error {
	m.hosts = slices.DeleteFunc(m.hosts, func(h Host) bool { return h.User == user })
	m.past = slices.DeleteFunc(m.past, func(p Past) bool { return p.User == user })
	return nil
}

func (m *memory) TidyAuthorHosts(_ context.Context, now time.Time) error {
	m.past = slices.DeleteFunc(m.past, func(p Past) bool { return !now.Before(p.Until) })
	return nil
}

// end deletes the host name of a user and reports whether there was one.
func (m *memory) end(user string, until time.Time) bool {
	i := slices.IndexFunc(m.hosts, func(h Host) bool { return h.User == user })
	if i < 0 {
		return false
	}
	if one := m.hosts[i]; one.InUse() {
		m.past = append(m.past, Past{Name: one.Name, User: user, Until: until})
	}
	m.hosts = slices.Delete(m.hosts, i, i+1)
	return true
}

var start = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

// newHosts returns loaded hosts: alice has blog.example.org in use, bob has not verified
// bob.example.net, and old.example.org is a past name of alice.
func newHosts(t *testing.T, public string) (*Hosts, *memory) {
	t.Helper()
	m := &memory{
		hosts: []Host{
			{User: "alice", Name: "blog.example.org", Token: "a", VerifiedAt: start},
			{User: "bob", Name: "bob.example.net", Token: "b"},
		},
		past: []Past{{Name: "old.example.org", User: "alice", Until: start.Add(time.Hour)}},
	}
	h := &Hosts{
		Store:  m,
		Public: func() string { return public },
		Own:    func(name string) bool { return name == "admin.example.com" },
		Read:   func(context.Context, string) ([]byte, error) { return nil, errors.New("no answer") },
		Now:    func() time.Time { return start },
		Keep:   time.Hour,
	}
	if err := h.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	return h, m
}

func TestHostHeaderSelectsTheAuthor(t *testing.T) {
	t.Parallel()
	h, _ := newHosts(t, "https://example.com")
	for host, want := range map[string]string{
		"blog.example.org":       "alice",
		"blog.example.org:8443":  "alice",
		"BLOG.Example.ORG":       "alice",
		"blog.example.org.":      "alice",
		"Blog.example.org.:8443": "alice",
		"bob.example.net":        "", // the name is not verified
		"old.example.org":        "", // the name is a past name
		"x.blog.example.org":     "",
		"example.com":            "",
		"[::1]:80":               "",
		":80":                    "",
		"":                       "",
	} {
		if got := h.UserOf(host); got != want {
			t.Errorf("Host %q names %q, want %q", host, got, want)
		}
	}
	if got := h.Tokens("BOB.example.net.:80"); !slices.Equal(got, []string{"b"}) {
		t.Errorf("tokens are %q", got)
	}
}

func TestDomainIsStoredAsLowercaseASCIIName(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"new.example.org":          "new.example.org",
		"  NEW.Example.org ":       "new.example.org",
		"https://new.example.org/": "new.example.org",
		"new.example.org.":         "new.example.org",
		"bücher.example":           "xn--bcher-kva.example",
		"BÜCHER.example":           "xn--bcher-kva.example",
		"xn--bcher-kva.example":    "xn--bcher-kva.example",
	} {
		h, _ := newHosts(t, "https://example.com")
		one, err := h.Set(t.Context(), "carol", text)
		if err != nil || one.Name != want || one.Token == "" || one.InUse() {
			t.Errorf("domain %q is stored as %+v, %v; want %q", text, one, err, want)
		}
	}
}

func TestInvalidDomainIsRejected(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", " ", ".", "example", "localhost", "a.localhost", "127.0.0.1", "[::1]", "http://[::1]/",
		"new.example.org:8080", "new.example.org/blog", "new.example.org?a", "new.example.org#a",
		"user@new.example.org", "a..example.org", "-a.example.org", "a-.example.org", "a_b.example.org",
		"a b.example.org", "a.123", "*.example.org", strings.Repeat("a", 64) + ".example.org",
		strings.Repeat("a.", 130) + "org", "example.com", "EXAMPLE.com.", "admin.example.com",
	} {
		h, m := newHosts(t, "https://example.com")
		if one, err := h.Set(t.Context(), "carol", text); fault.CodeOf(err) != fault.Invalid || len(m.hosts) != 2 {
			t.Errorf("domain %q is stored as %+v, %v", text, one, err)
		}
	}
	h, _ := newHosts(t, "https://example.com")
	if _, err := h.Set(t.Context(), "carol", "Blog.example.org"); fault.CodeOf(err) != fault.Conflict {
		t.Errorf("domain of another author: %v", err)
	}
}

func TestURLsOfAnAuthorUseTheDomain(t *testing.T) {
	t.Parallel()
	h, _ := newHosts(t, "https://example.com:8443")
	for path, want := range map[string]string{
		"/alice/rss.xml":     "https://blog.example.org:8443/rss.xml",
		"/alice/":            "https://blog.example.org:8443/",
		"/alice":             "https://example.com:8443/alice",
		"/alice/private/a":   "https://example.com:8443/alice/private/a",
		"/bob/rss.xml":       "https://example.com:8443/bob/rss.xml",
		"/nobody/2026/11/22": "https://example.com:8443/nobody/2026/11/22",
	} {
		if got := h.URL(path); got != want {
			t.Errorf("URL of %s is %s, want %s", path, got, want)
		}
	}
	for raw, want := range map[string]string{
		"https://blog.example.org:8443/rss.xml": "https://example.com:8443/alice/rss.xml",
		"HTTP://BLOG.example.org./a?b#c":        "https://example.com:8443/alice/a?b#c",
		"https://blog.example.org?b":            "https://example.com:8443/alice/?b",
		"https://old.example.org/rss.xml":       "https://example.com:8443/alice/rss.xml",
		"https://bob.example.net/a":             "https://bob.example.net/a",
		"ftp://blog.example.org/a":              "ftp://blog.example.org/a",
		"blog.example.org/a":                    "blog.example.org/a",
	} {
		if got := h.Inner(raw); got != want {
			t.Errorf("inner URL of %s is %s, want %s", raw, got, want)
		}
	}
	if got := h.Former("/alice/rss.xml"); !slices.Equal(got, []string{"https://old.example.org:8443/rss.xml"}) {
		t.Errorf("former URLs are %q", got)
	}
	if got := h.Former("/alice/private/a"); got != nil {
		t.Errorf("former URLs of a private path are %q", got)
	}
}

func TestDomainIsInUseAfterTokenVerification(t *testing.T) {
	t.Parallel()
	h, _ := newHosts(t, "http://example.com:8080")
	if _, err := h.Verify(t.Context(), "carol"); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("user without a domain: %v", err)
	}
	if _, err := h.Verify(t.Context(), "bob"); fault.CodeOf(err) != fault.Unreadable {
		t.Errorf("domain without an answer: %v", err)
	}
	body := "other\n"
	h.Read = func(_ context.Context, url string) ([]byte, error) {
		if want := "http://bob.example.net:8080" + ProofPath; url != want {
			t.Errorf("read %s, want %s", url, want)
		}
		return []byte(body), nil
	}
	if _, err := h.Verify(t.Context(), "bob"); fault.CodeOf(err) != fault.Unreadable || h.UserOf("bob.example.net") != "" {
		t.Errorf("domain with another token: %v", err)
	}
	body = "other\nb\n"
	if one, err := h.Verify(t.Context(), "bob"); err != nil || !one.InUse() || h.UserOf("bob.example.net") != "bob" {
		t.Errorf("domain with the token: %+v, %v", one, err)
	}
}

func TestURLsOfRemovedDomainAreKnownUntilRetentionEnds(t *testing.T) {
	t.Parallel()
	h, m := newHosts(t, "https://example.com")
	now := start
	h.Now = func() time.Time { return now }
	if _, err := h.Remove(t.Context(), "alice"); err != nil || h.UserOf("blog.example.org") != "" {
		t.Fatalf("removal: %v", err)
	}
	if got := h.Former("/alice/a"); len(got) != 2 {
		t.Errorf("former URLs are %q", got)
	}
	now = start.Add(time.Hour)
	if got := h.Former("/alice/a"); len(got) != 0 {
		t.Errorf("former URLs after the end are %q", got)
	}
	if err := h.Tidy(t.Context()); err != nil || len(m.past) != 0 || h.Any() {
		t.Errorf("after tidying: %v, %+v", err, m.past)
	}
}
