package publishhttp

import (
	"net/http"
	"path"
	"strings"

	"cloudburst/internal/account"
	"cloudburst/internal/author"
	"cloudburst/internal/endpoint"
	"cloudburst/internal/fault"
	"cloudburst/protocol/wsse"
)

// realm is the realm of the password dialog in feed readers.
const realm = "private feed"

// private serves a private feed to readers with a secret. document is rss.xml, feed or feed.EXT,
// with or without the secret as a path prefix.
//
// spec:datafeeds-2006#private-feeds
func (f *Feeds) private(w http.ResponseWriter, r *http.Request, user, document string) {
	head := w.Header()
	head.Set("Cache-Control", "private, no-store")
	head.Set("Referrer-Policy", "no-referrer")
	head.Set("X-Robots-Tag", "noindex, nofollow")
	secret, behind, named := strings.Cut(document, "/")
	if named {
		document = behind
	} else {
		// A browser with the password also sends it for requests by other sites' pages, and a
		// script (feed.js) would run in such a page.
		head.Set("Cross-Origin-Resource-Policy", "same-origin")
	}
	if document != pathSaved && document != pathAny && !strings.HasPrefix(document, extPrefix) {
		f.refuse(w, r, errNoFeed())
		return
	}
	saves := !named && document == pathSaved
	if saves && f.write(w, r, user, author.Private) {
		return
	}
	if !allowRead(w, r, saves) {
		return
	}
	if r.Method == http.MethodOptions {
		preflight(w, saves)
		return
	}
	var reader account.Secret
	var err error
	if named {
		reader, err = f.openByURL(r, user, secret)
	} else {
		reader, err = f.openByHeader(r, user)
	}
	if err != nil {
		f.refuseReader(w, r, err, named)
		return
	}
	f.answer(w, r, user, author.Private, document, reader.Selector)
}

// IsPrivatePath reports whether p is a path of a private feed, with or without the secret and in
// any spelling.
//
// spec:cloudburst#hosted-private
func IsPrivatePath(p string) bool {
	user, rest, _ := strings.Cut(strings.TrimPrefix(path.Clean("/"+p), "/"), "/")
	return isName(user) && (rest == "private" || strings.HasPrefix(rest, "private/"))
}

// IsSecretPath reports whether p contains a reader's secret as created by this program.
func IsSecretPath(p string) bool {
	user, rest, _ := strings.Cut(strings.TrimPrefix(path.Clean("/"+p), "/"), "/")
	private, rest, _ := strings.Cut(rest, "/")
	pair, _, _ := strings.Cut(rest, "/")
	selector, secret, _ := strings.Cut(pair, ".")
	return isName(user) && private == "private" && len(selector) == 12 && len(secret) == 32
}

// errNoFeed is the only error for a missing or inaccessible private feed, whatever the reason.
func errNoFeed() error { return fault.New(fault.NotFound, "There is no such feed here.") }

// openByURL checks the secret in the URL.
func (f *Feeds) openByURL(r *http.Request, user, pair string) (account.Secret, error) {
	selector, secret, _ := strings.Cut(pair, ".")
	return f.Accounts.OpenByURL(r.Context(), user, author.Private, selector, secret, f.caller(r, "token"))
}

// openByHeader checks the secret in a Basic or WSSE header.
func (f *Feeds) openByHeader(r *http.Request, user string) (account.Secret, error) {
	token, there, err := wsse.FromHeader(r.Header)
	switch {
	case err != nil:
		return account.Secret{}, fault.Wrap(fault.Refused, err, "%s", refusedReader)
	case there:
		return f.Accounts.OpenByWSSE(r.Context(), user, author.Private, token, f.caller(r, "wsse"))
	}
	name, password, ok := r.BasicAuth()
	if !ok {
		return account.Secret{}, fault.New(fault.Refused, "%s", refusedReader)
	}
	return f.Accounts.OpenByBasic(r.Context(), user, author.Private, name, password, f.caller(r, "basic"))
}

const refusedReader = "This feed is private. Send the name and the secret from its author, by HTTP Basic or WSSE."

// refuseReader rejects a reader. The response does not reveal the reason, or whether the feed
// exists.
func (f *Feeds) refuseReader(w http.ResponseWriter, r *http.Request, err error, byURL bool) {
	switch code := fault.CodeOf(err); {
	case code != fault.Refused && code != fault.NotFound && code != fault.Invalid:
		f.refuse(w, r, err)
	case byURL:
		f.refuse(w, r, errNoFeed())
	default:
		head := w.Header()
		head.Add("WWW-Authenticate", `Basic realm="`+realm+`", charset="UTF-8"`)
		head.Add("WWW-Authenticate", wsse.Challenge(realm))
		writeText(w, http.StatusUnauthorized, refusedReader+"\n")
	}
}

func (f *Feeds) caller(r *http.Request, via string) account.Caller {
	return account.Caller{Addr: endpoint.CallerAddr(r, f.Trusted), Via: via}
}
