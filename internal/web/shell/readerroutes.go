package shell

import (
	"net/http"

	"cloudburst/internal/route"
)

// ReaderPage is a page or form of a signed-in reader.
type ReaderPage = func(rw http.ResponseWriter, r *http.Request, reader string) error

// ReaderRoutes makes the routes of a signed-in reader for the groups of pages that belong to the feed
// reader. Both fields must be set.
type ReaderRoutes struct {
	Own, Form func(path, purpose string, page ReaderPage) route.Route
}
