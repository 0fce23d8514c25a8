package authorui

import (
	"bytes"
	"context"
	"net/http"
	"strings"
	"time"

	"cloudburst/internal/origin"
	documents "cloudburst/internal/serve"
)

// Limits of the pages in memory.
const (
	maxReadyBytes = 32 << 20
	// briefLife is the maximum time for which a page stays in memory if it shows a line of another
	// post above a reply. This line can change while the state of the store stays the same.
	briefLife = 30 * time.Second
)

// pageKey identifies a page for visitors without a session.
type pageKey struct{ path, language, base, site string }

// readyPage is a page in memory, with the data that decides whether a request can use the page.
type readyPage struct {
	doc              *documents.Document
	state            string    // state of the store before the page was rendered
	until            time.Time // time until which the page is valid; zero: until the state changes
	images           int64     // number of known image sizes before rendering; -1: the page shows no proxied image
	policy, language []string  // values of the headers Content-Security-Policy and Content-Language
}

// making is the context value of a request whose page may be cached after rendering.
type making struct {
	key    pageKey
	state  string
	images int64
}

type makingKey struct{}

// serveReady answers a request with the page in memory, if there is a current one and the visitor
// is anonymous. Otherwise it returns a request whose context allows the page to be cached after
// rendering. The store's state is read before rendering: if the store changes meanwhile, the cached
// page has an outdated state and is not used.
//
// spec:cloudburst#author-pages
func (s *Pages) serveReady(rw http.ResponseWriter, r *http.Request) (*http.Request, bool) {
	if s.PageState == nil || r.URL.RawQuery != "" || !s.IsAnonymous(r) {
		return r, false
	}
	state, err := s.PageState(r.Context())
	if err != nil {
		return r, false // rendering reports the same error, or works without the cached page
	}
	at, _ := origin.SiteOf(r.Context())
	k := pageKey{r.URL.EscapedPath(), s.Locale(r).Code, s.BaseURL(r), at.Origin}
	images := s.KnownSizes()
	if p, ok := s.ready.Get(k); ok && p.state == state && (p.images < 0 || p.images == images) && (p.until.IsZero() || s.CurrentTime().Before(p.until)) {
		s.ready.Counts.Hits.Add(1)
		p.send(rw, r)
		return r, true
	}
	s.ready.Counts.Misses.Add(1)
	return r.WithContext(context.WithValue(r.Context(), makingKey{}, making{k, state, images})), false
}

// keep caches the rendered page in memory and returns it. It returns false if the page of this request
// must not be cached.
func (s *Pages) keep(rw http.ResponseWriter, r *http.Request, v *postsView, body []byte, modified time.Time) (*readyPage, bool) {
	h := rw.Header()
	m, ok := r.Context().Value(makingKey{}).(making)
	if !ok || h.Get("Cache-Control") != "" || h["Set-Cookie"] != nil {
		return nil, false
	}
	p := &readyPage{state: m.state, images: -1, policy: h["Content-Security-Policy"], language: []string{m.key.language}}
	if bytes.Contains(body, []byte(`="/river/image?`)) {
		p.images = m.images
	}
	if v.brief {
		p.until = s.CurrentTime().Add(briefLife)
	}
	if at, own := origin.SiteOf(r.Context()); own {
		body = at.Rewrite(body)
	}
	o := documents.Options{Type: "text/html; charset=utf-8", Cache: "no-cache", Vary: "Accept-Language", Link: h["Link"], NoSince: true, Now: s.Now}
	if modified.Unix() > 0 {
		o.Modified = modified
	}
	if v.List.User != "" {
		o.Tags = documents.AuthorTag(v.List.User)
	}
	if s.Sessions != nil {
		o.Vary += ", Cookie"
	}
	p.doc = documents.New(body, o)
	k := m.key
	k.path, k.base = strings.Clone(k.path), strings.Clone(k.base) // a copy, so that the cache does not keep the request's memory
	if size := p.doc.Size(); size < maxReadyBytes/4 {
		s.ready.Put(k, p, size)
	}
	return p, true
}

func (p *readyPage) send(rw http.ResponseWriter, r *http.Request) {
	h := rw.Header()
	h["Content-Security-Policy"], h["Content-Language"] = p.policy, p.language
	p.doc.Answer(rw, r)
}
