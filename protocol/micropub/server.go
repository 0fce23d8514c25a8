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

// Session is the user and the permissions of a token.
type Session struct {
	User   string   // identifies the user to the Backend
	Scopes []string // permissions of the token: create, update …
}

// hasScope reports whether the token has one of the scopes.
func (s Session) hasScope(scopes ...string) bool {
	return slices.ContainsFunc(scopes, func(one string) bool { return slices.Contains(s.Scopes, one) })
}

// Authenticator checks tokens. Methods of Authenticator, [Backend] and [Media] get the HTTP
// request from [RequestFrom]. An [*Error] that they return sets the response. Any other
// error becomes status 500 with a sentence that reveals nothing of the error.
type Authenticator interface {
	// Authenticate returns the user and the scopes of a token. For an invalid token the
	// error is an [*Error] with the code [Unauthorized].
	Authenticate(ctx context.Context, token string) (Session, error)
}

// Backend implements a Micropub server.
type Backend interface {
	Authenticator
	// Create creates a post and returns its URL. later means that the post is not available yet;
	// then the status is 202.
	Create(ctx context.Context, user string, r *Request) (url string, later bool, err error)
	// Update changes a post and returns its new URL; "": unchanged.
	Update(ctx context.Context, user string, r *Request) (url string, err error)
	// Delete deletes a post. Undelete can restore it.
	Delete(ctx context.Context, user, url string) error
	// Undelete restores a deleted post and returns its new URL; "": unchanged.
	Undelete(ctx context.Context, user, url string) (moved string, err error)
	// Source returns a post in its editable form.
	Source(ctx context.Context, user, url string) (Object, error)
	// Posts lists posts, each with its URL in the property url.
	Posts(ctx context.Context, user string, q ListQuery) ([]Object, error)
	// Categories lists the categories in use.
	Categories(ctx context.Context, user string) ([]string, error)
	// Config returns the configuration for a user.
	Config(ctx context.Context, user string) (Config, error)
}

// Media stores files.
type Media interface {
	// Store stores a file and returns its URL.
	Store(ctx context.Context, user string, f *Upload) (url string, err error)
	// Files lists uploaded files. Properties, PostStatus and Category of q are empty.
	Files(ctx context.Context, user string, q ListQuery) ([]MediaFile, error)
}

// Handler is a Micropub endpoint. Backend must be set.
type Handler struct {
	Backend Backend
	Media   Media        // stores the files of multipart requests; nil: files are rejected
	Log     *slog.Logger // internal failures; nil: no log
}

// MediaHandler is a media endpoint. Auth and Media must be set.
type MediaHandler struct {
	Auth  Authenticator
	Media Media
	Log   *slog.Logger // internal failures; nil: no log
}

// RequestFrom returns the HTTP request on whose behalf a method is called. It is nil
// outside of these calls.
func RequestFrom(ctx context.Context) *http.Request { return wirehttp.RequestFrom(ctx) }

type headerKey struct{}

// HeaderFrom returns the header of the HTTP response to the request on whose behalf a
// method is called. A method may add fields to it. It is nil outside of these calls.
func HeaderFrom(ctx context.Context) http.Header {
	h, _ := ctx.Value(headerKey{}).(http.Header)
	return h
}

// call is the processing of one request.
type call struct {
	auth          Authenticator
	w             http.ResponseWriter
	r             *http.Request
	ctx           context.Context
	session       Session
	authenticated bool // the token is valid
}

// serve serves one request with the function for GET or POST.
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
		err = &Error{Status: http.StatusMethodNotAllowed, Code: InvalidRequest, Description: "This URL accepts GET and POST."}
	}
	if err == nil {
		return
	}
	e, unknown := asError(err)
	if unknown && log != nil && r.Context().Err() == nil {
		log.WarnContext(r.Context(), "a micropub request failed", "method", r.Method, "err", err)
	}
	if r.Method == http.MethodPost {
		head.Set("Connection", "close") // the body may not have been read to its end
	}
	e.write(w)
}

// ServeHTTP serves one request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	serve(h.Backend, h.Log, w, r, h.query, h.post)
}

// ServeHTTP serves one request.
func (h *MediaHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	serve(h.Auth, h.Log, w, r, h.query, h.upload)
}

// authenticateHeader authenticates by the Authorization header, if there is one.
//
// spec:micropub-2017#token-header
// spec:micropub-2017#token-not-in-query
func (c *call) authenticateHeader() error {
	if c.r.URL.Query().Has(fieldToken) {
		return invalid("The token is in the URL, where it may be logged: revoke it, and send a new one as Authorization: Bearer.")
	}
	all := c.r.Header.Values("Authorization")
	if len(all) == 0 {
		return nil
	}
	kind, token, _ := strings.Cut(strings.TrimSpace(all[0]), " ")
	if token = strings.TrimSpace(token); len(all) > 1 || !strings.EqualFold(kind, "Bearer") || token == "" {
		return unauthorized("The Authorization header must be: Bearer, a space, and the token.")
	}
	return c.authenticate(token)
}

// authenticateForm authenticates by the token in a form. Tokens in both header and form are
// an error, because it is unclear which one is meant.
//
// spec:micropub-2017#token-form
// spec:micropub-2017#token-once
func (c *call) authenticateForm(token string) error {
	switch {
	case token != "" && c.authenticated && token != c.formToken():
		return invalid("There are two tokens, in the header and in the form; send one.")
	case token == "" && !c.authenticated:
		return unauthorized("")
	case !c.authenticated:
		c.ctx = context.WithValue(c.ctx, formKey{}, token)
		return c.authenticate(token)
	}
	return nil
}

type formKey struct{}

// formToken returns the token of the form that authenticated the request before a file, or
// "" for a token in the header.
func (c *call) formToken() string {
	s, _ := c.ctx.Value(formKey{}).(string)
	return s
}

func (c *call) authenticate(token string) error {
	if len(token) > MaxToken {
		return unauthorized("The token is too long.")
	}
	who, err := c.auth.Authenticate(c.ctx, token)
	if err != nil {
		return err
	}
	c.session, c.authenticated = who, true
	return nil
}

// requireScope returns an error unless the token has one of the scopes. The error names the
// first one.
//
// spec:micropub-2017#scopes
func (c *call) requireScope(scopes ...string) error {
	if c.session.hasScope(scopes...) {
		return nil
	}
	return &Error{Status: http.StatusUnauthorized, Code: InsufficientScope, Scope: scopes[0],
		Description: "This token is for " + strings.Join(c.session.Scopes, ", ") + "; this needs " + strings.Join(scopes, " or ") + "."}
}

// post executes a POST.
func (h *Handler) post(c *call) error {
	if err := c.authenticateHeader(); err != nil {
		return err
	}
	var store StoreFunc
	if h.Media != nil {
		store = func(f *Upload) (string, error) {
			if err := c.authenticateForm(f.Token); err != nil {
				return "", err
			}
			if err := c.requireScope(ScopeCreate); err != nil {
				return "", err
			}
			return h.Media.Store(c.ctx, c.session.User, f)
		}
	}
	req, token, err := ReadRequest(c.r, store)
	if err != nil && c.authenticated {
		return err
	}
	// Check the token first: without a valid token, the response must not disclose other errors of
	// the request.
	if refusal := c.authenticateForm(token); refusal != nil {
		return refusal
	}
	if err != nil {
		return err
	}
	if err := c.requireScope(req.scopes()...); err != nil {
		return err
	}
	return h.do(c, req)
}

func (h *Handler) do(c *call, req *Request) error {
	switch req.Action {
	case Update:
		at, err := h.Backend.Update(c.ctx, c.session.User, req)
		return c.changed(req.URL, at, err)
	case Undelete:
		at, err := h.Backend.Undelete(c.ctx, c.session.User, req.URL)
		return c.changed(req.URL, at, err)
	case Delete:
		return c.changed("", "", h.Backend.Delete(c.ctx, c.session.User, req.URL))
	}
	// spec:micropub-2017#created
	at, later, err := h.Backend.Create(c.ctx, c.session.User, req)
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

// changed responds to a change of a post. If the URL of the post has changed, it responds with 201
// and the new URL, and otherwise with 204.
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

// authenticateQuery authenticates a GET and returns its query.
func (c *call) authenticateQuery() (url.Values, error) {
	if err := c.authenticateHeader(); err != nil {
		return nil, err
	}
	if !c.authenticated {
		return nil, unauthorized("This needs a token: send it as Authorization: Bearer.")
	}
	v, err := url.ParseQuery(c.r.URL.RawQuery)
	if err != nil {
		return nil, invalid("The query string cannot be read.")
	}
	return v, nil
}

// queries returns the queries that a Handler supports.
func queries() []string {
	return []string{"config", "source", "category", "syndicate-to", "post-types"}
}

// query serves a GET.
func (h *Handler) query(c *call) error {
	v, err := c.authenticateQuery()
	if err != nil {
		return err
	}
	switch q := v.Get("q"); q {
	case "source":
		return h.source(c, v)
	case "category":
		list, err := h.Backend.Categories(c.ctx, c.session.User)
		if err != nil {
			return err
		}
		return c.ok(map[string][]string{"categories": notNil(matching(list, v.Get("filter")))})
	case "config", "syndicate-to", "post-types":
		conf, err := h.Backend.Config(c.ctx, c.session.User)
		if err != nil {
			return err
		}
		conf.SyndicateTo, conf.PostTypes = notNil(conf.SyndicateTo), notNil(conf.PostTypes)
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
		return invalid("The query has no q: it must be one of %s.", strings.Join(queries(), ", "))
	default:
		return invalid("q=%s is unknown; supported are %s.", text.Clip(q, 40), strings.Join(queries(), ", "))
	}
}

// source responds with a post or a list of posts.
//
// spec:micropub-2017#query-source
func (h *Handler) source(c *call, v url.Values) error {
	if err := c.requireScope(ScopeUpdate, ScopeCreate, ScopeDelete); err != nil {
		return err
	}
	if v.Get("url") == "" {
		q, err := listQuery(v)
		if err != nil {
			return err
		}
		items, err := h.Backend.Posts(c.ctx, c.session.User, q)
		if err != nil {
			return err
		}
		for i := range items {
			items[i].Properties = items[i].Properties.Only(q.Properties...)
		}
		return c.ok(map[string][]Object{"items": notNil(items)})
	}
	o, err := h.Backend.Source(c.ctx, c.session.User, v.Get("url"))
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

// notNil returns list, or an empty list instead of nil, which JSON would encode as null.
func notNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
