package api

import (
	"encoding/json"
	"net/http"
	"net/http/pprof"
	"slices"
	"strings"
	"sync"

	"cloudburst/internal/api/exchange"
	"cloudburst/internal/author"
	"cloudburst/internal/fault"
	"cloudburst/internal/route"
)

// pathAPI is the prefix of the API.
const pathAPI = "/v1/"

// operation is an endpoint of the API that the OpenAPI document lists.
type operation struct {
	method, path string
	handle       func(http.ResponseWriter, *http.Request) error
}

// plain wraps an endpoint without parameters.
func plain(handle func(http.ResponseWriter, *http.Request) error) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		if p := exchange.ReadParams(r); p.Err != nil {
			return p.Err
		}
		return handle(w, r)
	}
}

// operations lists the endpoints for the operator.
func (s *Server) operations() []operation {
	return slices.Concat([]operation{
		{"GET", "/v1/version", plain(s.version)},
		{"GET", "/v1/status", plain(s.status)},
		{"GET", "/v1/minutes", s.minutes},
		{"GET", "/v1/topics", s.topics},
		{"GET", "/v1/topics/{id}", plain(s.topicByID)},
		{"GET", "/v1/topic", s.topicByURL},
		{"GET", "/v1/subscriptions", s.subscriptions},
		{"DELETE", "/v1/subscriptions", s.remove},
		{"GET", "/v1/subscriptions/export", plain(s.export)},
		{"POST", "/v1/subscriptions/import", s.importLines},
		{"GET", "/v1/log", s.log},
		{"GET", "/v1/log/stream", s.stream},
		{"GET", "/v1/relays", s.relays},
		{"POST", "/v1/relays", s.addRelay},
		{"DELETE", "/v1/relays", s.removeRelay},
		{"GET", "/v1/domains", plain(s.domains)},
		{"POST", "/v1/ping", s.ping},
		{"POST", "/v1/sweep", s.sweep},
		{"POST", "/v1/backup", s.backup},
		{"GET", "/v1/doctor", plain(s.doctor)},
		{"GET", "/v1/openapi.json", s.openAPI},
	}, accountAPI{s}.userRoutes(), accountAPI{s}.feedRoutes(), accountAPI{s}.readerRoutes(), s.pingTargetRoutes(), adminAPI{s}.routes(), s.operatorRiver(), s.operatorPosts(), accountAPI{s}.moveRoutes())
}

// Routes lists the endpoints /v1/, /metrics and /debug/pprof/ for the operator. The caller must
// protect them with [Server.Guard].
func (s *Server) Routes() []route.Route {
	var all []route.Route
	about := summaries()
	for _, o := range s.operations() {
		all = append(all, route.Route{
			Method: o.method, Path: o.path, Handler: s.answer(o.handle), Protection: route.Admin,
			MaxBody: s.maxBytes(o.method, o.path), Purpose: about[o.method+" "+o.path],
		})
	}
	get := func(path string, h http.Handler, purpose string) route.Route {
		return route.Route{Method: "GET", Path: path, Handler: h, Protection: route.Admin, Purpose: purpose}
	}
	return append(all,
		route.Route{Path: pathAPI, Handler: s.answer(notFound(all)), Protection: route.Admin, Purpose: "Responds that the endpoint or method does not exist."},
		get("/metrics", s.metrics(), "Serves metrics in the text format of Prometheus."),
		get("/debug/pprof/", http.HandlerFunc(pprof.Index), "Lists profiles of the running program."),
		get("/debug/pprof/cmdline", http.HandlerFunc(pprof.Cmdline), "Shows the command line of the running program."),
		get("/debug/pprof/profile", http.HandlerFunc(pprof.Profile), "Measures the processor for some seconds."),
		get("/debug/pprof/symbol", http.HandlerFunc(pprof.Symbol), "Names the functions at addresses of the program."),
		get("/debug/pprof/trace", http.HandlerFunc(pprof.Trace), "Records what the program does for some seconds."))
}

// Handler returns the handler of all routes, protected by Guard.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	route.Mount(mux, s.Routes(), Protect())
	return s.Guard(mux)
}

// Protect returns the wrappers for [route.Mount]. The wrappers do nothing, because the handlers
// check the tokens of users and [Server.Guard] protects the admin listener.
func Protect() map[route.Protection]func(http.Handler) http.Handler {
	same := func(h http.Handler) http.Handler { return h }
	return map[route.Protection]func(http.Handler) http.Handler{route.Token: same, route.Admin: same}
}

// notFound responds to a request without a route. The status is 405 if the path has a route with
// another method, otherwise 404.
func notFound(routes []route.Route) func(http.ResponseWriter, *http.Request) error {
	list := "/docs describes"
	if slices.ContainsFunc(routes, func(one route.Route) bool { return one.Path == "/v1/openapi.json" }) { // only the admin listener
		list = "/v1/openapi.json lists"
	}
	return func(w http.ResponseWriter, r *http.Request) error {
		for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE"} {
			if slices.ContainsFunc(routes, func(one route.Route) bool { return one.Method == method && one.Matches(r.URL.Path) }) {
				w.Header().Add("Allow", method)
			}
		}
		if w.Header().Get("Allow") != "" {
			exchange.WriteError(w, http.StatusMethodNotAllowed, fault.New(fault.Invalid, "%s does not accept the method %s.", r.URL.Path, r.Method))
			return nil
		}
		return fault.New(fault.NotFound, "There is no endpoint %s; %s all endpoints.", r.URL.Path, list)
	}
}

// maxBytes returns the maximum size of the request body of an endpoint in bytes.
func (s *Server) maxBytes(method, path string) int64 {
	switch method + " " + path {
	case "POST /v1/subscriptions/import", "POST /v1/users/{user}/import":
		return maxImport
	case "PUT /v1/feeds/{user}/{feed}":
		return author.MaxDocument
	case "POST /v1/opml":
		return maxOPML
	case "POST /v1/users/{user}/posts", "PATCH /v1/users/{user}/posts/{id}", "POST /v1/users/{user}/posts/preview",
		"PUT /v1/users/{user}/pages/{slug}", "PUT /v1/users/{user}/style":
		return maxPost
	case "POST /v1/users/{user}/media":
		return s.MaxFile
	case "POST /v1/sources/refresh", "POST /v1/sources/{id}/refresh", "POST /v1/sources/{id}/revive", "POST /v1/sources/{id}/undo", "POST /v1/notices/{id}/try",
		"POST /v1/users/{user}/posts/{id}/undo", "POST /v1/users/{user}/groups/{slug}/restore", "POST /v1/feeds/{user}/{feed}/end", "POST /v1/feeds/{user}/{feed}/restore",
		"POST /v1/backups/{name}/verify", "POST /v1/users/{user}/domain/verify", "POST /v1/sweep", "POST /v1/sinks/retry", "POST /v1/testfeed/tick":
		return 0
	}
	if method == "GET" || method == "DELETE" {
		return 0
	}
	return exchange.MaxBody
}

// summaries returns the summaries of the operations in the OpenAPI document. Key: method and path.
var summaries = sync.OnceValue(func() map[string]string {
	var doc struct {
		Paths map[string]map[string]struct {
			Summary string `json:"summary"`
		} `json:"paths"`
	}
	_ = json.Unmarshal(openAPI, &doc) // the error is ignored: entries that are not operations have no summary, and a test parses the document
	out := map[string]string{}
	for path, methods := range doc.Paths {
		for method, op := range methods {
			if op.Summary != "" {
				out[strings.ToUpper(method)+" "+path] = op.Summary
			}
		}
	}
	return out
})
