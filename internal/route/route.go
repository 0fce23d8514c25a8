// Package route describes the routes of the program as data: what answers a path, who
// may ask for it, and how much a request may bring along. The packages that have
// endpoints or pages list theirs as values of [Route], [Mount] registers them on a
// mux, and the reference of all routes is written from the same values.
package route

import (
	"fmt"
	"net/http"
)

// Route is one path of the program and what answers it.
type Route struct {
	Method  string // GET answers HEAD as well; "": every method
	Path    string // a pattern of http.ServeMux without its method
	Handler http.Handler
	// Protection says who may use the route. Mount wraps the handler accordingly.
	Protection Protection
	// MaxBody is how many bytes of a body the handler reads at most, without the files in it.
	// Zero: the handler reads no body.
	MaxBody int64
	Purpose string // one short sentence for the documentation
}

// Pattern is the route as http.ServeMux takes it.
func (r Route) Pattern() string {
	if r.Method == "" {
		return r.Path
	}
	return r.Method + " " + r.Path
}

// Protection says who may use a route.
type Protection int

const (
	Public  Protection = iota // everybody
	Session                   // people who signed in with a browser
	Token                     // programs that send a token or a password of a user
	Admin                     // programs of the operator
)

// String gives the word for the documentation.
func (p Protection) String() string {
	switch p {
	case Public:
		return "public"
	case Session:
		return "session"
	case Token:
		return "token"
	case Admin:
		return "admin"
	}
	return fmt.Sprintf("protection %d", int(p))
}

// Mount registers the routes on the mux, each behind the wrapper of its protection.
// A public route may go without a wrapper. Mount panics when another protection has
// none, since a route without its protection must not be served.
func Mount(mux *http.ServeMux, routes []Route, protect map[Protection]func(http.Handler) http.Handler) {
	for _, r := range routes {
		wrap, handler := protect[r.Protection], r.Handler
		switch {
		case wrap != nil:
			handler = wrap(handler)
		case r.Protection != Public:
			panic(fmt.Sprintf("route: nothing protects %s, which is for %s", r.Pattern(), r.Protection))
		}
		mux.Handle(r.Pattern(), handler)
	}
}
