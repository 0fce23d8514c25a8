package shell

import (
	"cmp"
	"html"
	"html/template"
	"net/http"
	"net/url"
	"strings"
	"time"

	"cloudburst/feed/render"
	"cloudburst/internal/date"
	"cloudburst/internal/hub"
	"cloudburst/internal/origin"
	"cloudburst/internal/web/locale"
	"cloudburst/protocol/rsscloud"
)

// SetLinkHeader sends the endpoints as Link headers for every user. The page of a user without
// posts looks like that of an unknown user, but the user can sign in with it.
//
// spec:indieauth-2024#discovery
func (s *Shell) SetLinkHeader(rw http.ResponseWriter, r *http.Request) {
	if len(s.Rels) == 0 {
		return
	}
	var all []string
	for _, l := range append([][2]string{{"micropub", "/micropub"}}, s.Rels...) {
		all = append(all, "<"+s.BaseURL(r)+l[1]+`>; rel="`+l[0]+`"`)
	}
	rw.Header().Set("Link", strings.Join(all, ", "))
}

// FormatsBelow lists the formats of the feed whose documents are below a path.
func FormatsBelow(base string) (all []FormatLink) {
	for _, f := range render.Formats() {
		kind, _, _ := strings.Cut(f.Type, ";")
		l := FormatLink{f.Title, base + "feed." + f.Ext, strings.TrimSpace(kind), "." + f.Ext}
		if f.Ext == "" {
			l.Href, l.Hint = base+"feed?format="+url.QueryEscape(f.Name), "?format="+f.Name
		}
		all = append(all, l)
	}
	return all
}

type FormatLink struct{ Title, Href, Type, Hint string }

// TypeAttr returns the type attribute with a literal +. The template would write &#43;, which many
// programs that look for feeds do not decode.
func (l FormatLink) TypeAttr() template.HTMLAttr {
	return template.HTMLAttr(`type="` + html.EscapeString(l.Type) + `"`)
}

// FeedFormats lists the URLs of a public feed in each format.
func FeedFormats(user string) (all []FormatLink) {
	for _, f := range render.Formats() {
		kind, _, _ := strings.Cut(f.Type, ";")
		all = append(all, FormatLink{f.Title, FormatPath(user, f), strings.TrimSpace(kind), "." + f.Ext})
		if f.Ext == "" {
			all[len(all)-1].Hint = "?format=" + f.Name
		}
	}
	return all
}

func FormatPath(user string, f render.Format) string {
	if f.Ext == "" {
		return "/" + user + "/feed?format=" + url.QueryEscape(f.Name)
	}
	return "/" + user + "/feed." + f.Ext
}

// CloudElement returns the <cloud> element of this server.
func (s *Shell) CloudElement(base string) string {
	if s.Cloud != nil {
		return s.Cloud(base).String()
	}
	return rsscloud.CloudAt(base).String()
}

// RegistrationLife is the lifetime of an rssCloud registration, in words.
type RegistrationLife struct{ Lasts, Renew string }

// RegistrationLife returns the lifetime of an rssCloud registration in a language; nil is English.
func (s *Shell) RegistrationLife(l *locale.Locale) RegistrationLife {
	lasts := cmp.Or(s.Expiry, 25*time.Hour)
	if !l.IsEnglish() {
		return RegistrationLife{l.Duration(lasts), l.Duration(hub.RenewWithin(lasts))}
	}
	return RegistrationLife{date.InWords(lasts), date.InWords(hub.RenewWithin(lasts))}
}

// BaseURL returns the public URL without a trailing slash; if none is configured, the one that the
// request was sent to.
func (s *Shell) BaseURL(r *http.Request) string {
	if s.PublicURL != "" {
		return strings.TrimRight(s.PublicURL, "/")
	}
	if at, ok := origin.SiteOf(r.Context()); ok {
		return at.Public
	}
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	return scheme + "://" + CleanText(r.Host, 255)
}
