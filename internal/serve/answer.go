package serve

import (
	"net/http"
	"time"

	"cloudburst/internal/date"
)

// clockSkew is the maximum time by which a date from a client may be ahead of the server's clock.
const clockSkew = time.Minute

// ServeHTTP implements http.Handler with [Document.Answer].
func (d *Document) ServeHTTP(w http.ResponseWriter, r *http.Request) { d.Answer(w, r) }

// Answer responds to GET and HEAD with conditions and content negotiation, and returns the status.
// It does not serve ranges: clients read a feed completely or not at all. It appends to a Vary that
// the caller has set.
//
// spec:feedstate-2007#etag-publish
// spec:feedstate-2007#last-modified-publish
// spec:rfc9110#precondition-order
// spec:rfc9110#ranges
func (d *Document) Answer(w http.ResponseWriter, r *http.Request) (status int) {
	switch r.Method {
	case http.MethodGet, http.MethodHead:
	case http.MethodOptions:
		return d.options(w)
	default:
		w.Header().Set("Allow", methods)
		return d.refuse(w, http.StatusMethodNotAllowed, "This document can only be read: send a GET.")
	}
	if d.preconditionFailed(r.Header) {
		return d.refuse(w, http.StatusPreconditionFailed, preconditionText)
	}
	f, ok := d.choose(r.Header["Accept-Encoding"])
	if d.unchanged(r.Header) {
		return d.notModified(w, f)
	}
	if !ok {
		return d.refuse(w, http.StatusNotAcceptable, "Accept-Encoding excludes every encoding of the document: allow gzip or identity.")
	}
	return d.send(w, r, f)
}

const preconditionText = "The document has changed and does not match If-Match or If-Unmodified-Since: read it again."

// NotModified responds with 304 to a client that needs no update, regardless of its tag. Only If-Match
// and If-Unmodified-Since are checked: the status is 412 if they fail.
func (d *Document) NotModified(w http.ResponseWriter, r *http.Request) (status int) {
	if d.preconditionFailed(r.Header) {
		return d.refuse(w, http.StatusPreconditionFailed, preconditionText)
	}
	f, _ := d.choose(r.Header["Accept-Encoding"])
	return d.notModified(w, f)
}

func (d *Document) notModified(w http.ResponseWriter, f *representation) (status int) {
	d.common(w.Header(), f)
	w.WriteHeader(http.StatusNotModified)
	return http.StatusNotModified
}

// common sets the headers of both 200 and 304. It assigns prepared slices, so that a response needs
// no allocations.
func (d *Document) common(head http.Header, f *representation) {
	head["Etag"] = f.tags
	if d.cache != nil {
		head["Cache-Control"] = d.cache
	}
	if d.tags != nil {
		head[CacheTag] = d.tags
	}
	if before := head["Vary"]; len(before) > 0 {
		head["Vary"] = append(before[:len(before):len(before)], d.vary...)
	} else {
		head["Vary"] = d.vary
	}
	if d.since != nil {
		head["Last-Modified"] = d.since
	}
	if d.link != nil {
		head["Link"] = d.link
	}
	d.allowCrossOrigin(head)
}

// allowCrossOrigin lets pages of other origins read a feed.
func (d *Document) allowCrossOrigin(head http.Header) {
	if d.any != nil {
		head["Access-Control-Allow-Origin"] = d.any
		head["Access-Control-Expose-Headers"] = d.exposed
	}
}

// send responds with a whole representation.
//
// spec:feedstate-2007#gzip-publish
func (d *Document) send(w http.ResponseWriter, r *http.Request, f *representation) (status int) {
	status = http.StatusOK
	head := w.Header()
	d.common(head, f)
	if d.kind != nil {
		head["Content-Type"] = d.kind
	}
	head["Content-Length"] = f.length
	head["Accept-Ranges"] = d.ranges
	if f.encoding != nil {
		head["Content-Encoding"] = f.encoding
	}
	if d.policy != nil {
		head["Content-Security-Policy"] = d.policy
		head["X-Content-Type-Options"] = d.nosniff
	}
	if d.delta != nil {
		head["Im"] = d.delta
		status = http.StatusIMUsed
		w.WriteHeader(status)
	}
	if r.Method == http.MethodHead {
		return status
	}
	// Errors are ignored: they mean that the client closed the connection.
	if f.body == nil && d.size > 0 {
		_ = d.unpack(w)
		return status
	}
	_, _ = w.Write(f.body)
	return status
}

// choose selects the representation for an Accept-Encoding. If the header excludes all
// representations, ok is false and f is the plain representation.
//
// spec:rfc9110#content-negotiation
func (d *Document) choose(accept []string) (f *representation, ok bool) {
	a := readAccept(accept)
	gzip, br := a.gzip, a.br
	if !d.o.Brotli {
		br = 0
	}
	// Do not use a coding with a lower weight than identity, and no coding if gzip saves no bytes.
	// If identity is excluded, use a coding anyway.
	if gzip < a.identity || !d.preferGzip && a.identity > 0 {
		gzip = 0
	}
	if br < a.identity || !d.preferGzip && a.identity > 0 {
		br = 0
	}
	switch {
	case br > 0 && br >= gzip:
		return d.brotli(), true
	case gzip > 0:
		return d.gzip(), true
	}
	return &d.plain, a.identity > 0
}

// matchesTag reports whether t is the tag of a representation. It accepts tags without quotes,
// because some clients drop the quotes.
func (d *Document) matchesTag(t string) bool { return BaseTag(t) == d.tag }

// ClientHas reports whether If-None-Match names a representation of this document.
func (d *Document) ClientHas(h http.Header) bool {
	for _, list := range h["If-None-Match"] {
		for t, _, rest := nextTag(list); t != ""; t, _, rest = nextTag(rest) {
			if t == "*" || d.matchesTag(t) {
				return true
			}
		}
	}
	return false
}

// unchanged reports whether the client already has this document, in any representation. It ignores
// If-Modified-Since if the request has If-None-Match.
func (d *Document) unchanged(h http.Header) bool {
	if len(h["If-None-Match"]) > 0 {
		return d.ClientHas(h)
	}
	dates := h["If-Modified-Since"]
	if len(dates) != 1 || d.since == nil || d.o.NoSince {
		return false
	}
	if dates[0] == d.since[0] {
		return true // fast path for the most common case
	}
	at, err := http.ParseTime(dates[0])
	return err == nil && !d.modified.After(at) && !at.After(d.now().Add(clockSkew))
}

// preconditionFailed reports whether If-Match or If-Unmodified-Since excludes this document.
func (d *Document) preconditionFailed(h http.Header) bool {
	if lists := h["If-Match"]; len(lists) > 0 {
		for _, list := range lists {
			for t, weak, rest := nextTag(list); t != ""; t, weak, rest = nextTag(rest) {
				if t == "*" || !weak && d.matchesTag(t) {
					return false
				}
			}
		}
		return true
	}
	dates := h["If-Unmodified-Since"]
	if len(dates) != 1 || d.since == nil {
		return false
	}
	at, err := http.ParseTime(dates[0])
	return err == nil && d.modified.After(at)
}

func (d *Document) now() time.Time {
	return date.Now(d.o.Now)
}

// options responds to OPTIONS, including CORS preflight requests.
func (d *Document) options(w http.ResponseWriter) (status int) {
	head := w.Header()
	head.Set("Allow", methods)
	if d.o.Feed {
		d.allowCrossOrigin(head)
		head.Set("Access-Control-Allow-Methods", methods)
		head.Set("Access-Control-Allow-Headers", corsHeaders)
		head.Set("Access-Control-Max-Age", "86400")
	}
	w.WriteHeader(http.StatusNoContent)
	return http.StatusNoContent
}

func (d *Document) refuse(w http.ResponseWriter, status int, text string) int {
	d.allowCrossOrigin(w.Header())
	w.Header().Set("Cache-Control", "no-store")
	http.Error(w, text, status)
	return status
}
