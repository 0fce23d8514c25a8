package api

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"cloudburst/internal/account"
	"cloudburst/internal/api/exchange"
	"cloudburst/internal/fault"
	"cloudburst/internal/limit"
	"cloudburst/internal/route"
)

// Tokens authenticates programs by token. [*account.Accounts] implements it.
type Tokens interface {
	// Token returns the token whose text is plain. Errors: fault.Refused (the token does not exist,
	// or lacks the scope; account.ErrScope is then in the chain), fault.TooMany (the client has sent
	// too many unknown tokens).
	Token(ctx context.Context, plain, scope string, from account.Caller) (account.Token, error)
}

// Scopes of a token. scopeRead allows a program to read a river, mark items as read and refresh a
// source. scopeRead together with scopeCreate or scopeUpdate allows it to change followed feeds,
// categories, lists and forwardings. For posts, each scope allows the action in its name.
const (
	scopeRead   = "read"
	scopeCreate = "create"
	scopeUpdate = "update"
	scopeDelete = "delete"
	scopeMedia  = "media"
)

// maxStreams is the maximum number of open streams per user.
const maxStreams = 20

// RiverRoutes lists the endpoints below /v1/ on the public listener: the endpoints of rivers and
// posts. A program needs a token and can access only the river, posts and files of the token's
// user. Pages of other sites cannot use these endpoints. o.River and o.Tokens must be set.
func RiverRoutes(o Options) []route.Route {
	p := &publicRiver{Server: New(o), streams: limit.NewSemaphore(maxStreams)}
	about := summaries()
	var all []route.Route
	add := func(method, path string, do func(http.ResponseWriter, *http.Request) error) {
		all = append(all, route.Route{
			Method: method, Path: path, Handler: isolate(p.answer(do)), Protection: route.Token,
			MaxBody: p.maxBytes(method, path), Purpose: about[method+" "+path],
		})
	}
	for _, to := range riverRoutes() {
		add(to.method, to.path, func(w http.ResponseWriter, r *http.Request) error {
			c, err := p.authorize(w, r, to)
			if err != nil {
				return err
			}
			if to.path == "/v1/items/stream" {
				release, err := p.acquireStream(c.reader)
				if err != nil {
					return err
				}
				defer release()
			}
			return to.handle(riverAPI{p.Server}, c)
		})
	}
	for _, to := range postRoutes() {
		add(to.method, to.path, func(w http.ResponseWriter, r *http.Request) error {
			c, err := p.authorizePosts(w, r, to)
			if err != nil {
				return err
			}
			return to.handle(postAPI{p.Server}, c)
		})
	}
	return append(all, route.Route{Path: pathAPI, Handler: isolate(p.answer(notFound(all))), Purpose: "Responds that the endpoint or method does not exist."})
}

// isolate sets headers so that caches do not store the responses and pages of other sites cannot
// read them.
func isolate(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cache-Control", "no-store")
		h.Set("Content-Security-Policy", "sandbox; default-src 'none'")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		next.ServeHTTP(w, r)
	})
}

// publicRiver implements the endpoints on the public listener.
type publicRiver struct {
	*Server
	streams *limit.Semaphore // open streams; key: name of the reader
}

// authorize checks the token of a request for an endpoint of a river. The token is valid only for
// the river of its own user.
func (p *publicRiver) authorize(w http.ResponseWriter, r *http.Request, to riverRoute) (*riverCall, error) {
	t, plain, from, err := p.token(r, scopeRead, "one that has the scope read")
	switch name := r.URL.Query().Get("user"); {
	case err != nil:
		return nil, err
	case name != "" && name != t.User:
		return nil, notOwner(name)
	case to.changes && !slices.Contains(t.Scopes, scopeCreate) && !slices.Contains(t.Scopes, scopeUpdate):
		return nil, fault.Wrap(fault.Refused, account.ErrScope, "This token has the scope %s; this request needs create or update.", strings.Join(t.Scopes, ", "))
	}
	stillAllowed := func() error {
		_, err := p.Tokens.Token(r.Context(), plain, scopeRead, from)
		return err
	}
	return &riverCall{w: w, r: r, reader: p.readerOf(t.User), public: true, stillAllowed: stillAllowed}, nil
}

// notOwner returns the error for a token of another user than the one that a request names.
func notOwner(name string) error {
	return fault.New(fault.Refused, "This token does not belong to %s.", cut(name, 40))
}

// authorizePosts checks the token of a request for an endpoint of posts. The token is valid only
// for its own user.
func (p *publicRiver) authorizePosts(w http.ResponseWriter, r *http.Request, to postRoute) (*postCall, error) {
	needs := strings.Join(to.scopes, " or ")
	t, _, _, err := p.token(r, "", "one that has the scope "+needs)
	switch {
	case err != nil:
		return nil, err
	case t.User != r.PathValue("user"):
		return nil, notOwner(r.PathValue("user"))
	case !slices.ContainsFunc(to.scopes, func(one string) bool { return slices.Contains(t.Scopes, one) }):
		return nil, fault.Wrap(fault.Refused, account.ErrScope, "This token has the scope %s; this request needs %s.", strings.Join(t.Scopes, ", "), needs)
	case p.Options.Posts == nil:
		return nil, fault.New(fault.Unsupported, "This server does not support posts.")
	}
	return &postCall{w: w, r: r, user: t.User, public: true}, nil
}

// token returns the token of a request if the token has the scope; "": any scope. wanted describes
// the required token in errors.
func (p *publicRiver) token(r *http.Request, scope, wanted string) (t account.Token, plain string, from account.Caller, err error) {
	kind, plain, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	plain = strings.TrimSpace(plain)
	from = account.Caller{Via: "api"}
	if p.ClientAddr != nil {
		from.Addr = p.ClientAddr(r)
	}
	if !strings.EqualFold(kind, "Bearer") || plain == "" {
		return t, "", from, &unknownCaller{fault.New(fault.Refused, "This request needs a token: send Authorization: Bearer and %s.", wanted)}
	}
	t, err = p.Tokens.Token(r.Context(), plain, scope, from)
	if err != nil && fault.CodeOf(err) == fault.Refused && !errors.Is(err, account.ErrScope) {
		err = &unknownCaller{err}
	}
	return t, plain, from, err
}

// unknownCaller is the error for a request that has no valid token.
type unknownCaller struct{ error }

func (u *unknownCaller) Unwrap() error { return u.error }

// answer is like Server.answer, but the responses to errors do not contain the causes.
func (p *publicRiver) answer(handle func(http.ResponseWriter, *http.Request) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		err := handle(w, r)
		if err == nil || errors.Is(err, context.Canceled) && r.Context().Err() != nil {
			return
		}
		status := exchange.Status(fault.CodeOf(err))
		if _, unknown := errors.AsType[*unknownCaller](err); unknown {
			status = http.StatusUnauthorized
			w.Header().Set("WWW-Authenticate", "Bearer")
		}
		if status >= 500 {
			p.Log.Error("an API request of a user failed", "method", r.Method, "path", r.URL.Path, "err", err)
		}
		exchange.WriteFault(w, status, err, fault.Message(err))
	})
}

// acquireStream counts an open stream of a reader until release is called. fault.TooMany: the
// reader has too many open streams.
func (p *publicRiver) acquireStream(reader string) (release func(), err error) {
	release, ok := p.streams.Acquire(reader)
	if !ok {
		return nil, fault.New(fault.TooMany, "You already have %d open streams; close one of them.", maxStreams)
	}
	return release, nil
}

// messageFor returns the text of an error that the client may see.
func messageFor(c *riverCall, err error) string {
	if c.public {
		return fault.Message(err)
	}
	return err.Error()
}

// bodyFor returns the error line for a response that has already started.
func (s *Server) bodyFor(c *riverCall, err error) exchange.ErrorBody {
	return exchange.ErrorBody{Code: fault.CodeOf(err).String(), Message: messageFor(c, err), Field: fault.FieldOf(err)}
}
