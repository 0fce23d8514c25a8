package outside

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"

	"cloudburst/client"
)

// PendingWork contains the program's own counts of pending work: deliveries, due shards, due
// checks of feeds, and WebSub requests.
type PendingWork struct{ Pending, ShardsDue, ChecksDue, Requests int64 }

// PendingWorkAt returns the pending work of a server. It fails if the server is not reachable or
// reports no counts.
func PendingWorkAt(ctx context.Context, c *client.Client) (PendingWork, error) {
	s, err := c.Status(ctx)
	if err != nil {
		return PendingWork{}, err
	}
	if s.Counts == nil {
		return PendingWork{}, errors.New("the server cannot use its database")
	}
	return PendingWork{s.Counts.Pending, s.Counts.ShardsDue, s.Counts.ChecksDue, s.Counts.Requests}, nil
}

// Subscription is one subscription in the export of a server.
type Subscription struct{ Topic, Callback, Protocol, Secret string }

// Subscriptions returns the subscriptions in the export of a server.
func Subscriptions(ctx context.Context, c *client.Client) ([]Subscription, error) {
	var out bytes.Buffer
	if _, err := c.Export(ctx, &out, nil); err != nil {
		return nil, err
	}
	var all []Subscription
	for line := range bytes.Lines(out.Bytes()) {
		var s Subscription
		if err := json.Unmarshal(line, &s); err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}
