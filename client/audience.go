package client

import (
	"context"
	"net/url"
	"strconv"
	"time"
)

// Readers is a report of the audience of a user's feeds. Count is the sum of Services, Programs,
// Push and Private.
type Readers struct {
	User       string    `json:"user"`
	At         time.Time `json:"at"`
	WindowDays int       `json:"window_days"` // days without a request after which a reader no longer counts
	Count      int64     `json:"readers"`

	Services      int64        `json:"services"`          // readers that feed services report they fetch for
	Programs      int64        `json:"programs"`          // feed readers that fetch for one person each
	Once          int64        `json:"once"`              // the part of Programs that fetched only once so far
	Push          int64        `json:"push"`              // push subscriptions that none of the above counts
	Subscriptions int64        `json:"subscriptions"`     // all push subscriptions
	Private       int64        `json:"private"`           // secrets of the private feed that were used
	Browsers      int64        `json:"browsers"`          // requests by browsers; not in Count
	Robots        int64        `json:"robots"`            // requests by robots; not in Count
	Partial       bool         `json:"partial,omitempty"` // the report covers only part of a large audience
	Here          int64        `json:"here"`              // people of this server who follow the user; Services counts them
	HereNames     []string     `json:"here_names"`        // of those who show whom they follow
	Mail          MailReaders  `json:"mail"`              // subscribers by e-mail; not in Count
	ServiceList   []Service    `json:"service_list"`      // largest first
	ProgramList   []NamedCount `json:"program_list"`      // by name, largest first
	PushList      []NamedCount `json:"push_list"`         // push subscriptions by protocol
	Formats       []NamedCount `json:"formats"`           // readers by feed format; "" is the document as saved
	Days          []Day        `json:"days"`              // oldest first, today last
}

// MailReaders counts the addresses that receive the posts of a user by e-mail.
type MailReaders struct {
	Each    int64 `json:"each"` // each post at once
	Daily   int64 `json:"daily"`
	Weekly  int64 `json:"weekly"`
	Waiting int64 `json:"waiting"` // not confirmed yet
}

// Service is a feed service that fetches a feed once for many readers.
type Service struct {
	Name        string    `json:"name"`
	Format      string    `json:"format,omitempty"`
	Subscribers int64     `json:"subscribers"`
	LastAt      time.Time `json:"last_at"`
}

// NamedCount is a count with the name of the counted thing.
type NamedCount struct {
	Name  string `json:"name"`
	Count int64  `json:"n"`
}

// Day holds the counts of one day.
type Day struct {
	Day         time.Time `json:"day"` // midnight UTC at the start of the day
	Readers     int64     `json:"readers"`
	Services    int64     `json:"services"`
	Programs    int64     `json:"programs"`
	Push        int64     `json:"push"`
	Private     int64     `json:"private"`
	Requests    int64     `json:"requests"`
	NotModified int64     `json:"not_modified"` // requests answered with 304, part of Requests
}

// Readers returns a report of the audience of a user's feeds, with a history of the given number of
// days. Zero means 30 days.
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
