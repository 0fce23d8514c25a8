package endpoint

import (
	"context"
	"strings"

	"cloudburst/internal/fetch"
)

// Getter reads one URL. [*fetch.Client] implements it.
type Getter interface {
	Get(ctx context.Context, r fetch.Request) (*fetch.Response, error)
}

// Sender sends one message. [*fetch.Sender] implements it.
type Sender interface {
	Send(ctx context.Context, m *fetch.Message) fetch.Reply
}

// UserAgent returns the User-Agent header of the program's requests: its version and the URL of a
// page about it.
//
// spec:cloudburst#notify-user-agent
func UserAgent(version, about string) string {
	ua := "Cloudburst/" + strings.Map(func(r rune) rune {
		if r <= ' ' || r >= 0x7f || strings.ContainsRune(`()<>@,;:\"/[]?={}`, r) {
			return '-'
		}
		return r
	}, version)
	if about == "" {
		return ua
	}
	return ua + " (+" + about + ")"
}
