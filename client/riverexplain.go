package client

import "time"

// Explanation says why a source is checked when it is.
type Explanation struct {
	Source     Source          `json:"source"`
	Sentence   string          `json:"sentence"` // for people; times in the zone of the server
	Considered []Consideration `json:"considered"`
	Checks     []Check         `json:"checks"` // the last ones, newest first
	Push       []PushState     `json:"push"`
	Trust      string          `json:"trust,omitempty"` // how trustworthy the hubs are
	Notes      []string        `json:"notes"`           // what a reader should know
}

// Consideration is one thing that had a say in the next check.
type Consideration struct {
	Rule   string     `json:"rule"`
	Value  string     `json:"value,omitempty"`
	Text   string     `json:"text"`
	Until  *time.Time `json:"until,omitempty"`
	Effect string     `json:"effect"` // decides, allows, moves, bounds, ignored, overrode
	Note   string     `json:"note,omitempty"`
}

// Check is what one check of a source came to.
type Check struct {
	At        time.Time  `json:"at"`
	TookMS    float64    `json:"took_ms"`
	Cause     string     `json:"cause"` // due, push, delivered, by-hand, follow-up
	Via       string     `json:"door,omitempty"`
	Asked     string     `json:"asked,omitempty"`     // conditional, full; "": nothing was asked
	AskedWhy  string     `json:"asked_why,omitempty"` // of full, as a clause
	URL       string     `json:"url"`
	Status    int        `json:"status,omitempty"` // 0: no answer
	Outcome   string     `json:"outcome"`
	Text      string     `json:"text"`
	Next      *time.Time `json:"next,omitempty"`
	Why       string     `json:"why,omitempty"` // of Next
	New       int        `json:"new,omitempty"` // items
	Edited    int        `json:"edited,omitempty"`
	Withdrawn int        `json:"withdrawn,omitempty"`
	Bytes     int        `json:"bytes,omitempty"`
	Sent      string     `json:"sent,omitempty"` // request line and header
	Received  string     `json:"received,omitempty"`
	Hops      []Hop      `json:"hops,omitempty"`
}

// Hop is one redirect that was followed.
type Hop struct {
	Status   int    `json:"status"`
	From     string `json:"from"`
	To       string `json:"to"`
	Document bool   `json:"document,omitempty"` // the document itself says so, not HTTP
}

// PushState is how it stands with one hub.
type PushState struct {
	Protocol  string     `json:"protocol"` // rsscloud, websub, cnws
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
