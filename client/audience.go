package client

import (
	"context"
	"net/url"
	"strconv"
	"time"
)

// Readers is a report about the readers of a user's feeds. Count is the sum of Services, Programs,
// Push and Private.
type Readers struct {
	User       string    `json:"user"`
	At         time.Time `json:"at"`
	WindowDays int       `json:"window_days"` // number of days without a request after which a reader is no longer counted
	Count      int64     `json:"readers"`

	Services      int64        `json:"services"`          // number of readers that feed services report
	Programs      int64        `json:"programs"`          // number of feed readers that each fetch the feed for one person
	Once          int64        `json:"once"`              // number of Programs that have fetched the feed only once
	Push          int64        `json:"push"`              // number of push subscriptions of readers that neither Services nor Programs contains
	Subscriptions int64        `json:"subscriptions"`     // number of all push subscriptions
	Private       int64        `json:"private"`           // number of secrets of the private feed that were used
	Browsers      int64        `json:"browsers"`          // number of requests by browsers; not in Count
	Robots        int64        `json:"robots"`            // number of requests by robots; not in Count
	Partial       bool         `json:"partial,omitempty"` // the report covers only part of a large audience
	Here          int64        `json:"here"`              // number of people on this server who follow the user; Services includes them
	HereNames     []string     `json:"here_names"`        // names of the people in Here who show whom they follow
	Mail          MailReaders  `json:"mail"`              // subscribers by e-mail; not in Count
	ServiceList   []Service    `json:"service_list"`      // feed services, the service with the most readers first
	ProgramList   []NamedCount `json:"program_list"`      // feed readers by name, the largest number first
	PushList      []NamedCount `json:"push_list"`         // numbers of push subscriptions by protocol
	Formats       []NamedCount `json:"formats"`           // numbers of readers by feed format; "": the document as saved
	Days          []Day        `json:"days"`              // history, oldest day first and today last
}

// MailReaders counts the addresses that receive the posts of a user by e-mail.
type MailReaders struct {
	Each    int64 `json:"each"` // addresses that receive each post at once
	Daily   int64 `json:"daily"`
	Weekly  int64 `json:"weekly"`
	Waiting int64 `json:"waiting"` // addresses whose owners have not confirmed yet
}

// Service is a feed service that fetches a feed once for many readers.
type Service struct {
	Name        string    `json:"name"`
	Format      string    `json:"format,omitempty"`
	Subscribers int64     `json:"subscribers"`
	LastAt      time.Time `json:"last_at"`
}

// NamedCount is a number and the name of what is counted.
type NamedCount struct {
	Name  string `json:"name"`
	Count int64  `json:"n"`
}

// Day has the numbers of requests and readers on one day.
type Day struct {
	Day         time.Time `json:"day"` // midnight UTC at the start of the day
	Readers     int64     `json:"readers"`
	Services    int64     `json:"services"`
	Programs    int64     `json:"programs"`
	Push        int64     `json:"push"`
	Private     int64     `json:"private"`
	Requests    int64     `json:"requests"`
	NotModified int64     `json:"not_modified"` // requests with the response 304; Requests includes them
}

// Readers returns a report about the readers of a user's feeds. The report has a history of the
// last days; 0 means 30 days.
func (c *Client) Readers(ctx context.Context, user string, days int) (Readers, error) {
	path, err := userPath("/v1/users/", user, "readers")
	if err != nil {
		return Readers{}, err
	}
	v := url.Values{}
	if days > 0 {
		v.Set("days", strconv.Itoa(days))
	}
	return answer[Readers](ctx, c, "GET", path, v, nil)
}
