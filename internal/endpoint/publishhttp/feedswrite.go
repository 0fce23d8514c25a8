package publishhttp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"cloudburst/internal/account"
	"cloudburst/internal/author"
	"cloudburst/internal/endpoint"
	"cloudburst/internal/fault"
	"cloudburst/internal/serve"
	"cloudburst/internal/text"
)

// write handles a request that saves or ends a feed. It returns false if the request does neither.
func (f *Feeds) write(w http.ResponseWriter, r *http.Request, user, name string) bool {
	var err error
	switch r.Method {
	case http.MethodPut:
		err = f.put(w, r, user, name)
	case http.MethodDelete:
		err = f.end(w, r, user, name)
	default:
		return false
	}
	if err == nil {
		return true
	}
	if endpoint.StatusOf(err) == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", `Basic realm="feeds of `+user+`", charset="UTF-8"`)
	}
	f.refuse(w, r, err)
	return true
}

// put saves a document.
//
// spec:cloudburst#save-put
func (f *Feeds) put(w http.ResponseWriter, r *http.Request, user, name string) error {
	if err := f.authorizeWrite(r, user, "put", "update", "create"); err != nil {
		return err
	}
	if err := acceptable(r); err != nil {
		return err
	}
	was, base, err := f.condition(r, user, name)
	if err != nil {
		return err
	}
	// Ignore the errors: a writer that supports no deadlines is behind a proxy that limits the
	// time.
	rc := http.NewResponseController(w)
	_, _ = rc.SetReadDeadline(time.Now().Add(endpoint.UploadTimeout)), rc.SetWriteDeadline(time.Now().Add(endpoint.UploadTimeout+endpoint.AnswerTimeout))
	doc, err := readDocument(r)
	if err != nil {
		return err
	}
	now, err := f.Authors.Put(r.Context(), author.Document{
		User: user, Name: name, Bytes: doc, Type: r.Header.Get("Content-Type"), Via: "put", Base: base,
	})
	if err != nil {
		if base != 0 && fault.CodeOf(err) == fault.Conflict {
			return endpoint.WithStatus(http.StatusPreconditionFailed, err)
		}
		return err
	}
	head := w.Header()
	if !now.AddCloud || now.Push != author.PushMissing { // otherwise the served document differs from doc
		head.Set("ETag", `"`+serve.TagOf(doc)+`"`) // the tag of doc, even if another version was saved meanwhile
		head.Set("Last-Modified", now.SavedAt.UTC().Format(http.TimeFormat))
	}
	addWarning(head, now.Warning())
	head.Set("Location", f.Public()+address(user, name))
	head.Set("Cache-Control", "no-store")
	if was.Version == 0 || was.Gone {
		w.WriteHeader(http.StatusCreated)
		return nil
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// end ends a feed.
func (f *Feeds) end(w http.ResponseWriter, r *http.Request, user, name string) error {
	if err := f.authorizeWrite(r, user, "put", "delete"); err != nil {
		return err
	}
	if _, _, err := f.condition(r, user, name); err != nil {
		return err
	}
	if _, err := f.Authors.End(r.Context(), user, name); err != nil {
		return err
	}
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// address returns the path at which programs save and read a feed.
func address(user, name string) string {
	if name == author.Private {
		return "/" + user + "/private/" + pathSaved
	}
	return "/" + user + "/" + pathSaved
}

// refusedAuthor is the message for every failed login, so that it does not reveal the reason.
const refusedAuthor = "The name or the password is wrong. Send those of your account, or a token, by HTTP Basic or as a bearer token."

// authorizeWrite checks that the request may write as user: with the password, or with a token that
// has one of the scopes.
func (f *Feeds) authorizeWrite(r *http.Request, user, via string, scopes ...string) error {
	from := f.caller(r, via)
	name, password, ok := r.BasicAuth()
	if kind, plain, _ := strings.Cut(r.Header.Get("Authorization"), " "); strings.EqualFold(kind, "Bearer") {
		name, password, ok = user, strings.TrimSpace(plain), true
		return loginFault(byToken(r.Context(), f.Accounts, user, password, from, scopes))
	}
	if !ok {
		return loginFault(fault.New(fault.Refused, "%s", refusedAuthor))
	}
	who, err := logIn(r.Context(), f.Accounts, name, password, from, scopes)
	if err == nil && who != user {
		err = fault.New(fault.Refused, "%s", refusedAuthor)
	}
	return loginFault(err)
}

// loginFault adds the status and the message to the error of a failed login.
func loginFault(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, account.ErrScope):
		return endpoint.WithStatus(http.StatusForbidden, err)
	case fault.CodeOf(err) == fault.Refused:
		return endpoint.WithStatus(http.StatusUnauthorized, fault.Wrap(fault.Refused, err, "%s", refusedAuthor))
	}
	return err
}

// logIn checks a name and password. The password can be a token of the user with one of the scopes.
func logIn(ctx context.Context, a Accounts, name, password string, from account.Caller, scopes []string) (user string, err error) {
	if account.IsToken(password) {
		return name, byToken(ctx, a, name, password, from, scopes)
	}
	u, err := a.Check(ctx, name, password, from)
	return u.Name, err
}

// byToken checks that a token belongs to the user and has one of the scopes.
func byToken(ctx context.Context, a Accounts, user, plain string, from account.Caller, scopes []string) error {
	// Check the owner before the scopes, so that the response reveals nothing about another user's
	// token.
	t, err := a.Token(ctx, plain, "", from)
	switch {
	case err != nil:
		return err
	case t.User != user:
		return fault.New(fault.Refused, "%s", refusedAuthor)
	case !slices.ContainsFunc(scopes, func(s string) bool { return slices.Contains(t.Scopes, s) }):
		return fault.Wrap(fault.Refused, account.ErrScope, "This token has the scope %s; this request needs %s.", strings.Join(t.Scopes, ", "), strings.Join(scopes, " or "))
	}
	return nil
}

// acceptable returns an error if the body of a PUT must not be read.
func acceptable(r *http.Request) error {
	no := func(status int, format string, args ...any) error {
		return endpoint.WithStatus(status, fault.New(fault.Invalid, format, args...))
	}
	switch encoding := strings.TrimSpace(r.Header.Get("Content-Encoding")); {
	case encoding != "" && !strings.EqualFold(encoding, "identity"):
		return no(http.StatusUnsupportedMediaType, "The Content-Encoding %q is not accepted; send the document as it is.", text.Clip(encoding, 40))
	case r.Header.Get("Content-Range") != "":
		return no(http.StatusBadRequest, "A part of a document (Content-Range) cannot be saved; send the whole document.")
	case r.ContentLength > author.MaxDocument:
		return no(http.StatusRequestEntityTooLarge, "The document has %d bytes; at most %d (2 MiB) are accepted.", r.ContentLength, author.MaxDocument)
	case !documentType(kindOf(r.Header.Get("Content-Type"))):
		return no(http.StatusUnsupportedMediaType, "The Content-Type %q is not that of a feed; send application/rss+xml, application/atom+xml, application/xml or application/feed+json.",
			text.Clip(r.Header.Get("Content-Type"), 100))
	}
	return nil
}

// documentType reports whether a media type is plausible for a feed. The format is detected from
// the document itself, but an unrelated type means that the client made a mistake.
func documentType(kind string) bool {
	switch kind {
	case "", "text/xml", "application/xml", "application/json", "text/json", "application/x-cdf", "text/plain", "application/octet-stream",
		"application/x-www-form-urlencoded": // the default of curl for any data
		return true
	}
	return strings.HasSuffix(kind, "+xml") && kind != "application/xhtml+xml" && kind != "image/svg+xml" || strings.HasSuffix(kind, "+json")
}

func readDocument(r *http.Request) ([]byte, error) {
	var doc []byte
	var err error
	if r.ContentLength >= 0 {
		doc = make([]byte, r.ContentLength)
		_, err = io.ReadFull(r.Body, doc)
	} else { // chunked body: the size is not known before the end
		doc, err = io.ReadAll(io.LimitReader(r.Body, author.MaxDocument+1))
	}
	switch {
	case err != nil:
		return nil, endpoint.WithStatus(http.StatusBadRequest, fault.Wrap(fault.Invalid, err, "The document is incomplete; the feed was not changed."))
	case len(doc) > author.MaxDocument:
		return nil, endpoint.WithStatus(http.StatusRequestEntityTooLarge, fault.New(fault.Invalid, "The document has more than %d bytes (2 MiB), the maximum that is accepted.", author.MaxDocument))
	}
	return doc, nil
}

// condition checks the headers If-Match, If-None-Match and, without If-Match, If-Unmodified-Since.
// base is the version that the document may replace.
func (f *Feeds) condition(r *http.Request, user, name string) (now author.Feed, base int64, err error) {
	now, err = f.Authors.Feed(r.Context(), user, name)
	there := err == nil && !now.Gone
	if err != nil && fault.CodeOf(err) != fault.NotFound {
		return author.Feed{}, 0, err
	}
	match, none := r.Header.Values("If-Match"), r.Header.Values("If-None-Match")
	since, dated := time.Time{}, false
	if dates := r.Header.Values("If-Unmodified-Since"); len(dates) == 1 && len(match) == 0 && there {
		at, err := http.ParseTime(dates[0])
		since, dated = at, err == nil // an invalid date is ignored
	}
	if len(match) == 0 && len(none) == 0 && !dated {
		return now, 0, nil
	}
	tag := ""
	if there {
		if tag, err = f.tag(r.Context(), now); err != nil {
			return author.Feed{}, 0, err
		}
	}
	switch {
	case len(match) > 0 && !(there && matchesTag(match, tag, false)):
		return now, 0, preconditionFailed("The feed has another version than If-Match; it was not changed. Read it again.")
	case dated && now.SavedAt.Truncate(time.Second).After(since):
		return now, 0, preconditionFailed("The feed was changed after the time in If-Unmodified-Since; it was not changed. Read it again.")
	case len(none) > 0 && there && matchesTag(none, tag, true):
		return now, 0, preconditionFailed("The feed, or this version of it, already exists (If-None-Match); it was not changed.")
	case now.Version > 0:
		return now, now.Version, nil
	}
	return now, author.New, nil
}

func preconditionFailed(text string) error {
	return endpoint.WithStatus(http.StatusPreconditionFailed, fault.New(fault.Conflict, "%s", text))
}

// matchesTag reports whether a list of tags contains tag or the tag of a compressed form.
func matchesTag(lists []string, tag string, weakToo bool) bool {
	for _, list := range lists {
		for t, weak, rest := serve.NextTag(list); t != ""; t, weak, rest = serve.NextTag(rest) {
			if t == "*" || (weakToo || !weak) && `"`+serve.BaseTag(t)+`"` == tag {
				return true
			}
		}
	}
	return false
}

// tag returns the ETag of the saved document.
func (f *Feeds) tag(ctx context.Context, now author.Feed) (string, error) {
	s := f.hosted(now.User, now.Name).source(now)
	if now.Name != author.Public {
		s = f.hosted(now.User, now.Name).privateSource(now)
	}
	d, _, err := f.Layer.Document(ctx, s, "")
	if err != nil {
		return "", fmt.Errorf("the tag of %s/%s: %w", now.User, now.Name, err)
	}
	return `"` + d.Tag() + `"`, nil
}
