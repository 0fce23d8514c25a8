// Package route describes the routes of the program as data: the handler of a path, its protection
// and the maximum size of a request. Packages with endpoints or pages list their routes as values
// of [Route]. [Mount] registers them on a mux, and the route reference is generated from the same
// values.
package route

import (
	"fmt"
	"net/http"
)

// Route is one path of the program with its handler.
type Route struct {
	Method  string // GET includes HEAD; "": every method
	Path    string // a pattern of http.ServeMux without the method
	Handler http.Handler
	// Protection states who may use the route. Mount wraps the handler accordingly.
	Protection Protection
	// MaxBody is the maximum number of bytes that the handler reads of a body, without the files in
	// a form. Zero means that the handler reads no body.
	MaxBody int64
	Purpose string // one short sentence for the documentation
}

// Pattern returns the route as a pattern of http.ServeMux.
func (r Route) Pattern() string {
	if r.Method == "" {
		return r.Path
	}
	return r.Method + " " + r.Path
}

// Protection states who may use a route.
type Protection int

const (
	Public  Protection = iota // everyone may use the route
	Session                   // people who signed in with a browser may use the route
	Token                     // programs with a user's token or password may use the route
	Admin                     // programs of the operator may use the route
)

// String returns the name used in the documentation.
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

// Mount registers the routes on the mux, each wrapped by its protection. A public route needs no
// wrapper. Mount panics if another protection has no wrapper, because an unprotected route must not
// be served.
func Mount(mux *http.ServeMux, routes []Route, protect map[Protection]func(http.Handler) http.Handler) {
	for _, r := range routes {
		wrap, handler := protect[r.Protection], r.Handler
		switch {
		case wrap != nil:
			handler = wrap(handler)
		case r.Protection != Public:
			panic(fmt.Sprintf("route: %s has no wrapper for its protection %s", r.Pattern(), r.Protection))
		}
		mux.Handle(r.Pattern(), handler)
	}
}
