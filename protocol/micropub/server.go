package micropub

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"cloudburst/internal/text"
	"cloudburst/internal/wirehttp"
)

// Session is what a token opens.
type Session struct {
	User   string
	Scopes []string
}

// may reports that the token has one of the scopes.
func (s Session) may(scopes ...string) bool {
	return slices.ContainsFunc(scopes, func(one string) bool { return slices.Contains(s.Scopes, one) })
}

// Authenticator knows tokens. Methods of it, of [Backend] and of [Media] find the HTTP
// request with [RequestFrom]. An [*Error] of theirs is answered as it says, anything else
// with 500 and a sentence that tells a stranger nothing.
type Authenticator interface {
	// Authenticate says whose a token is; an [*Error] of [Unauthorized] where it is none.
	Authenticate(ctx context.Context, token string) (Session, error)
}

// Backend is a server behind the interface.
type Backend interface {
	Authenticator
	// Create makes a post and returns its address. later means that it is not there yet,
	// but will be.
	Create(ctx context.Context, user string, r *Request) (url string, later bool, err error)
	// Update changes a post and returns the address that it has from then on; "": as before.
	Update(ctx context.Context, user string, r *Request) (url string, err error)
	Delete(ctx context.Context, user, url string) error
	// Undelete brings a post back; url is as of Update.
	Undelete(ctx context.Context, user, url string) (moved string, err error)
	// Source is a post as it was written.
	Source(ctx context.Context, user, url string) (Object, error)
	// Posts lists posts, each with its address in the property url.
	Posts(ctx context.Context, user string, q ListQuery) ([]Object, error)
	// Categories lists those that were used.
	Categories(ctx context.Context, user string) ([]string, error)
	Config(ctx context.Context, user string) (Config, error)
}

// Media keeps files.
type Media interface {
	// Store stores a file and returns its address.
	Store(ctx context.Context, user string, f *Upload) (url string, err error)
	// Files lists those that were uploaded; Properties, PostStatus and Category are empty.
	Files(ctx context.Context, user string, q ListQuery) ([]MediaFile, error)
}

// Handler is a Micropub endpoint. Backend must be set.
type Handler struct {
	Backend Backend
	Media   Media        // takes the files of multipart requests; nil: they are refused
	Log     *slog.Logger // gets what callers are not told; nil is silent
}

// MediaHandler is a media endpoint. Both fields but Log must be set.
type MediaHandler struct {
	Auth  Authenticator
	Media Media
	Log   *slog.Logger
}

// RequestFrom is the HTTP request that a method is called for; nil outside.
func RequestFrom(ctx context.Context) *http.Request { return wirehttp.RequestFrom(ctx) }

type headerKey struct{}

// HeaderFrom is the header of the HTTP response to the request that a method is called for;
// nil outside. A method may add fields to it.
func HeaderFrom(ctx context.Context) http.Header {
	h, _ := ctx.Value(headerKey{}).(http.Header)
	return h
}

// call is one request under way.
type call struct {
	auth Authenticator
	w    http.ResponseWriter
	r    *http.Request
	ctx  context.Context
	who  Session
	in   bool // who is known
}

// serve answers one request with what do does for GET and for POST.
func serve(auth Authenticator, log *slog.Logger, w http.ResponseWriter, r *http.Request, get, post func(c *call) error) {
	head := w.Header()
	head.Set("Access-Control-Allow-Origin", "*")
	head.Set("Access-Control-Expose-Headers", "Location, Link, Warning, WWW-Authenticate")
	head.Set("Cache-Control", "no-store")
	head.Set("X-Content-Type-Options", "nosniff")
	c := &call{auth: auth, w: w, r: r, ctx: context.WithValue(wirehttp.WithRequest(r.Context(), r), headerKey{}, head)}
	var err error
	switch r.Method {
	case http.MethodOptions:
		head.Set("Allow", "GET, POST, OPTIONS")
		head.Set("Access-Control-Allow-Methods", "GET, POST, OPTIONS")
		head.Set("Access-Control-Allow-Headers", "Authorization, Accept, Content-Type")
		head.Set("Access-Control-Max-Age", "86400")
		w.WriteHeader(http.StatusNoContent)
		return
	case http.MethodGet, http.MethodHead:
		err = get(c)
	case http.MethodPost:
		err = post(c)
	default:
		head.Set("Allow", "GET, POST, OPTIONS")
		err = &Error{Status: http.StatusMethodNotAllowed, Code: InvalidRequest, Description: "This address takes GET and POST."}
	}
	if err == nil {
		return
	}
	e, unknown := asError(err)
	if unknown && log != nil && r.Context().Err() == nil {
		log.WarnContext(r.Context(), "a micropub request failed", "method", r.Method, "err", err)
	}
	if r.Method == http.MethodPost {
		head.Set("Connection", "close") // the body may not have been read
	}
	e.write(w)
}

// ServeHTTP answers one request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	serve(h.Backend, h.Log, w, r, h.query, h.act)
}

// ServeHTTP answers one request.
func (h *MediaHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	serve(h.Auth, h.Log, w, r, h.query, h.take)
}

// header lets in by the Authorization header, where there is one.
//
// spec:micropub-2017#token-header
// spec:micropub-2017#token-not-in-query
func (c *call) header() error {
	if c.r.URL.Query().Has(fieldToken) {
		return invalid("The token stands in the address, where it is written down on its way: revoke it, and send the next one as Authorization: Bearer.")
	}
	all := c.r.Header.Values("Authorization")
	if len(all) == 0 {
		return nil
	}
	kind, token, _ := strings.Cut(strings.TrimSpace(all[0]), " ")
	if token = strings.TrimSpace(token); len(all) > 1 || !strings.EqualFold(kind, "Bearer") || token == "" {
		return refused("The Authorization header has another form than: Bearer, a space, and the token.")
	}
	return c.enter(token)
}

// form lets in by the token of a form. Both ways at once are a mistake, because nobody
// knows which one was meant.
//
// spec:micropub-2017#token-form
// spec:micropub-2017#token-once
func (c *call) form(token string) error {
	switch {
	case token != "" && c.in && token != c.formToken():
		return invalid("There are two tokens, in the header and in the form; send one.")
	case token == "" && !c.in:
		return refused("")
	case !c.in:
		c.ctx = context.WithValue(c.ctx, formKey{}, token)
		return c.enter(token)
	}
	return nil
}

type formKey struct{}

// formToken is the token of the form by which the caller was let in already, before a
// file; "" when it was by the header.
func (c *call) formToken() string {
	s, _ := c.ctx.Value(formKey{}).(string)
	return s
}

func (c *call) enter(token string) error {
	if len(token) > MaxToken {
		return refused("The token is longer than any is.")
	}
	who, err := c.auth.Authenticate(c.ctx, token)
	if err != nil {
		return err
	}
	c.who, c.in = who, true
	return nil
}

// need refuses who has none of the scopes; the first one is named.
//
// spec:micropub-2017#scopes
func (c *call) need(scopes ...string) error {
	if c.who.may(scopes...) {
		return nil
	}
	return &Error{Status: http.StatusUnauthorized, Code: InsufficientScope, Scope: scopes[0],
		Description: "This token is for " + strings.Join(c.who.Scopes, ", ") + "; this needs " + strings.Join(scopes, " or ") + "."}
}

// act does what a POST asks for.
func (h *Handler) act(c *call) error {
	if err := c.header(); err != nil {
		return err
	}
	var keep StoreFunc
	if h.Media != nil {
		keep = func(f *Upload) (string, error) {
			if err := c.form(f.Token); err != nil {
				return "", err
			}
			if err := c.need(ScopeCreate); err != nil {
				return "", err
			}
			return h.Media.Store(c.ctx, c.who.User, f)
		}
	}
	req, token, err := ReadRequest(c.r, keep)
	if err != nil && c.in {
		return err
	}
	// Who is not let in learns nothing of what is wrong besides.
	if refusal := c.form(token); refusal != nil {
		return refusal
	}
	if err != nil {
		return err
	}
	if err := c.need(req.scopes()...); err != nil {
		return err
	}
	return h.do(c, req)
}

func (h *Handler) do(c *call, req *Request) error {
	switch req.Action {
	case Update:
		at, err := h.Backend.Update(c.ctx, c.who.User, req)
		return c.changed(req.URL, at, err)
	case Undelete:
		at, err := h.Backend.Undelete(c.ctx, c.who.User, req.URL)
		return c.changed(req.URL, at, err)
	case Delete:
		return c.changed("", "", h.Backend.Delete(c.ctx, c.who.User, req.URL))
	}
	// spec:micropub-2017#created
	at, later, err := h.Backend.Create(c.ctx, c.who.User, req)
	if err != nil {
		return err
	}
	status := http.StatusCreated
	if later {
		status = http.StatusAccepted
	}
	c.w.Header().Set("Location", at)
	c.w.WriteHeader(status)
	return nil
}

// changed answers that a post changed: 201 with its address if that is another now.
//
// spec:micropub-2017#changed
func (c *call) changed(was, is string, err error) error {
	switch {
	case err != nil:
		return err
	case is != "" && is != was:
		c.w.Header().Set("Location", is)
		c.w.WriteHeader(http.StatusCreated)
	default:
		c.w.WriteHeader(http.StatusNoContent)
	}
	return nil
}

// enterQuery lets in who asks by GET.
func (c *call) enterQuery() (url.Values, error) {
	if err := c.header(); err != nil {
		return nil, err
	}
	if !c.in {
		return nil, refused("This needs a token: send it as Authorization: Bearer.")
	}
	v, err := url.ParseQuery(c.r.URL.RawQuery)
	if err != nil {
		return nil, invalid("The query string cannot be read.")
	}
	return v, nil
}

// queries are those that a Handler answers.
func queries() []string {
	return []string{"config", "source", "category", "syndicate-to", "post-types"}
}

// query answers a GET.
func (h *Handler) query(c *call) error {
	v, err := c.enterQuery()
	if err != nil {
		return err
	}
	switch q := v.Get("q"); q {
	case "source":
		return h.source(c, v)
	case "category":
		list, err := h.Backend.Categories(c.ctx, c.who.User)
		if err != nil {
			return err
		}
		return c.ok(map[string][]string{"categories": some(matching(list, v.Get("filter")))})
	case "config", "syndicate-to", "post-types":
		conf, err := h.Backend.Config(c.ctx, c.who.User)
		if err != nil {
			return err
		}
		conf.SyndicateTo, conf.PostTypes = some(conf.SyndicateTo), some(conf.PostTypes)
		switch q {
		// spec:micropub-2017#query-syndicate-to
		case "syndicate-to":
			return c.ok(map[string]any{q: conf.SyndicateTo})
		case "post-types":
			return c.ok(map[string]any{q: conf.PostTypes})
		}
		if conf.Q == nil {
			conf.Q = queries()
		}
		return c.ok(conf)
	case "":
		return invalid("The query says not what it asks for: q is one of %s.", strings.Join(queries(), ", "))
	default:
		return invalid("q=%s is not known here; there are %s.", text.Clip(q, 40), strings.Join(queries(), ", "))
	}
}

// source answers with a post, or with a list of them.
//
// spec:micropub-2017#query-source
func (h *Handler) source(c *call, v url.Values) error {
	if err := c.need(ScopeUpdate, ScopeCreate, ScopeDelete); err != nil {
		return err
	}
	if v.Get("url") == "" {
		q, err := listQuery(v)
		if err != nil {
			return err
		}
		items, err := h.Backend.Posts(c.ctx, c.who.User, q)
		if err != nil {
			return err
		}
		for i := range items {
			items[i].Properties = items[i].Properties.Only(q.Properties...)
		}
		return c.ok(map[string][]Object{"items": some(items)})
	}
	o, err := h.Backend.Source(c.ctx, c.who.User, v.Get("url"))
	if err != nil {
		return err
	}
	if only := names(v); len(only) > 0 {
		o = Object{Properties: o.Properties.Only(only...)}
	}
	return c.ok(o)
}

func (c *call) ok(v any) error {
	writeJSON(c.w, http.StatusOK, v)
	return nil
}

// some is a list that is written as one also when it is empty.
func some[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
