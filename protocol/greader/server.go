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

	"cloudburst/internal/wirehttp"
)

// Backend is a server behind the API. user is what Authenticate returned. An [*Error] is
// answered as it says, [ErrUnauthorized] with 401, anything else with 500 and a sentence
// that tells a stranger nothing. Methods find the request with [RequestFrom].
type Backend interface {
	AccountBackend
	SubscriptionBackend
	ItemBackend
}

// AccountBackend says who a user is.
type AccountBackend interface {
	// Login returns what the app is to send as its Authorization from now on: no spaces,
	// no equals sign.
	Login(ctx context.Context, name, password string) (auth string, err error)
	// Authenticate says whose an Authorization is, whether Login made it or not.
	Authenticate(ctx context.Context, auth string) (user string, err error)
	UserInfo(ctx context.Context, user string) (User, error)
}

// SubscriptionBackend is what a user follows.
type SubscriptionBackend interface {
	Subscriptions(ctx context.Context, user string) ([]Subscription, error)
	Labels(ctx context.Context, user string) ([]string, error)
	Unread(ctx context.Context, user string) ([]Unread, error)
	// Subscribe follows the feed at an address, or of a page.
	Subscribe(ctx context.Context, user, url, title string, labels []string) (Subscription, error)
	// Unsubscribe ends following feeds, all or none of them.
	Unsubscribe(ctx context.Context, user string, feeds []Stream) error
	// EditSubscription gives a feed another title ("": as it is) and other labels.
	EditSubscription(ctx context.Context, user string, feed Stream, title string, add, remove []string) error
	// RenameLabel renames a label; to "" removes it, and no feed.
	RenameLabel(ctx context.Context, user, from, to string) error
	Export(ctx context.Context, user string) (opml []byte, err error)
	// Import follows the feeds of an OPML document and says how many they are.
	Import(ctx context.Context, user string, opml io.Reader) (int, error)
}

// ItemBackend is the items that a user has to read.
type ItemBackend interface {
	// IDs lists items, at most q.N; next is the continuation, "" at the end.
	IDs(ctx context.Context, user string, q Query) (list []Ref, next string, err error)
	// Items is IDs with the content. It is called with a small q.N, page after page.
	Items(ctx context.Context, user string, q Query) (list []Item, next string, err error)
	// Lookup returns those of the items that there are, in any order; at most 100 are
	// asked for at once.
	Lookup(ctx context.Context, user string, ids []ItemID) ([]Item, error)
	// Mark marks items, at most [MaxIDs]; nil leaves what was. Unknown ones are passed over.
	Mark(ctx context.Context, user string, ids []ItemID, read, starred *bool) error
	// MarkAllRead makes everything of a stream read that has a Timestamp of at most to;
	// zero: everything.
	MarkAllRead(ctx context.Context, user string, s Stream, to time.Time) error
}

// Handler answers the API at any prefix.
type Handler struct {
	Backend Backend
	Log     *slog.Logger // gets what callers are not told; nil is silent
	Now     func() time.Time
}

// RequestFrom is the request that a method of [Backend] is called for; nil outside.
func RequestFrom(ctx context.Context) *http.Request { return wirehttp.RequestFrom(ctx) }

// call is one request under way.
type call struct {
	*Handler
	w    http.ResponseWriter
	r    *http.Request
	ctx  context.Context
	form form
	auth string
	user string
	rest string // of the path, after the endpoint
}

// ServeHTTP answers one request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	head := w.Header()
	head.Set("Cache-Control", "private, no-store")
	head.Set("X-Content-Type-Options", "nosniff")
	c := &call{Handler: h, w: w, r: r, ctx: wirehttp.WithRequest(r.Context(), r)}
	if err := c.serve(); err != nil {
		c.refuse(err)
	}
}

// parts splits a path at the prefix under which the API was mounted.
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
			case strings.HasPrefix(rest, "stream/contents/"): // a stream's name may end with a slash
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
		return c.elsewhere()
	case c.r.Method != http.MethodGet && c.r.Method != http.MethodHead && c.r.Method != http.MethodPost:
		c.w.Header().Set("Allow", "GET, HEAD, POST")
		return &Error{Status: http.StatusMethodNotAllowed, Msg: "This address takes GET and POST."}
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
		return &Error{Status: http.StatusNotFound, Msg: "There is no such address in this API."}
	}
	return do()
}

// elsewhere answers what apps ask of a server's address to see whether it is one.
func (c *call) elsewhere() error {
	switch path := strings.TrimSuffix(c.r.URL.Path, "/"); {
	case strings.HasSuffix(path, "/check/compatibility"):
		return c.plain("PASS")
	case strings.HasSuffix(path, "/greader.php"), strings.HasSuffix(path, "/greader"):
		return c.plain("OK")
	}
	return &Error{Status: http.StatusNotFound, Msg: "There is no such address in this API."}
}

// authenticate finds out who asks.
func (c *call) authenticate() error {
	c.auth = authorization(c.r.Header.Get("Authorization"))
	if c.auth == "" {
		return ErrUnauthorized
	}
	var err error
	c.user, err = c.Backend.Authenticate(c.ctx, c.auth)
	return err
}

// authorization is the secret of a header: GoogleLogin auth=…, or Bearer ….
func authorization(header string) string {
	kind, rest, _ := strings.Cut(strings.TrimSpace(header), " ")
	rest = strings.TrimSpace(rest)
	switch {
	case len(rest) > longest:
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

// login is ClientLogin.
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

// badLogin answers as Google did, with the status that apps of today look at.
func (c *call) badLogin(e *Error) error {
	status := http.StatusUnauthorized
	if e != nil {
		status = e.Status
	}
	head := c.w.Header()
	head.Set("Content-Type", "text/plain; charset=utf-8")
	c.w.WriteHeader(status)
	_, err := io.WriteString(c.w, "Error=BadAuthentication\n")
	return c.gone(err)
}

// token is what T may be. It is made of the Authorization alone, so that every server
// of several knows it.
func (c *call) token() string {
	sum := sha256.Sum256([]byte("greader token\x00" + c.auth))
	return hex.EncodeToString(sum[:])[:tokenSize]
}

// checkToken refuses a T that is wrong. Some apps send none, or an x.
func (c *call) checkToken() error {
	if c.r.Method != http.MethodPost {
		c.w.Header().Set("Allow", "POST")
		return &Error{Status: http.StatusMethodNotAllowed, Msg: "What changes something must be posted."}
	}
	t := strings.TrimSpace(c.form.get("T"))
	if t == "" || t == "x" || same(t, c.token()) || same(t, c.auth) {
		return nil
	}
	return ErrUnauthorized
}

func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// json writes an answer.
func (c *call) json(v any) error {
	c.w.Header().Set("Content-Type", "application/json; charset=utf-8")
	enc := json.NewEncoder(c.w)
	enc.SetEscapeHTML(false)
	return c.gone(enc.Encode(v))
}

// plain writes a text; some apps compare it to the letter.
func (c *call) plain(text string) error {
	c.w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, err := io.WriteString(c.w, text)
	return c.gone(err)
}

// done is the answer to what changed something.
func (c *call) done(err error) error {
	if err != nil {
		return err
	}
	return c.plain("OK")
}

// gone takes an error of writing: nobody is left to be told.
func (c *call) gone(error) error { return nil }

// refuse turns an error into its answer.
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
	if c.Now != nil {
		return c.Now()
	}
	return time.Now()
}
