package client

import "time"

// Explanation explains the check schedule of a source.
type Explanation struct {
	Source     Source          `json:"source"`
	Sentence   string          `json:"sentence"` // summary for people; times are in the server's time zone
	Considered []Consideration `json:"considered"`
	Checks     []Check         `json:"checks"` // most recent checks, newest first
	Push       []PushState     `json:"push"`
	Trust      string          `json:"trust,omitempty"` // reliability of the hubs
	Notes      []string        `json:"notes"`           // additional remarks for the user
}

// Consideration is one factor in the time of the next check.
type Consideration struct {
	Rule   string     `json:"rule"`
	Value  string     `json:"value,omitempty"`
	Text   string     `json:"text"`
	Until  *time.Time `json:"until,omitempty"`
	Effect string     `json:"effect"` // effect on the time: decides, allows, moves, bounds, ignored or overrode
	Note   string     `json:"note,omitempty"`
}

// Check is the outcome of one check of a source.
type Check struct {
	At        time.Time  `json:"at"`
	TookMS    float64    `json:"took_ms"`
	Cause     string     `json:"cause"` // cause of the check: due, push, delivered, by-hand or follow-up
	Via       string     `json:"door,omitempty"`
	Asked     string     `json:"asked,omitempty"`     // kind of the request: conditional or full; "": no request was sent
	AskedWhy  string     `json:"asked_why,omitempty"` // reason for a full request, as a clause
	URL       string     `json:"url"`
	Status    int        `json:"status,omitempty"` // HTTP status; 0: no response
	Outcome   string     `json:"outcome"`
	Text      string     `json:"text"`
	Next      *time.Time `json:"next,omitempty"`
	Why       string     `json:"why,omitempty"` // reason for Next
	New       int        `json:"new,omitempty"` // number of new items
	Edited    int        `json:"edited,omitempty"`
	Withdrawn int        `json:"withdrawn,omitempty"`
	Bytes     int        `json:"bytes,omitempty"`
	Sent      string     `json:"sent,omitempty"` // request line and headers
	Received  string     `json:"received,omitempty"`
	Hops      []Hop      `json:"hops,omitempty"`
}

// Hop is one redirect.
type Hop struct {
	Status   int    `json:"status"`
	From     string `json:"from"`
	To       string `json:"to"`
	Document bool   `json:"document,omitempty"` // the redirect is in the document, not in HTTP
}

// PushState is the state of the subscription at one hub.
type PushState struct {
	Protocol  string     `json:"protocol"` // protocol: rsscloud, websub or cnws
	Hub       string     `json:"hub"`
	Wire      string     `json:"wire,omitempty"`
	Own       bool       `json:"own"` // the hub is this server
	State     string     `json:"state"`
	Since     *time.Time `json:"since,omitempty"`
	Until     *time.Time `json:"until,omitempty"`
	PushedAt  *time.Time `json:"heard_at,omitempty"`
	Rejected  int64      `json:"rejected,omitempty"`
	LastError string     `json:"last_error,omitempty"`
}
