package greader

import (
	"fmt"
	"strconv"
	"strings"
)

// ItemID is the number of an item, greater than 0. Unix microseconds are a good choice,
// because their decimal and hexadecimal forms cannot be confused.
type ItemID int64

const longForm = "tag:google.com,2005:reader/item/"

// String returns the short form, in decimal.
func (id ItemID) String() string { return strconv.FormatInt(int64(id), 10) }

// Long returns the long form: tag:google.com,2005:reader/item/ and 16 hexadecimal digits.
func (id ItemID) Long() string { return fmt.Sprintf("%s%016x", longForm, uint64(id)) }

// ParseItemID parses the short or the long form. The long form may lack its prefix or its
// leading zeros. A number that consists of decimal digits only is decimal, unless it starts
// with a zero.
func ParseItemID(s string) (ItemID, error) {
	s = strings.TrimSpace(s)
	digits := s[strings.LastIndexByte(s, '/')+1:]
	decimal := len(digits) == len(s) && strings.Trim(digits, "0123456789") == "" && !strings.HasPrefix(digits, "0")
	base := 16
	if decimal {
		base = 10
	}
	n, err := strconv.ParseUint(digits, base, 63)
	if err != nil || n == 0 || strings.ContainsAny(digits, "+_") {
		return 0, fmt.Errorf("greader: %q is not an item ID", clip(s))
	}
	return ItemID(n), nil
}

// Kind is the kind of a stream.
type Kind byte

// Kinds of streams.
const (
	KindState Kind = iota // items in a state
	KindLabel             // items of the feeds with a label
	KindFeed              // items of one feed
)

// States of items.
const (
	ReadingList = "reading-list" // all items
	Starred     = "starred"
	Read        = "read"
	KeptUnread  = "kept-unread"
	Broadcast   = "broadcast"
)

// Stream identifies a set of items. The zero Stream contains all items.
type Stream struct {
	Kind Kind
	Name string // name of the state or label; number or URL of a feed; "": [ReadingList]
}

// Feed returns the stream of one feed.
func Feed(name string) Stream { return Stream{KindFeed, name} }

// Label returns the stream of a label.
func Label(name string) Stream { return Stream{KindLabel, name} }

// State returns the stream of a state.
func State(name string) Stream { return Stream{KindState, name} }

// String returns the stream ID: feed/…, user/-/label/… or user/-/state/com.google/….
func (s Stream) String() string {
	switch s.Kind {
	case KindFeed:
		return "feed/" + s.Name
	case KindLabel:
		return "user/-/label/" + s.Name
	}
	if s.Name == "" {
		return "user/-/state/com.google/" + ReadingList
	}
	return "user/-/state/com.google/" + s.Name
}

// ParseStream parses a stream ID. The user in the ID is ignored, because all streams belong
// to the caller. "" and a bare state, which some apps send, are accepted.
func ParseStream(s string) (Stream, error) {
	if len(s) > maxURL {
		return Stream{}, fmt.Errorf("greader: the stream %q is too long", clip(s))
	}
	kind, rest, _ := strings.Cut(s, "/")
	switch kind {
	case "feed":
		if rest = fixedURL(strings.TrimSpace(rest)); rest != "" {
			return Feed(rest), nil
		}
	case "user":
		_, rest, _ = strings.Cut(rest, "/")
		if name, ok := strings.CutPrefix(rest, "label/"); ok && name != "" {
			return Label(name), nil
		}
		if name, ok := strings.CutPrefix(rest, "state/com.google/"); ok && plain(name) {
			return state(name), nil
		}
	default:
		if s == "" || s == kind && plain(s) {
			return state(s), nil
		}
	}
	return Stream{}, fmt.Errorf("greader: %q is not a stream", clip(s))
}

// state returns the stream of a state, with an empty name for the reading list.
func state(name string) Stream {
	if name == ReadingList {
		name = ""
	}
	return State(name)
}

// fixedURL restores the double slash of a URL in a path, which routers reduce to one slash.
func fixedURL(s string) string {
	for _, scheme := range []string{"http:/", "https:/"} {
		if rest, ok := strings.CutPrefix(s, scheme); ok && !strings.HasPrefix(rest, "/") {
			return scheme + "/" + rest
		}
	}
	return s
}

// plain reports whether s is a valid name of a state.
func plain(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz-") == ""
}

// clip shortens a value for an error message.
func clip(s string) string {
	if len(s) > 100 {
		s = s[:100] + "…"
	}
	return strings.ToValidUTF8(s, "?")
}
