package gateway

import (
	"context"

	"cloudburst/internal/hub"
	"cloudburst/xmlrpc"
)

// ChangeList is what the list of changes is read from; a hub.Store is one.
type ChangeList interface {
	Changes(ctx context.Context, q hub.ChangeQuery) ([]hub.Change, error)
	CountChanges(ctx context.Context) (int64, error)
}

// weblogsRoutes are the doors of weblogs.com's pings, and its lists.
func (g *Gateway) weblogsRoutes() []Route { return nil }

// weblogsMethods are weblogUpdates.* over XML-RPC.
func (g *Gateway) weblogsMethods() []xmlrpc.Method { return nil }
