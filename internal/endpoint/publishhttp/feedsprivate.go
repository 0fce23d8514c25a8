package publishhttp

import (
	"bytes"
	"context"
	"net/http"
	"path"
	"strings"

	"cloudburst/internal/account"
	"cloudburst/internal/author"
	"cloudburst/internal/endpoint"
	"cloudburst/internal/fault"
	"cloudburst/internal/syndicate"
	"cloudburst/protocol/wsse"
)

// realm is the realm of the password dialog in feed readers.
const realm = "private feed"

// privatePath is a path below /<user>/private/.
type privatePath struct {
	slug     string // slug of the group
	secret   string // secret of a reader, if the path contains one
	named    bool
	document string // rss.xml, feed, feed.EXT or media/HASH/NAME
}

// splitPrivate splits a path of the form [GROUP/][SECRET/]DOCUMENT. GROUP is absent for the default
// group. If groups is not set, there is only the default group.
func splitPrivate(rest string, groups bool) privatePath {
	p := privatePath{slug: author.DefaultGroup}
	first, behind, more := strings.Cut(rest, "/")
	if more && groups && isName(first) && first+"/" != pathMedia {
		p.slug, rest = first, behind
		first, behind, more = strings.Cut(rest, "/")
	}
	if more && first+"/" != pathMedia {
		p.secret, p.named, rest = first, true, behind
	}
	p.document = rest
	return p
}

// private serves the feed of a group to readers with a secret, and the files of its posts.
//
// spec:datafeeds-2006#private-feeds
func (f *Feeds) private(w http.ResponseWriter, r *http.Request, user, rest string) {
	head := w.Header()
	head.Set("Cache-Control", "private, no-store")
	head.Set("Referrer-Policy", "no-referrer")
	head.Set("X-Robots-Tag", "noindex, nofollow")
	p := splitPrivate(rest, f.Group != nil)
	if !p.named {
		// After the user has entered the password, a browser also sends it with requests that pages
		// of other sites cause, and the script feed.js would run in such a page. This header
		// prevents that.
		head.Set("Cross-Origin-Resource-Policy", "same-origin")
	}
	file := f.Media != nil && strings.HasPrefix(p.document, pathMedia)
	if !file && p.document != pathSaved && p.document != pathAny && !strings.HasPrefix(p.document, extPrefix) {
		f.refuse(w, r, errNoFeed())
		return
	}
	saves := !p.named && p.document == pathSaved && p.slug == author.DefaultGroup
	if saves && f.write(w, r, user, author.Private) {
		return
	}
	if !allowRead(w, r, saves) {
		return
	}
	reader, err := f.openPrivate(r, user, p)
	if err != nil {
		f.refuseReader(w, r, err, p.named)
		return
	}
	if file {
		f.privateMedia(w, r, user, p)
		return
	}
	f.answer(w, r, user, author.GroupFeed(p.slug), p.document, reader)
}

// openPrivate checks the secret of a reader, and then whether the group exists.
func (f *Feeds) openPrivate(r *http.Request, user string, p privatePath) (reader account.Secret, err error) {
	if p.named {
		reader, err = f.openByURL(r, user, p)
	} else {
		reader, err = f.openByHeader(r, user, p)
	}
	if err == nil && f.Group != nil {
		_, err = f.Group(r.Context(), user, p.slug)
	}
	return reader, err
}

// privateSource returns the source of a private feed for one reader. The document names the
// reader's own topic. URLs of files are below that topic, because programs that show a post do not
// send the login of its feed with requests for its files. The document does not depend on how the
// reader authenticates, and does not contain the secret: a WSSE reader never sends it.
//
// spec:cloudburst#private-topic
func (f *Feeds) privateSource(now author.Feed, reader account.Secret) syndicate.Source {
	h := f.hosted(now.User, now.Name)
	s := h.privateSource(now)
	slug, group := author.GroupOf(now.Name)
	if !group || f.Topics == nil {
		return s
	}
	reader.User, reader.Feed = now.User, now.Name
	topics{f}.declare(&s, h, reader)
	s.Key += " " + reader.Selector
	load, media := s.Load, []byte(author.GroupBase(now.User, slug)+pathMedia)
	s.Load = func(ctx context.Context) ([]byte, string, error) {
		doc, kind, err := load(ctx)
		return bytes.ReplaceAll(doc, media, []byte(topicBase(f.Topics, reader)+pathMedia)), kind, err
	}
	return s
}

// IsPrivatePath reports whether p is a path of a private feed, with or without a secret and in any
// spelling.
//
// spec:cloudburst#hosted-private
func IsPrivatePath(p string) bool {
	user, rest, _ := strings.Cut(strings.TrimPrefix(path.Clean("/"+p), "/"), "/")
	return isName(user) && (rest == "private" || strings.HasPrefix(rest, "private/"))
}

// IsSecretPath reports whether p contains a reader's secret in the form that this program creates.
func IsSecretPath(p string) bool {
	user, rest, _ := strings.Cut(strings.TrimPrefix(path.Clean("/"+p), "/"), "/")
	private, rest, _ := strings.Cut(rest, "/")
	pair, rest, _ := strings.Cut(rest, "/")
	if isName(pair) { // a group
		pair, _, _ = strings.Cut(rest, "/")
	}
	selector, secret, _ := strings.Cut(pair, ".")
	return isName(user) && private == "private" && len(selector) == 12 && len(secret) == 32
}

// errNoFeed returns the error for every private feed that is missing or inaccessible. It is always
// the same, so that it does not reveal the reason.
func errNoFeed() error { return fault.New(fault.NotFound, "There is no such feed here.") }

// openByURL checks the secret in the URL.
func (f *Feeds) openByURL(r *http.Request, user string, p privatePath) (account.Secret, error) {
	selector, secret, _ := strings.Cut(p.secret, ".")
	return f.Accounts.OpenByURL(r.Context(), user, author.GroupFeed(p.slug), selector, secret, f.caller(r, "token"))
}

// openByHeader checks the secret in the header of Basic or WSSE authentication.
func (f *Feeds) openByHeader(r *http.Request, user string, p privatePath) (account.Secret, error) {
	token, there, err := wsse.FromHeader(r.Header)
	switch {
	case err != nil:
		return account.Secret{}, fault.Wrap(fault.Refused, err, "%s", refusedReader)
	case there:
		return f.Accounts.OpenByWSSE(r.Context(), user, author.GroupFeed(p.slug), token, f.caller(r, "wsse"))
	}
	name, password, ok := r.BasicAuth()
	if !ok {
		return account.Secret{}, fault.New(fault.Refused, "%s", refusedReader)
	}
	return f.Accounts.OpenByBasic(r.Context(), user, author.GroupFeed(p.slug), name, password, f.caller(r, "basic"))
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
