package api

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"

	"cloudburst/internal/account"
	"cloudburst/internal/fault"
	"cloudburst/internal/route"
)

// Tokens let the programs of readers in; *account.Accounts is one.
type Tokens interface {
	// Token is a log-in by token: fault.Refused where it is none, or (with
	// account.ErrScope in the chain) not one for scope; TooMany after too many that are none.
	Token(ctx context.Context, plain, scope string, from account.Caller) (account.Token, error)
}

// Scopes of a token: one that has scopeRead reads a river, marks what was read and has
// a source read now; one that also has scopeCreate or scopeUpdate changes what is
// followed, categories, lists and notices. For posts each does what it says.
const (
	scopeRead   = "read"
	scopeCreate = "create"
	scopeUpdate = "update"
	scopeDelete = "delete"
	scopeMedia  = "media"
)

// mostStreams is how many streams one user may have open.
const maxStreams = 20

// RiverRoutes lists the endpoints of rivers, and of posts, for the public listener: below /v1/,
// for programs that have a token of a user, whose own river, posts and files they are.
// River and Tokens must be set; nothing else of the API is there, and no other site's page
// may use it.
func RiverRoutes(o Options) []route.Route {
	p := &publicRiver{Server: New(o), streams: map[string]int{}}
	about := summaries()
	var all []route.Route
	add := func(method, path string, do func(http.ResponseWriter, *http.Request) error) {
		all = append(all, route.Route{
			Method: method, Path: path, Handler: withheld(p.answer(do)), Protection: route.Token,
			MaxBody: p.maxBytes(method, path), Purpose: about[method+" "+path],
		})
	}
	for _, door := range riverRoutes() {
		add(door.method, door.path, func(w http.ResponseWriter, r *http.Request) error {
			c, err := p.enter(w, r, door)
			if err != nil {
				return err
			}
			if door.path == "/v1/items/stream" {
				if err := p.open(c.reader); err != nil {
					return err
				}
				defer p.close(c.reader)
			}
			return door.handle(riverAPI{p.Server}, c)
		})
	}
	for _, to := range postRoutes() {
		add(to.method, to.path, func(w http.ResponseWriter, r *http.Request) error {
			c, err := p.enterPosts(w, r, to)
			if err != nil {
				return err
			}
			return to.handle(postAPI{p.Server}, c)
		})
	}
	return append(all, route.Route{Path: pathAPI, Handler: withheld(p.answer(elsewhere(all))), Purpose: "Says that there is no such address or method."})
}

// withheld keeps answers from caches and from pages of other sites.
func withheld(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cache-Control", "no-store")
		h.Set("Content-Security-Policy", "sandbox; default-src 'none'")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		next.ServeHTTP(w, r)
	})
}

// publicRiver are the doors on the public listener.
type publicRiver struct {
	*Server
	mu      sync.Mutex
	streams map[string]int // open ones, by reader
}

// enter lets in whose token is good for the door.
func (p *publicRiver) enter(w http.ResponseWriter, r *http.Request, door riverRoute) (*riverCall, error) {
	t, plain, from, err := p.token(r, scopeRead, "one that has the scope read")
	if err != nil {
		return nil, err
	}
	if door.changes && !slices.Contains(t.Scopes, scopeCreate) && !slices.Contains(t.Scopes, scopeUpdate) {
		return nil, fault.Wrap(fault.Refused, account.ErrScope, "This token is for %s, and this needs create or update.", strings.Join(t.Scopes, ", "))
	}
	still := func() error {
		_, err := p.Tokens.Token(r.Context(), plain, scopeRead, from)
		return err
	}
	return &riverCall{w: w, r: r, reader: p.readerOf(t.User), public: true, still: still}, nil
}

// enterPosts lets in whose token is good for the door, to what he writes himself.
func (p *publicRiver) enterPosts(w http.ResponseWriter, r *http.Request, to postRoute) (*postCall, error) {
	needs := strings.Join(to.scopes, " or ")
	t, _, _, err := p.token(r, "", "one that has the scope "+needs)
	switch {
	case err != nil:
		return nil, err
	case t.User != r.PathValue("user"):
		return nil, fault.New(fault.Refused, "This token is not one of %s.", cut(r.PathValue("user"), 40))
	case !slices.ContainsFunc(to.scopes, func(one string) bool { return slices.Contains(t.Scopes, one) }):
		return nil, fault.Wrap(fault.Refused, account.ErrScope, "This token is for %s, and this needs %s.", strings.Join(t.Scopes, ", "), needs)
	case p.Options.Posts == nil:
		return nil, fault.New(fault.Unsupported, "Nobody writes posts on this server.")
	}
	return &postCall{w: w, r: r, user: t.User, public: true}, nil
}

// token is that of a request, if it is good for scope ("": any). wanted is what to send.
func (p *publicRiver) token(r *http.Request, scope, wanted string) (t account.Token, plain string, from account.Caller, err error) {
	kind, plain, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	plain = strings.TrimSpace(plain)
	from = account.Caller{Via: "api"}
	if p.ClientAddr != nil {
		from.Addr = p.ClientAddr(r)
	}
	if !strings.EqualFold(kind, "Bearer") || plain == "" {
		return t, "", from, &unknownCaller{fault.New(fault.Refused, "This needs a token: send Authorization: Bearer and %s.", wanted)}
	}
	t, err = p.Tokens.Token(r.Context(), plain, scope, from)
	if err != nil && fault.CodeOf(err) == fault.Refused && !errors.Is(err, account.ErrScope) {
		err = &unknownCaller{err}
	}
	return t, plain, from, err
}

// unknownCaller is a refusal of somebody who gave no good token.
type unknownCaller struct{ error }

func (u *unknownCaller) Unwrap() error { return u.error }

// answer is that of the operator's listener, but strangers read no causes.
func (p *publicRiver) answer(handle func(http.ResponseWriter, *http.Request) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		err := handle(w, r)
		if err == nil || errors.Is(err, context.Canceled) && r.Context().Err() != nil {
			return
		}
		status := statusOf(fault.CodeOf(err))
		if _, unknown := errors.AsType[*unknownCaller](err); unknown {
			status = http.StatusUnauthorized
			w.Header().Set("WWW-Authenticate", "Bearer")
		}
		if status >= 500 {
			p.Log.Error("a reader's request failed", "method", r.Method, "path", r.URL.Path, "err", err)
		}
		writeFault(w, status, err, fault.Message(err))
	})
}

// open counts a stream of a reader.
func (p *publicRiver) open(reader string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.streams[reader] >= maxStreams {
		return fault.New(fault.TooMany, "You have %d streams open already; end one of them.", maxStreams)
	}
	p.streams[reader]++
	return nil
}

func (p *publicRiver) close(reader string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.streams[reader]--; p.streams[reader] <= 0 {
		delete(p.streams, reader)
	}
}

// messageFor is what whoever asked may read of an error.
func messageFor(c *riverCall, err error) string {
	if c.public {
		return fault.Message(err)
	}
	return err.Error()
}

// bodyFor is an error in an answer that has begun already.
func (s *Server) bodyFor(c *riverCall, err error) errorBody {
	return errorBody{Code: fault.CodeOf(err).String(), Message: messageFor(c, err), Field: fault.FieldOf(err)}
}
