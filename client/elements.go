package client

import (
	"encoding/json"
	"time"
)

// Version says what is running.
type Version struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"` // of the source
	Go       string `json:"go"`
	Platform string `json:"platform"` // linux/amd64
}

// Status is how the server is.
type Status struct {
	Version   Version   `json:"version"`
	Node      int64     `json:"node,string"` // number of this run of the process
	Started   time.Time `json:"started"`
	PublicURL string    `json:"public_url,omitempty"`
	Store     string    `json:"store"`            // "ok", or why the database cannot be used
	Warnings  []string  `json:"warnings"`         // sentences for the operator
	Counts    *Counts   `json:"counts,omitempty"` // nil when the database cannot be used
	Live      Live      `json:"live"`
	Totals    Minute    `json:"totals"` // since the start
}

// Counts is the size of things.
type Counts struct {
	Topics        int64 `json:"topics"`
	Subscriptions int64 `json:"subscriptions"`
	Failing       int64 `json:"failing"`    // subscriptions whose last change did not arrive
	Pending       int64 `json:"owed"`       // notifications waiting for another attempt
	ShardsDue     int64 `json:"parts_due"`  // shares of changes still to tell
	ChecksDue     int64 `json:"checks_due"` // acknowledged pings not yet checked
	Requests      int64 `json:"requests"`   // acknowledged requests for subscriptions not yet decided
	Events        int64 `json:"events"`     // rows of the log
}

// Live is what the server is doing at this moment.
type Live struct {
	InFlight int   `json:"in_flight"` // notifications under way
	Queue    int   `json:"queue"`     // of them and those that wait in memory
	Origins  int   `json:"origins"`   // hosts of callbacks known
	Slow     int   `json:"slow"`      // of them known to be slow
	Open     int   `json:"open"`      // of them left alone for a while after errors
	Checks   int   `json:"checks"`    // feeds being read
	Writes   int64 `json:"writes"`    // write transactions of deliveries since the start
}

// Minute is what one node did in one minute (or, in Status.Totals, since its start).
type Minute struct {
	At        time.Time `json:"at"`
	Node      int64     `json:"node,string"`
	Pings     int64     `json:"pings"`
	Checks    int64     `json:"checks"`
	Changes   int64     `json:"changes"`
	Notified  int64     `json:"notified"`
	Failed    int64     `json:"failed"`
	Registers int64     `json:"registers"`
	P50       float64   `json:"p50_ms"` // from ping to delivery
	P99       float64   `json:"p99_ms"`
	Queue     int64     `json:"queue"` // most notifications waiting or under way
	Writes    int64     `json:"writes"`
}

// Topic is a feed that somebody asked to be told about.
type Topic struct {
	ID           int64      `json:"id,string"`
	URL          string     `json:"url"`
	Subscribers  int64      `json:"subscribers"`
	Version      int64      `json:"version"` // changes seen; 0: never read
	Hash         string     `json:"hash,omitempty"`
	ETag         string     `json:"etag,omitempty"`
	LastModified string     `json:"last_modified,omitempty"`
	ContentType  string     `json:"content_type,omitempty"`
	Size         int64      `json:"size"`
	CheckedAt    *time.Time `json:"checked_at,omitempty"`
	ChangedAt    *time.Time `json:"changed_at,omitempty"`
	PingedAt     *time.Time `json:"pinged_at,omitempty"` // a ping that no check has answered yet
	Failures     int        `json:"failures"`            // bad checks in a row
	Error        string     `json:"error,omitempty"`     // of the last check
	// Verification is how the hub verifies pings of it; nil before it was read.
	Verification *Verification `json:"verification,omitempty"`
}

// Verification is how the hub finds out whether a pinged feed changed, and what that has
// cost. A 304 counts only for an ETag that is proven; otherwise the feed is read in full.
type Verification struct {
	ETag        string     `json:"etag"`             // unproven; proven: it changed together with the content; refuted: it hid a change
	Full        bool       `json:"full"`             // the next ping makes the hub read the feed in full
	Reason      string     `json:"reason,omitempty"` // with Full: why, as a clause
	NotModified int64      `json:"not_modified"`     // checks in which a 304 counted
	FullReads   int64      `json:"full_reads"`       // checks that read the feed in full
	FullBytes   int64      `json:"full_bytes"`       // of all those reads
	FullAt      *time.Time `json:"full_at,omitempty"`
	AgainAt     *time.Time `json:"again_at,omitempty"` // then the feed is read in full although nobody pings
}

// Subscription is one callback that is told when one feed changes.
type Subscription struct {
	Topic     string `json:"topic"`
	Protocol  string `json:"protocol"` // http-post, https-post, xml-rpc, soap, websub, cnws
	Callback  string `json:"callback"`
	Procedure string `json:"procedure,omitempty"`
	// Secret is what deliveries by websub are signed with: at most 199 bytes, "" for
	// none. SecretBase64 is there instead when it is no text. Only exports have them.
	Secret       string    `json:"secret,omitempty"`
	SecretBase64 []byte    `json:"secret_base64,omitempty"`
	CreatedAt    time.Time `json:"created_at"`
	RenewedAt    time.Time `json:"renewed_at"`
	ExpiresAt    time.Time `json:"expires_at"`

	// What follows is how it fares. Exports leave it out and imports ignore it.
	TopicID     int64      `json:"topic_id,string,omitempty"`
	ID          int64      `json:"id,string,omitempty"`
	Failures    int        `json:"failures,omitempty"` // changes in a row that did not arrive
	Tries       int        `json:"tries,omitempty"`    // attempts at the one that is owed
	NextAt      *time.Time `json:"next_at,omitempty"`  // of the next attempt
	LastError   string     `json:"last_error,omitempty"`
	LastErrorAt *time.Time `json:"last_error_at,omitempty"`
}

// Event is one line of the log.
type Event struct {
	ID       string          `json:"id"` // its place, for Last-Event-ID and LogQuery.Before
	At       time.Time       `json:"at"`
	Kind     string          `json:"kind"` // ping, check, register, verify, notify, error, cancel, drop, expire, save, system
	OK       bool            `json:"ok"`
	Text     string          `json:"text"`
	TopicID  int64           `json:"topic_id,string,omitempty"`
	Topic    string          `json:"topic,omitempty"`
	Via      string          `json:"door,omitempty"`
	Peer     string          `json:"peer,omitempty"`
	TookMS   float64         `json:"took_ms,omitempty"`
	Notified int             `json:"told,omitempty"`
	Failed   int             `json:"failed,omitempty"`
	Version  int64           `json:"version,omitempty"`
	Detail   json.RawMessage `json:"detail,omitempty"` // callback, request, answer, error
}

// PingResult is what a ping came to.
type PingResult struct {
	Known   bool  `json:"known"`   // somebody is subscribed
	Checked bool  `json:"checked"` // the feed was read for this ping
	Changed bool  `json:"changed"`
	Pending bool  `json:"pending"` // the ping is safe, and the reading goes on
	Version int64 `json:"version"`
}

// SweepResult says what a sweep removed.
type SweepResult struct {
	Dropped int `json:"dropped"` // after too many errors
	Expired int `json:"expired"`
}

// Removed says which subscriptions were removed.
type Removed struct {
	Removed []Subscription `json:"removed"`
}

// Backup says where the copy is.
type Backup struct {
	File    string   `json:"file"`
	Size    int64    `json:"size"`              // bytes
	Key     string   `json:"key,omitempty"`     // the key of the readers' secrets beside it; "": none
	Removed []string `json:"removed,omitempty"` // older backups that were removed
}

// BackupOptions say where a backup goes: to File, or to Folder under a name with the
// time. Both are absolute, and the server's.
type BackupOptions struct {
	File    string `json:"file,omitempty"`
	Folder  string `json:"folder,omitempty"`
	Keep    int    `json:"keep,omitempty"`     // how many with such names stay in Folder; 0: all
	WithKey bool   `json:"with_key,omitempty"` // copy the key of the readers' secrets beside it
}

// Installation is what is found about a server and what it runs on.
type Installation struct {
	Findings []Finding `json:"findings"`
	Problems int       `json:"problems"`
	Warnings int       `json:"warnings"`
}

// Finding is one thing that was looked at.
type Finding struct {
	ID    string `json:"id"`    // stable, such as data-space
	Level string `json:"level"` // ok, note, warning, problem
	Text  string `json:"text"`  // what it is
	Why   string `json:"why,omitempty"`
	Fix   string `json:"fix,omitempty"` // what to do
}

// ImportResult says what became of an import.
type ImportResult struct {
	Lines    int `json:"lines"`    // not counting empty ones
	Imported int `json:"imported"` // now in the store
	Expired  int `json:"expired"`  // left out: they had run out
	Bad      int `json:"bad"`      // left out: they could not be read (SkipBad)
	// BadLines describes the first of the bad ones.
	BadLines []BadLine `json:"bad_lines,omitempty"`
}

// BadLine is a line of an import that cannot be read, and why.
type BadLine struct {
	Line    int    `json:"line"`
	Message string `json:"message"`
}
