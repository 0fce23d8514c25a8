package endpoint

import (
	"net/http"

	"cloudburst/internal/route"
)

// Protect is the protection of endpoints for [route.Mount]. Handlers of endpoints check tokens and
// passwords themselves, since each protocol sends them and answers in its own form, so nothing
// stands in front of them.
func Protect() map[route.Protection]func(http.Handler) http.Handler {
	return map[route.Protection]func(http.Handler) http.Handler{
		route.Token: func(h http.Handler) http.Handler { return h },
	}
}
