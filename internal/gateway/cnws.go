package gateway

import (
	"context"

	"cloudburst/internal/event"
	"cloudburst/internal/fault"
	"cloudburst/internal/hub"
)

// cnwsRoutes is the door of CNWS.
func (g *Gateway) cnwsRoutes() []Route { return nil }

// notifyCNWS tells a CNWS subscriber.
func (n *Notifier) notifyCNWS(ctx context.Context, sub hub.Subscription, topic hub.Topic, hops int) hub.Reply {
	return hub.Reply{NotTried: true}
}

// verifyCNWS asks a CNWS subscriber by a notification.
func (v *Verifier) verifyCNWS(ctx context.Context, sub hub.Subscription, topic hub.Topic) (event.Exchange, error) {
	return event.Exchange{}, fault.New(fault.Unsupported, "not yet")
}
