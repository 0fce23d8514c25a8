package outside

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"

	"cloudburst/client"
)

// Left is the program's own count of what it has still to do.
type Left struct{ Pending, ShardsDue, ChecksDue, Requests int64 }

// LeftAt asks a server what it has still to do.
func LeftAt(ctx context.Context, c *client.Client) (Left, error) {
	s, err := c.Status(ctx)
	if err != nil {
		return Left{}, err
	}
	if s.Counts == nil {
		return Left{}, errors.New("the server cannot use its database")
	}
	return Left{s.Counts.Pending, s.Counts.ShardsDue, s.Counts.ChecksDue, s.Counts.Requests}, nil
}

// Subscription is one in the program's own words.
type Subscription struct{ Topic, Callback, Protocol, Secret string }

// Subscriptions are those that a server says it has.
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
