package gateway

import (
	"context"

	"cloudburst/internal/event"
	"cloudburst/internal/fault"
	"cloudburst/internal/fetch"
	"cloudburst/internal/hub"
)

// websubRoutes are the doors of WebSub.
func (g *Gateway) websubRoutes() []Route { return nil }

// Asker confirms and denies WebSub subscriptions over a Sender; it is a hub.Asker.
type Asker struct {
	Sender Sender
}

// Confirm asks the callback whether it wants what the intent says.
func (a *Asker) Confirm(ctx context.Context, in hub.Intent) (event.Exchange, error) {
	return event.Exchange{}, fault.New(fault.Unsupported, "not yet")
}

// Deny tells the callback that its subscription was denied.
func (a *Asker) Deny(ctx context.Context, in hub.Intent) (event.Exchange, error) {
	return event.Exchange{}, fault.New(fault.Unsupported, "not yet")
}

// websubMessage is the delivery of content to sub.
func (n *Notifier) websubMessage(sub hub.Subscription, topic hub.Topic, content *hub.Content, hops int) (*fetch.Message, error) {
	return nil, fault.New(fault.Unsupported, "not yet")
}
