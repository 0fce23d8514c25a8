package publishhttp

import (
	"io"
	"net/http"
	"net/url"
	"path"
	"strings"

	"cloudburst/internal/event"
	"cloudburst/internal/origin"
	"cloudburst/internal/ownhost"
	"cloudburst/internal/route"
)

// Domains serves the pages, feeds and files of authors at the authors' own domains. It handles
// requests before all other routes: a request to the domain of a user is passed to Next with the
// path prefix /<user>/. There is no sign-in at these domains: they neither receive nor set cookies.
type Domains struct {
	Hosts  *ownhost.Hosts
	Public func() string // public URL of this server
	Next   http.Handler
}

// Routes lists the path by which this server proves that a domain leads to it.
func (d *Domains) Routes() []route.Route {
	return []route.Route{{Method: "GET", Path: ownhost.ProofPath, Handler: http.HandlerFunc(d.proof), Purpose: "Proves that the domain of an author leads to this server."}}
}

// proof responds with the tokens of the requested domain.
func (d *Domains) proof(w http.ResponseWriter, r *http.Request) {
	tokens := d.Hosts.Tokens(r.Host)
	if len(tokens) == 0 {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	_, _ = io.WriteString(w, strings.Join(tokens, "\n")+"\n") // ignore the error: the client has disconnected
}

// ServeHTTP serves a request to a domain, redirects pages that have moved to a domain, and passes every
// other request to Next.
//
// spec:cloudburst#own-domains
func (d *Domains) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch user := d.Hosts.UserOf(r.Host); {
	case r.URL.Path == ownhost.ProofPath || !d.Hosts.Any():
		d.Next.ServeHTTP(w, r)
	case user != "":
		d.serve(w, r, origin.Site{User: user, Origin: d.Hosts.Origin(user), Public: strings.TrimRight(d.Public(), "/")})
	default:
		if to := d.moved(r); to != "" {
			http.Redirect(w, r, to, http.StatusMovedPermanently)
			return
		}
		d.Next.ServeHTTP(w, r)
	}
}

// moved returns the URL at the domain of an author for a page that people open below /<user>/. It
// returns "" for other requests, such as those for a feed, which stays available at both URLs.
func (d *Domains) moved(r *http.Request) string {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return ""
	}
	user, rest, below := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	at := d.Hosts.Origin(user)
	if !below || at == "" || rest != "" && !isPage(rest) || !isForPeople(rest) {
		return ""
	}
	return at + withoutUser(r.URL, user)
}

// isForPeople reports whether a path is that of a page for people, and not of a document for
// programs.
func isForPeople(rest string) bool {
	name := path.Base(rest)
	return !strings.Contains(strings.TrimPrefix(name, "."), ".") && name != pathAny && name != pathOPML
}

// withoutUser returns the path and the query of a URL, without the path prefix /<user>. The decoded
// path has the prefix /<user>/, but the encoded path may spell it differently, such as /%61lice%2F.
// The result begins with a slash, so it cannot change the host to which it is appended.
func withoutUser(u *url.URL, user string) string {
	own := "/" + user
	to := url.URL{Path: strings.TrimPrefix(u.Path, own)}
	if strings.HasPrefix(u.RawPath, own+"/") {
		to.RawPath = strings.TrimPrefix(u.RawPath, own)
	}
	if u.RawQuery == "" {
		return to.EscapedPath()
	}
	return to.EscapedPath() + "?" + u.RawQuery
}

// serve serves a request to the domain of an author.
func (d *Domains) serve(w http.ResponseWriter, r *http.Request, at origin.Site) {
	own := "/" + at.User
	switch p := r.URL.Path; {
	case r.Method != http.MethodGet && r.Method != http.MethodHead && r.Method != http.MethodOptions:
		w.Header().Set("Allow", "GET, HEAD, OPTIONS")
		http.Error(w, "Nothing can be sent to this domain. Use "+at.Public+" instead.", http.StatusMethodNotAllowed)
		return
	case !strings.HasPrefix(p, "/"), strings.HasPrefix(p, "/private/"), strings.HasPrefix(p, origin.StaticPath+"author/") && !strings.HasPrefix(p, origin.StaticPath+"author"+own+"/"):
		http.NotFound(w, r)
		return
	case strings.HasPrefix(p, own+"/"):
		http.Redirect(w, r, at.Origin+withoutUser(r.URL, at.User), http.StatusMovedPermanently)
		return
	case strings.HasPrefix(p, origin.StaticPath), p == "/favicon.svg", p == "/healthz":
		own = ""
	case p == origin.StreamPath:
		topic := r.URL.Query().Get("topic")
		if !strings.HasPrefix(topic, at.Public+own+"/") {
			http.NotFound(w, r)
			return
		}
		r = r.Clone(r.Context())
		r.URL.RawQuery = url.Values{"kind": {event.KindSave}, "topic": {topic}}.Encode()
		own = ""
	}
	inner := r.Clone(origin.WithSite(r.Context(), at))
	inner.URL.Path = own + r.URL.Path
	if r.URL.RawPath != "" {
		inner.URL.RawPath = own + r.URL.RawPath
	}
	inner.RequestURI = inner.URL.RequestURI()
	inner.Header.Del("Cookie")
	inner.Header.Del("Authorization")
	d.Next.ServeHTTP(&domainWriter{ResponseWriter: w, at: at}, inner)
}

// domainWriter changes the headers of a response to a request at the domain of an author.
type domainWriter struct {
	http.ResponseWriter
	at   origin.Site
	done bool
}

// Unwrap lets [http.ResponseController] set deadlines.
func (w *domainWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader implements [http.ResponseWriter].
func (w *domainWriter) WriteHeader(status int) {
	if !w.done && status >= 200 {
		w.done = true
		h := w.Header()
		h.Del("Set-Cookie")
		for _, name := range []string{"Location", "Content-Location"} {
			if to := h.Get(name); to != "" {
				h.Set(name, w.at.URL(to))
			}
		}
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write implements [http.ResponseWriter].
func (w *domainWriter) Write(b []byte) (int, error) {
	if !w.done {
		w.WriteHeader(http.StatusOK)
	}
	return w.ResponseWriter.Write(b)
}
