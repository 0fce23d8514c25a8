// Package webfinger finds the page and the feeds of an account such as alice@example.org by
// WebFinger (RFC 7033): the server of the host answers with the URLs of the account's page and
// feeds.
//
// Start with [ParseAccount] and [Read] to ask other servers, and with [Handler] to answer. The
// package sends no requests itself: a query is a GET of [Account.URL].
//
// spec:rfc7033#query-path
package webfinger

import (
	"encoding/json"
	"net"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// Path is the path of queries on every server.
	Path = "/.well-known/webfinger"
	// Type is the media type of answers.
	Type = "application/jrd+json"

	maxAccount = 320 // in bytes: 64 for the name, 1 for the @, 255 for the host
	maxLinks   = 100 // maximum number of links in a document
	maxHref    = 2000
)

// Relations of links that lead to a feed or a page.
const (
	RelUpdates   = "http://schemas.google.com/g/2010#updates-from" // the feed of the account
	RelProfile   = "http://webfinger.net/rel/profile-page"
	RelAvatar    = "http://webfinger.net/rel/avatar"
	RelAlternate = "alternate"
)

// Account is a name at a host.
type Account struct {
	Name string // the part before the @, as written
	Host string // the part after the @, in lowercase, with the port if there is one
}

// ParseAccount parses "@name@host", "acct:name@host" and "name@host". ok is false for any other
// text, such as a URL or a text with a space or a control character inside.
func ParseAccount(s string) (a Account, ok bool) {
	s = strings.TrimSpace(s)
	if len(s) > maxAccount || !utf8.ValidString(s) {
		return a, false
	}
	if len(s) >= 5 && strings.EqualFold(s[:5], "acct:") {
		s = s[5:]
	}
	name, host, ok := strings.Cut(strings.TrimPrefix(s, "@"), "@")
	if !ok || name == "" || host == "" || strings.ContainsAny(name, "/:?#<>\"\\") || strings.ContainsAny(host, "/?#@<>\"\\%") {
		return a, false
	}
	if strings.ContainsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }) {
		return a, false
	}
	return Account{name, strings.ToLower(host)}, true
}

// String returns the account as people write it: name@host.
func (a Account) String() string { return a.Name + "@" + a.Host }

// Resource returns the URI of the account.
func (a Account) Resource() string { return "acct:" + url.PathEscape(a.Name) + "@" + a.Host }

// URL returns the URL of the query for the account. The scheme is https, except for a loopback
// host: it has no certificate, so the scheme is http.
//
// spec:rfc7033#https-only
func (a Account) URL() string {
	scheme := "https"
	if isLoopback(a.Host) {
		scheme = "http"
	}
	return scheme + "://" + a.Host + Path + "?" + url.Values{"resource": {a.Resource()}}.Encode()
}

func isLoopback(hostport string) bool {
	host := hostport
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		host = h
	}
	host = strings.Trim(host, "[]")
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Document is the answer of a server, a JSON Resource Descriptor (JRD).
type Document struct {
	Subject    string            `json:"subject,omitempty"`
	Aliases    []string          `json:"aliases,omitempty"`
	Properties map[string]string `json:"properties,omitempty"`
	Links      []Link            `json:"links,omitempty"`
}

// Link is a link of an account.
type Link struct {
	Rel    string            `json:"rel"`
	Type   string            `json:"type,omitempty"`
	Href   string            `json:"href,omitempty"`
	Titles map[string]string `json:"titles,omitempty"`
}

// Read parses an answer. ok is false if body is not such a document. Values of unexpected types have
// no effect, and links beyond the first hundred are dropped.
//
// spec:rfc7033#ignore-unknown
func Read(body []byte) (d Document, ok bool) {
	var raw struct {
		Subject any `json:"subject"`
		Links   any `json:"links"`
	}
	if json.Unmarshal(body, &raw) != nil {
		return d, false
	}
	links, _ := raw.Links.([]any)
	if raw.Subject == nil && links == nil {
		return d, false
	}
	text := func(v any) string { s, _ := v.(string); return s }
	d.Subject = text(raw.Subject)
	for _, v := range links {
		l, _ := v.(map[string]any)
		one := Link{Rel: text(l["rel"]), Type: text(l["type"]), Href: text(l["href"])}
		if one.Rel == "" || one.Href == "" || len(one.Href) > maxHref || len(d.Links) == maxLinks {
			continue
		}
		titles, _ := l["titles"].(map[string]any)
		for lang, title := range titles {
			if s := text(title); s != "" {
				if one.Titles == nil {
					one.Titles = map[string]string{}
				}
				one.Titles[lang] = s
			}
		}
		d.Links = append(d.Links, one)
	}
	return d, true
}

// Find returns the first link with a relation and one of the media types, or of any type if none is
// named.
//
// spec:rfc7033#links-in-order
func (d *Document) Find(rel string, types ...string) (Link, bool) {
	i := slices.IndexFunc(d.Links, func(l Link) bool {
		return l.Rel == rel && (len(types) == 0 || slices.Contains(types, plainType(l.Type)))
	})
	if i < 0 {
		return Link{}, false
	}
	return d.Links[i], true
}

// plainType returns a media type in lowercase and without parameters.
func plainType(s string) string {
	s, _, _ = strings.Cut(s, ";")
	return strings.ToLower(strings.TrimSpace(s))
}

// Feed returns the URL of the account's feed and the URL of its page. A URL that the document does
// not contain is "". Links with other schemes than http and https are ignored.
func (d *Document) Feed() (feed, page string) {
	if l, ok := d.Find(RelUpdates); ok && isWeb(l.Href) {
		feed = l.Href
	} else if l, ok := d.Find(RelAlternate, "application/atom+xml", "application/rss+xml", "application/feed+json"); ok && isWeb(l.Href) {
		feed = l.Href
	}
	if l, ok := d.Find(RelProfile); ok && isWeb(l.Href) {
		page = l.Href
	} else if l, ok := d.Find(RelAlternate, "text/html", ""); ok && isWeb(l.Href) {
		page = l.Href
	}
	return feed, page
}

func isWeb(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != ""
}
