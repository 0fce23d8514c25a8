package web

import (
	"net/http"

	"cloudburst/internal/route"
)

// docsPages are the pages of the documentation.
type docsPages struct {
	*Shell
	guides guides
}

func newDocsPages(s *Shell) *docsPages { return &docsPages{Shell: s} }

// Routes are the documentation and its guides.
func (s *docsPages) Routes() []route.Route {
	return []route.Route{
		{Method: http.MethodGet, Path: "/docs", Handler: http.HandlerFunc(s.docs), Purpose: "The documentation, with literal examples of every protocol."},
		{Method: http.MethodGet, Path: "/docs/{name}", Handler: http.HandlerFunc(s.guide), Purpose: "One guide of the documentation."},
	}
}
