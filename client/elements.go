package client

import (
	"encoding/json"
	"time"
)

// Version describes the running program.
type Version struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"` // revision of the source code
	Go       string `json:"go"`
	Platform string `json:"platform"` // operating system and architecture, such as linux/amd64
}

// Status describes the state of the server.
type Status struct {
	Version   Version   `json:"version"`
	Node      int64     `json:"node,string"` // number that identifies this process; a restart changes it
	Started   time.Time `json:"started"`
	PublicURL string    `json:"public_url,omitempty"`
	Store     string    `json:"store"`            // "ok", or the reason why the database is not available
	Warnings  []string  `json:"warnings"`         // warnings for the operator, each a sentence
	Counts    *Counts   `json:"counts,omitempty"` // nil if the database is not available
	Live      Live      `json:"live"`
	Totals    Minute    `json:"totals"` // counts since the start of the process
}

// Counts has the numbers of rows in the database.
type Counts struct {
	Topics        int64 `json:"topics"`
	Subscriptions int64 `json:"subscriptions"`
	Failing       int64 `json:"failing"`    // number of subscriptions whose last notification was not delivered
	Pending       int64 `json:"owed"`       // number of notifications that wait for another attempt
	ShardsDue     int64 `json:"parts_due"`  // number of shards whose subscribers are not notified yet
	ChecksDue     int64 `json:"checks_due"` // number of acknowledged pings that are not verified yet
	Requests      int64 `json:"requests"`   // number of acknowledged subscription requests without a decision
	Events        int64 `json:"events"`     // number of events in the log
}

// Live describes the current activity of the server.
type Live struct {
	InFlight int   `json:"in_flight"` // number of notifications that are being sent
	Queue    int   `json:"queue"`     // number of notifications that are being sent or wait in memory
	Origins  int   `json:"origins"`   // number of known callback hosts
	Slow     int   `json:"slow"`      // number of slow hosts; Origins includes them
	Open     int   `json:"open"`      // number of hosts that are paused after errors; Origins includes them
	Checks   int   `json:"checks"`    // number of feeds that are being read
	Writes   int64 `json:"writes"`    // number of write transactions for deliveries since the start of the process
}

// Minute has the counts of one node for one minute. In Status.Totals, it has the counts since the
// start of the process.
type Minute struct {
	At        time.Time `json:"at"`
	Node      int64     `json:"node,string"`
	Pings     int64     `json:"pings"`
	Checks    int64     `json:"checks"`
	Changes   int64     `json:"changes"`
	Notified  int64     `json:"notified"`
	Failed    int64     `json:"failed"`
	Registers int64     `json:"registers"`
	P50       float64   `json:"p50_ms"` // median time from the ping to the delivery in milliseconds
	P99       float64   `json:"p99_ms"`
	Queue     int64     `json:"queue"` // largest number of notifications that waited or were being sent at one time
	Writes    int64     `json:"writes"`
}

// Topic is a feed that has or had subscribers.
type Topic struct {
	ID           int64      `json:"id,string"`
	URL          string     `json:"url"`
	Subscribers  int64      `json:"subscribers"`
	Version      int64      `json:"version"` // number of changes that the hub has detected; 0: the feed was never read
	Hash         string     `json:"hash,omitempty"`
	ETag         string     `json:"etag,omitempty"`
	LastModified string     `json:"last_modified,omitempty"`
	ContentType  string     `json:"content_type,omitempty"`
	Size         int64      `json:"size"`
	CheckedAt    *time.Time `json:"checked_at,omitempty"`
	ChangedAt    *time.Time `json:"changed_at,omitempty"`
	PingedAt     *time.Time `json:"pinged_at,omitempty"` // time of a ping that is not verified yet; nil: no such ping
	Failures     int        `json:"failures"`            // number of consecutive failed checks
	Error        string     `json:"error,omitempty"`     // error of the last check
	// Verification describes how the hub verifies pings of the topic; nil: the feed was never read.
	Verification *Verification `json:"verification,omitempty"`
}

// Verification describes how the hub finds out whether a pinged feed has changed, and how much it
// has read so far. The hub trusts a 304 response only if the feed's ETag is proven. Otherwise the
// hub reads the full feed.
type Verification struct {
	ETag        string     `json:"etag"`             // state of the ETag: unproven; proven (it changed together with the content); refuted (it stayed the same when the content changed)
	Full        bool       `json:"full"`             // the next ping causes a full read
	Reason      string     `json:"reason,omitempty"` // reason for Full, as a clause
	NotModified int64      `json:"not_modified"`     // number of checks that a 304 response decided
	FullReads   int64      `json:"full_reads"`       // number of checks that read the full feed
	FullBytes   int64      `json:"full_bytes"`       // size of all full reads in bytes
	FullAt      *time.Time `json:"full_at,omitempty"`
	AgainAt     *time.Time `json:"again_at,omitempty"` // time of the next full read without a ping
}

// Subscription is one callback that is notified when one feed changes.
type Subscription struct {
	Topic     string `json:"topic"`
	Protocol  string `json:"protocol"` // protocol: http-post, https-post, xml-rpc, soap, websub or cnws
	Callback  string `json:"callback"`
	Procedure string `json:"procedure,omitempty"`
	// Secret is the key that signs WebSub deliveries, at most 199 bytes; "": no key. SecretBase64 is
	// set instead of Secret if the key is not valid UTF-8. Only exports contain the key.
	Secret       string    `json:"secret,omitempty"`
	SecretBase64 []byte    `json:"secret_base64,omitempty"`
	CreatedAt    time.Time `json:"created_at"`
	RenewedAt    time.Time `json:"renewed_at"`
	ExpiresAt    time.Time `json:"expires_at"`

	// The following fields describe deliveries. Exports omit these fields, and imports ignore them.
	TopicID     int64      `json:"topic_id,string,omitempty"`
	ID          int64      `json:"id,string,omitempty"`
	Failures    int        `json:"failures,omitempty"` // number of consecutive notifications that were not delivered
	Tries       int        `json:"tries,omitempty"`    // number of attempts to deliver the pending notification
	NextAt      *time.Time `json:"next_at,omitempty"`  // time of the next attempt
	LastError   string     `json:"last_error,omitempty"`
	LastErrorAt *time.Time `json:"last_error_at,omitempty"`
}

// Event is one entry of the log.
type Event struct {
	ID       string          `json:"id"` // position in the log; Follow continues after it
	At       time.Time       `json:"at"`
	Kind     string          `json:"kind"` // kind: ping, check, register, verify, notify, error, cancel, drop, expire, save, sink or system
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
	Detail   json.RawMessage `json:"detail,omitempty"` // JSON object with details: callback, request, answer (the response) or error
}

// PingResult is the outcome of a ping.
type PingResult struct {
	Known   bool  `json:"known"`   // the feed has subscribers
	Checked bool  `json:"checked"` // the feed was read for this ping
	Changed bool  `json:"changed"`
	Pending bool  `json:"pending"` // the ping is stored, and the feed is still being read
	Version int64 `json:"version"`
}

// SweepResult has the numbers of subscriptions that a sweep removed.
type SweepResult struct {
	Dropped int `json:"dropped"` // number of subscriptions removed after too many errors
	Expired int `json:"expired"`
}

// Removed lists the removed subscriptions.
type Removed struct {
	Removed []Subscription `json:"removed"`
}

// Backup describes a finished backup.
type Backup struct {
	File    string   `json:"file"`
	Size    int64    `json:"size"`              // size of the backup in bytes
	Key     string   `json:"key,omitempty"`     // file next to the backup with the key for readers' secrets; "": no key was copied
	Removed []string `json:"removed,omitempty"` // names of older backups that were removed
}

// BackupOptions are the options of a backup. The target is File, or a file in Folder whose name
// contains the date. File and Folder are absolute paths on the server.
type BackupOptions struct {
	File    string `json:"file,omitempty"`
	Folder  string `json:"folder,omitempty"`
	Keep    int    `json:"keep,omitempty"`     // number of dated backups to keep in Folder; 0: all
	WithKey bool   `json:"with_key,omitempty"` // also copy the key for readers' secrets
}

// Installation is the result of the server's check of its installation.
type Installation struct {
	Findings []Finding `json:"findings"`
	Problems int       `json:"problems"`
	Warnings int       `json:"warnings"`
}

// Finding is the result of one check.
type Finding struct {
	ID    string `json:"id"`    // stable name of the check, such as data-space
	Level string `json:"level"` // result of the check: ok, note, warning or problem
	Text  string `json:"text"`  // sentence about the observed state
	Why   string `json:"why,omitempty"`
	Fix   string `json:"fix,omitempty"` // recommended action
}

// ImportResult is the outcome of an import.
type ImportResult struct {
	Lines    int `json:"lines"`    // number of lines, without empty lines
	Imported int `json:"imported"` // number of lines that are now in the database
	Expired  int `json:"expired"`  // number of skipped lines whose subscriptions have expired
	Bad      int `json:"bad"`      // number of invalid lines that were skipped because of SkipBad
	// BadLines describes the first invalid lines.
	BadLines []BadLine `json:"bad_lines,omitempty"`
}

// BadLine is an invalid line of an import, with the reason why it is invalid.
type BadLine struct {
	Line    int    `json:"line"`
	Message string `json:"message"`
}
