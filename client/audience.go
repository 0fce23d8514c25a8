package client

import (
	"context"
	"net/url"
	"strconv"
	"time"
)

// Readers is who reads a user's feeds. Count is the sum of what its parts count.
type Readers struct {
	User       string    `json:"user"`
	At         time.Time `json:"at"`
	WindowDays int       `json:"window_days"` // who came within so many days counts
	Count      int64     `json:"readers"`

	Services      int64        `json:"services"`          // readers for whom services read, as those say
	Programs      int64        `json:"programs"`          // that read for one person each
	Once          int64        `json:"once"`              // of Programs: came only once so far
	Push          int64        `json:"push"`              // subscriptions of none of the above
	Subscriptions int64        `json:"subscriptions"`     // to notifications, all of them
	Private       int64        `json:"private"`           // secrets that were used
	Browsers      int64        `json:"browsers"`          // not counted
	Robots        int64        `json:"robots"`            // not counted
	Partial       bool         `json:"partial,omitempty"` // there were more than are looked at
	ServiceList   []Service    `json:"service_list"`      // the largest first
	ProgramList   []NamedCount `json:"program_list"`      // by name, the most first
	PushList      []NamedCount `json:"push_list"`         // subscriptions by protocol
	Formats       []NamedCount `json:"formats"`           // readers by the format that they read; "" is the document as it was saved
	Days          []Day        `json:"days"`              // the oldest first, today last
}

// Service reads for many.
type Service struct {
	Name        string    `json:"name"`
	Format      string    `json:"format,omitempty"`
	Subscribers int64     `json:"subscribers"`
	LastAt      time.Time `json:"last_at"`
}

// Named is a name and how many.
type NamedCount struct {
	Name  string `json:"name"`
	Count int64  `json:"n"`
}

// Day is the counts of one day.
type Day struct {
	Day         time.Time `json:"day"` // its beginning, UTC
	Readers     int64     `json:"readers"`
	Services    int64     `json:"services"`
	Programs    int64     `json:"programs"`
	Push        int64     `json:"push"`
	Private     int64     `json:"private"`
	Requests    int64     `json:"requests"`
	NotModified int64     `json:"not_modified"` // of Requests
}

// Readers says who reads a user's feeds, with the history of so many days (0: 30).
func (c *Client) Readers(ctx context.Context, user string, days int) (Readers, error) {
	var out Readers
	path, err := userPath("/v1/users/", user, "readers")
	if err != nil {
		return out, err
	}
	v := url.Values{}
	if days > 0 {
		v.Set("days", strconv.Itoa(days))
	}
	err = c.call(ctx, "GET", path, v, nil, &out)
	return out, err
}
