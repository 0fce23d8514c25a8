package endpoint

import (
	"context"

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
