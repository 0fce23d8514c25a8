// Package docsui has the pages of the documentation and its guides. The literal requests of the
// documentation are [Examples].
package docsui

import (
	"net/http"

	"cloudburst/internal/route"
	"cloudburst/internal/web/shell"
)

// Pages has the pages of the documentation.
type Pages struct {
	*shell.Shell
	guides guides
}

// New builds the pages.
func New(s *shell.Shell) *Pages { return &Pages{Shell: s} }

// Routes lists the documentation and its guides.
func (s *Pages) Routes() []route.Route {
	return []route.Route{
		{Method: http.MethodGet, Path: "/docs", Handler: http.HandlerFunc(s.docsPage), Purpose: "The documentation, with literal examples of every protocol."},
		{Method: http.MethodGet, Path: "/docs/{name...}", Handler: http.HandlerFunc(s.guidePage), Purpose: "One guide of the documentation."},
	}
}
