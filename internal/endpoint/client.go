package endpoint

import (
	"context"
	"strings"

	"cloudburst/internal/fetch"
)

// Getter reads one URL; *fetch.Client is one.
type Getter interface {
	Get(ctx context.Context, r fetch.Request) (*fetch.Response, error)
}

// Sender sends one message; *fetch.Sender is one.
type Sender interface {
	Send(ctx context.Context, m *fetch.Message) fetch.Reply
}

// UserAgent is how the program names itself in requests: its version, and where
// to read about it.
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
