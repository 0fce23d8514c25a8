package record

import (
	"time"

	"cloudburst/internal/hub/content"
	"cloudburst/internal/text"
	"cloudburst/internal/validator"
)

// Topic is a feed, or any other document, that has or had subscribers.
type Topic struct {
	ID      int64  // TopicID(URL)
	URL     string // exactly as subscribers and authors wrote it
	Version int64  // each change raises it by one; 0: the topic was never read
	Hash    []byte // SHA-256 of the body's bytes; nil: never read

	// Metadata of the last successful response, byte for byte. ETag and LastModified are empty
	// after a redirect, because they belong to another URL.
	ETag, LastModified, ContentType string
	Size                            int64 // bytes

	Evidence    validator.Evidence // about the ETag: decides whether a 304 counts after a ping
	NotModified int64              // number of checks in which a 304 counted
	FullReads   int64              // number of checks that read the whole topic
	FullBytes   int64              // total bytes of these reads
	AgainAt     time.Time          // time of the next full read without a ping; zero: none

	CheckedAt time.Time // time of the last check, successful or not; zero: never checked
	ChangedAt time.Time // time of the last change; zero: never changed
	Failures  int       // consecutive failed checks
	Error     string    // why the last check failed, safe to show to the public; "": it succeeded

	// KeepContent is set while a WebSub subscriber may need the content. Then the content of the
	// newest version is stored.
	KeepContent bool
	About       About

	PingedAt time.Time // an acknowledged ping that no check has answered yet; zero: none
}

// About is the description of a topic in its own document. Notifications that contain more than a
// URL use it. Pings of the URLs Self and Home also find the topic. All fields may be empty, because
// a topic can be a document other than a feed. Texts are plain, without markup.
type About struct {
	Title       string `json:"title,omitempty"`       // at most 255 characters
	Description string `json:"description,omitempty"` // at most 2,000 characters
	ItemTitle   string `json:"item_title,omitempty"`  // title of the newest item, at most 255 characters
	ItemText    string `json:"item_text,omitempty"`   // text of the newest item, at most 2,000 characters
	Self        string `json:"self,omitempty"`        // own URL according to the document
	Home        string `json:"home,omitempty"`        // page that the feed belongs to, according to the document
}

// Content is the bytes of one version of a topic; see package content.
type Content = content.Content

// TopicID returns the id of the topic with that URL: 63 bits of its SHA-256, never 0. It is
// computed from the URL alone, so it is the same on every node.
func TopicID(url string) int64 { return text.ID(url) }

// SubscriptionID returns the id of a subscription within its topic, computed from protocol and
// callback.
func SubscriptionID(protocol, callback string) int64 { return text.ID(protocol + " " + callback) }

// Buckets is the number of key ranges of a topic's subscriptions; a shard is a range of buckets.
// Buckets have the same order as subscription ids.
const Buckets = 1 << 16

// Bucket returns the top 16 bits of a subscription's 63-bit id.
func Bucket(subscriptionID int64) int32 { return int32(subscriptionID >> 47) }
