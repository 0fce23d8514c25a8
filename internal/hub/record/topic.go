package record

import (
	"time"

	"cloudburst/internal/hub/content"
	"cloudburst/internal/text"
	"cloudburst/internal/validator"
)

// Topic is a feed (or any other document) that somebody asked to be told about.
type Topic struct {
	ID      int64  // TopicID(URL)
	URL     string // exactly as the subscriber and the author name it
	Version int64  // raised by one with each change; 0: never read
	Hash    []byte // SHA-256 of the body's bytes; nil: never read

	// What the last good answer carried, byte for byte. ETag and LastModified are empty where
	// a redirect led elsewhere: they are not this URL's.
	ETag, LastModified, ContentType string
	Size                            int64 // bytes

	Evidence    validator.Evidence // of the ETag: whether a 304 counts after a ping
	NotModified int64              // checks in which a 304 counted
	FullReads   int64              // checks that read all of it
	FullBytes   int64              // of their bodies
	AgainAt     time.Time          // it is read in full by then although nobody pings; zero: it need not be

	CheckedAt time.Time // last check, good or bad; zero: never
	ChangedAt time.Time // last change; zero: never
	Failures  int       // bad checks in a row
	Error     string    // what the last check failed of, fit for the public; "" when it was good

	// KeepContent is set while a subscriber may want the content itself (WebSub): then the
	// bytes of its newest version are kept.
	KeepContent bool
	About       About

	PingedAt time.Time // an acknowledged ping that no check has answered yet; zero: none
}

// About is what a topic says of itself, for those who are told more than its URL
// and for signals that call it by another name. All of it may be empty: a topic
// need not be a feed. Texts are plain, without markup.
type About struct {
	Title       string `json:"title,omitempty"`       // at most 255 characters
	Description string `json:"description,omitempty"` // at most 2,000 characters
	ItemTitle   string `json:"item_title,omitempty"`  // of its newest item, as Title
	ItemText    string `json:"item_text,omitempty"`   // as Description
	Self        string `json:"self,omitempty"`        // the URL that it calls its own
	Home        string `json:"home,omitempty"`        // the page that it is the feed of
}

// Content is the bytes of one version of a topic; see package content.
type Content = content.Content

// TopicID is the id of the topic with that URL: 63 bits of its SHA-256, never 0.
// Made from the URL, it needs no look-up and no sequence, and the same URL has the
// same id on every node.
func TopicID(url string) int64 { return text.ID(url) }

// SubscriptionID is the id of a subscription within its topic, made from what
// makes it the same one: protocol and callback.
func SubscriptionID(protocol, callback string) int64 { return text.ID(protocol + " " + callback) }

// Buckets is how many key ranges a topic's subscriptions fall into; a part is a
// range of buckets. Buckets order the same way as subscription ids.
const Buckets = 1 << 16

// Bucket is the top 16 bits of a subscription's 63-bit id.
func Bucket(subscriptionID int64) int32 { return int32(subscriptionID >> 47) }
