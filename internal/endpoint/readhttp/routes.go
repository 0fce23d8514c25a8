package readhttp

import (
	"cloudburst/internal/route"
	"cloudburst/protocol/fever"
	"cloudburst/protocol/greader"
)

// Routes lists the endpoints for reading apps: the paths of Google and Fever, and the paths of
// FreshRSS, which apps append to the name of a server.
//
// spec:cloudburst#endpoint-apps
func (a *Apps) Routes() []route.Route {
	google := compress(&greader.Handler{Backend: (*googleReader)(a), Log: a.Log, Now: a.Now})
	hot := compress(&fever.Handler{Backend: (*feverReader)(a), Log: a.Log, Now: a.Now})
	routes := []route.Route{{Path: "/accounts/ClientLogin", Handler: google, MaxBody: greader.MaxBody, Purpose: "Signs an app in by the API of Google Reader."}}
	for _, path := range []string{"/reader/", "/api/greader.php", "/api/greader.php/", "/greader", "/greader/"} {
		routes = append(routes, route.Route{Path: path, Handler: google, Protection: route.Token, MaxBody: greader.MaxImport, Purpose: "Serves reading apps by the API of Google Reader."})
	}
	for _, path := range []string{"/fever", "/fever/", "/fever.php", "/api/fever.php", "/api/fever.php/"} {
		routes = append(routes, route.Route{Path: path, Handler: hot, Protection: route.Token, MaxBody: fever.MaxBody, Purpose: "Serves reading apps by the API of Fever."})
	}
	return routes
}
