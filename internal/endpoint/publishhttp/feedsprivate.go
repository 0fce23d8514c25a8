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

// realm names what a reader's program asks its user the password for.
const realm = "private feed"

// private answers for what only readers with a secret may read: the door is rss.xml,
// feed or feed.EXT, alone or behind the secret itself.
//
// spec:datafeeds-2006#private-feeds
func (f *Feeds) private(w http.ResponseWriter, r *http.Request, user, door string) {
	head := w.Header()
	head.Set("Cache-Control", "private, no-store")
	head.Set("Referrer-Policy", "no-referrer")
	head.Set("X-Robots-Tag", "noindex, nofollow")
	secret, behind, named := strings.Cut(door, "/")
	if named {
		door = behind
	} else {
		// A browser that was given the password sends it along with whatever any page asks
		// for, and scripts (feed.js) run in that page.
		head.Set("Cross-Origin-Resource-Policy", "same-origin")
	}
	if door != pathSaved && door != pathAny && !strings.HasPrefix(door, extPrefix) {
		f.refuse(w, r, errNoFeed())
		return
	}
	saves := !named && door == pathSaved
	if saves && f.write(w, r, user, author.Private) {
		return
	}
	if !reading(w, r, saves) {
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
	f.answer(w, r, user, author.Private, door, reader.Selector)
}

// PrivatePath reports a path of a private feed, in any way in which it may be written:
// with the secret or without.
//
// spec:cloudburst#hosted-private
func IsPrivatePath(p string) bool {
	user, rest, _ := strings.Cut(strings.TrimPrefix(path.Clean("/"+p), "/"), "/")
	return isName(user) && (rest == "private" || strings.HasPrefix(rest, "private/"))
}

// SecretPath reports a path that holds a reader's secret, as this program makes them.
func IsSecretPath(p string) bool {
	user, rest, _ := strings.Cut(strings.TrimPrefix(path.Clean("/"+p), "/"), "/")
	private, rest, _ := strings.Cut(rest, "/")
	pair, _, _ := strings.Cut(rest, "/")
	selector, secret, _ := strings.Cut(pair, ".")
	return isName(user) && private == "private" && len(selector) == 12 && len(secret) == 32
}

// errNoFeed is what strangers read wherever there is nothing for them, whatever the
// reason.
func errNoFeed() error { return fault.New(fault.NotFound, "There is no such feed here.") }

// openByURL lets in who knows the secret in the address.
func (f *Feeds) openByURL(r *http.Request, user, pair string) (account.Secret, error) {
	selector, secret, _ := strings.Cut(pair, ".")
	return f.Accounts.OpenByURL(r.Context(), user, author.Private, selector, secret, f.caller(r, "token"))
}

// openByHeader lets in who proves the secret by Basic or WSSE.
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

const refusedReader = "This feed is private. Send the name and the secret that its author gave you, by HTTP Basic or WSSE."

// refuseReader answers one who is not let in: in the same words whatever was wrong, and
// whether there is such a feed or not.
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
		say(w, http.StatusUnauthorized, refusedReader+"\n")
	}
}

func (f *Feeds) caller(r *http.Request, door string) account.Caller {
	return account.Caller{Addr: endpoint.CallerAddr(r, f.Trusted), Via: door}
}
