package greader

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"cloudburst/internal/date"
	"cloudburst/internal/wirehttp"
)

// Backend implements a server. user is the result of Authenticate. An [*Error] sets the
// response, [ErrUnauthorized] becomes status 401, and any other error becomes status 500
// with a sentence that reveals nothing of the error. Methods get the request from
// [RequestFrom].
type Backend interface {
	AccountBackend
	SubscriptionBackend
	ItemBackend
}

// AccountBackend authenticates users.
type AccountBackend interface {
	// Login returns the Authorization that the app sends from now on. It must not contain
	// spaces or equals signs.
	Login(ctx context.Context, name, password string) (auth string, err error)
	// Authenticate returns the user of an Authorization, from Login or any other source
	// such as an app token.
	Authenticate(ctx context.Context, auth string) (user string, err error)
	// UserInfo returns the profile of a user.
	UserInfo(ctx context.Context, user string) (User, error)
}

// SubscriptionBackend stores the subscriptions of users.
type SubscriptionBackend interface {
	// Subscriptions returns the feeds that a user follows.
	Subscriptions(ctx context.Context, user string) ([]Subscription, error)
	// Labels returns the names of all labels of a user.
	Labels(ctx context.Context, user string) ([]string, error)
	// Unread returns the numbers of unread items by stream.
	Unread(ctx context.Context, user string) ([]Unread, error)
	// Subscribe subscribes to the feed at a URL, or to the feed of the page there.
	Subscribe(ctx context.Context, user, url, title string, labels []string) (Subscription, error)
	// Unsubscribe ends subscriptions, either all or none of them.
	Unsubscribe(ctx context.Context, user string, feeds []Stream) error
	// EditSubscription changes the title of a subscription ("": unchanged), and adds and
	// removes labels.
	EditSubscription(ctx context.Context, user string, feed Stream, title string, add, remove []string) error
	// RenameLabel renames a label. If to is empty, the label is removed; its subscriptions
	// stay.
	RenameLabel(ctx context.Context, user, from, to string) error
	// Export returns the subscriptions as an OPML document.
	Export(ctx context.Context, user string) (opml []byte, err error)
	// Import subscribes to the feeds of an OPML document and returns their number.
	Import(ctx context.Context, user string, opml io.Reader) (int, error)
}

// ItemBackend stores the items of users.
type ItemBackend interface {
	// IDs returns the IDs of items, at most q.N. next is the continuation, or "" at the
	// end.
	IDs(ctx context.Context, user string, q Query) (list []Ref, next string, err error)
	// Items returns items with their content. It is called with a small q.N, batch by
	// batch.
	Items(ctx context.Context, user string, q Query) (list []Item, next string, err error)
	// Lookup returns the existing items with these IDs, in any order. ids has at most 100.
	Lookup(ctx context.Context, user string, ids []ItemID) ([]Item, error)
	// Mark marks items, at most [MaxIDs]. A mark that is nil does not change. Unknown items are
	// ignored.
	Mark(ctx context.Context, user string, ids []ItemID, read, starred *bool) error
	// MarkAllRead marks the items of a stream as read whose Timestamp is not after to
	// (zero: all items).
	MarkAllRead(ctx context.Context, user string, s Stream, to time.Time) error
}

// Handler serves the API under any path prefix.
type Handler struct {
	Backend Backend
	Log     *slog.Logger     // internal failures; nil: no log
	Now     func() time.Time // nil: time.Now
}

// RequestFrom returns the HTTP request on whose behalf a method of [Backend] is called. It
// is nil outside of these calls.
func RequestFrom(ctx context.Context) *http.Request { return wirehttp.RequestFrom(ctx) }

// call is the processing of one request.
type call struct {
	*Handler
	w    http.ResponseWriter
	r    *http.Request
	ctx  context.Context
	form form
	auth string
	user string
	rest string // path after the endpoint
}

// ServeHTTP serves one request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	head := w.Header()
	head.Set("Cache-Control", "private, no-store")
	head.Set("X-Content-Type-Options", "nosniff")
	c := &call{Handler: h, w: w, r: r, ctx: wirehttp.WithRequest(r.Context(), r)}
	if err := c.serve(); err != nil {
		c.refuse(err)
	}
}

// parts returns the endpoint that a path names, without the prefix of the API. login reports that
// it is ClientLogin.
func parts(path string) (login bool, name string, ok bool) {
	if strings.HasSuffix(path, "/accounts/ClientLogin") {
		return true, "", true
	}
	if _, stream, found := strings.Cut(path, "/reader/atom/"); found && !strings.Contains(path, "/reader/api/0/") {
		return false, "atom/" + stream, true
	}
	for _, mark := range []string{"/reader/api/0/", "/reader/subscriptions/"} {
		if i := strings.Index(path, mark); i >= 0 {
			switch rest := path[i+len(mark):]; {
			case strings.HasPrefix(rest, "stream/contents/"): // keep a trailing slash, because the name of a stream may end with a slash
				return false, rest, true
			case mark == "/reader/api/0/":
				return false, strings.TrimSuffix(rest, "/"), true
			case rest == "export":
				return false, "subscription/export", true
			}
		}
	}
	return false, "", false
}

func (c *call) serve() error {
	login, name, ok := parts(c.r.URL.Path)
	switch {
	case !ok:
		return c.probe()
	case c.r.Method != http.MethodGet && c.r.Method != http.MethodHead && c.r.Method != http.MethodPost:
		c.w.Header().Set("Allow", "GET, HEAD, POST")
		return &Error{Status: http.StatusMethodNotAllowed, Msg: "This URL accepts GET and POST."}
	}
	importing := name == "subscription/import"
	if !login {
		if err := c.authenticate(); err != nil {
			return err
		}
	}
	if !importing {
		var err error
		if c.form, err = readForm(c.w, c.r); err != nil {
			return err
		}
	}
	if login {
		return c.login()
	}
	do, ok := c.endpoint(name)
	if !ok {
		return &Error{Status: http.StatusNotFound, Msg: "This URL is not part of the API."}
	}
	return do()
}

// probe responds to the requests by which apps detect the API.
func (c *call) probe() error {
	switch path := strings.TrimSuffix(c.r.URL.Path, "/"); {
	case strings.HasSuffix(path, "/check/compatibility"):
		return c.plain("PASS")
	case strings.HasSuffix(path, "/greader.php"), strings.HasSuffix(path, "/greader"):
		return c.plain("OK")
	}
	return &Error{Status: http.StatusNotFound, Msg: "This URL is not part of the API."}
}

// authenticate sets the user of the request.
func (c *call) authenticate() error {
	c.auth = authorization(c.r.Header.Get("Authorization"))
	if c.auth == "" {
		return ErrUnauthorized
	}
	var err error
	c.user, err = c.Backend.Authenticate(c.ctx, c.auth)
	return err
}

// authorization returns the secret in the header: GoogleLogin auth=…, or Bearer ….
func authorization(header string) string {
	kind, rest, _ := strings.Cut(strings.TrimSpace(header), " ")
	rest = strings.TrimSpace(rest)
	switch {
	case len(rest) > maxAuth:
		return ""
	case strings.EqualFold(kind, "Bearer"):
		return rest
	case strings.EqualFold(kind, "GoogleLogin"):
		for field := range strings.SplitSeq(rest, ",") {
			name, value, _ := strings.Cut(strings.TrimSpace(field), "=")
			if strings.EqualFold(name, "auth") {
				return strings.Trim(value, `"`)
			}
		}
	}
	return ""
}

// login serves ClientLogin.
func (c *call) login() error {
	name, password := c.form.get("Email"), c.form.get("Passwd")
	if name == "" || password == "" {
		return c.badLogin(&Error{Status: http.StatusBadRequest, Msg: "Send the user's name as Email and the password as Passwd."})
	}
	auth, err := c.Backend.Login(c.ctx, strings.TrimSpace(name), password)
	switch {
	case errors.Is(err, ErrUnauthorized):
		return c.badLogin(nil)
	case err != nil:
		return err
	case c.form.get("output") == "json":
		return c.json(map[string]string{"SID": auth, "LSID": auth, "Auth": auth})
	}
	return c.plain("SID=" + auth + "\nLSID=" + auth + "\nAuth=" + auth + "\n")
}

// badLogin responds in the same format as Google's server, but with a status that current apps
// check.
func (c *call) badLogin(e *Error) error {
	status := http.StatusUnauthorized
	if e != nil {
		status = e.Status
	}
	head := c.w.Header()
	head.Set("Content-Type", "text/plain; charset=utf-8")
	c.w.WriteHeader(status)
	_, err := io.WriteString(c.w, "Error=BadAuthentication\n")
	return c.ignoreWriteError(err)
}

// token returns the valid value of T. It is derived from the Authorization only, so every
// node of a cluster knows it.
func (c *call) token() string {
	sum := sha256.Sum256([]byte("greader token\x00" + c.auth))
	return hex.EncodeToString(sum[:])[:tokenSize]
}

// checkToken rejects a wrong value of T. It accepts a missing T, and the value x, which some apps
// send.
func (c *call) checkToken() error {
	if c.r.Method != http.MethodPost {
		c.w.Header().Set("Allow", "POST")
		return &Error{Status: http.StatusMethodNotAllowed, Msg: "Send a change as a POST."}
	}
	t := strings.TrimSpace(c.form.get("T"))
	if t == "" || t == "x" || same(t, c.token()) || same(t, c.auth) {
		return nil
	}
	return ErrUnauthorized
}

func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// json writes a JSON response.
func (c *call) json(v any) error {
	c.w.Header().Set("Content-Type", "application/json; charset=utf-8")
	enc := json.NewEncoder(c.w)
	enc.SetEscapeHTML(false)
	return c.ignoreWriteError(enc.Encode(v))
}

// plain writes a text response. The text must not change, because some apps compare it exactly.
func (c *call) plain(text string) error {
	c.w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, err := io.WriteString(c.w, text)
	return c.ignoreWriteError(err)
}

// done responds to a change.
func (c *call) done(err error) error {
	if err != nil {
		return err
	}
	return c.plain("OK")
}

// ignoreWriteError ignores a write error, which means that the client has disconnected.
func (c *call) ignoreWriteError(error) error { return nil }

// refuse converts an error to its response.
func (c *call) refuse(err error) {
	e, ok := errors.AsType[*Error](err)
	switch {
	case errors.Is(err, ErrUnauthorized):
		// spec:cloudburst#greader-unauthorized
		head := c.w.Header()
		head.Set("X-Reader-Google-Bad-Token", "true")
		head.Set("Google-Bad-Token", "true")
		head.Set("WWW-Authenticate", `GoogleLogin realm="/accounts/ClientLogin", service="reader"`)
		e = &Error{Status: http.StatusUnauthorized, Msg: "Unauthorized"}
	case !ok:
		if c.Log != nil && !errors.Is(err, context.Canceled) {
			c.Log.ErrorContext(c.ctx, "greader", "path", c.r.URL.Path, "err", err)
		}
		e = &Error{Status: http.StatusInternalServerError, Msg: "Something went wrong on this server; please try again later."}
	}
	head := c.w.Header()
	if e.RetryAfter > 0 {
		head.Set("Retry-After", strconv.Itoa(int(math.Ceil(e.RetryAfter.Seconds()))))
	}
	head.Set("Content-Type", "text/plain; charset=utf-8")
	c.w.WriteHeader(e.Status)
	_, _ = io.WriteString(c.w, e.Msg)
}

func (c *call) now() time.Time {
	return date.Now(c.Now)
}
