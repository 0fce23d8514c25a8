package greader

import (
	"fmt"
	"strconv"
	"strings"
)

// ItemID is the number of an item, greater than 0. Servers whose IDs are Unix microseconds
// have it easy: the forms in which they are written cannot be taken for each other.
type ItemID int64

const longForm = "tag:google.com,2005:reader/item/"

// String is the short form, in decimal.
func (id ItemID) String() string { return strconv.FormatInt(int64(id), 10) }

// Long is the long form: tag:google.com,2005:reader/item/ and 16 hexadecimal digits.
func (id ItemID) Long() string { return fmt.Sprintf("%s%016x", longForm, uint64(id)) }

// ParseItemID reads either form. The long one may lack its beginning or its zeros. Digits
// alone are decimal, unless they begin with a zero, which no decimal does.
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
		return 0, fmt.Errorf("greader: %q is no item ID", clip(s))
	}
	return ItemID(n), nil
}

// Kinds of streams.
type Kind byte

// What a stream is.
const (
	KindState Kind = iota // a state of items
	KindLabel             // the feeds with a label
	KindFeed              // one feed
)

// States that streams and marks have.
const (
	ReadingList = "reading-list" // everything
	Starred     = "starred"
	Read        = "read"
	KeptUnread  = "kept-unread"
	Broadcast   = "broadcast"
)

// Stream names a set of items. The zero Stream is everything.
type Stream struct {
	Kind Kind
	Name string // of the state or label; of a feed its number or its URL; "": [ReadingList]
}

// Feed is the stream of one feed.
func Feed(name string) Stream { return Stream{KindFeed, name} }

// Label is the stream of a label.
func Label(name string) Stream { return Stream{KindLabel, name} }

// State is the stream of a state.
func State(name string) Stream { return Stream{KindState, name} }

// String writes it: feed/…, user/-/label/…, user/-/state/com.google/….
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

// ParseStream reads a stream. Whose it is makes no difference, for all are the caller's.
// "" and a state alone, as some apps say it, are understood.
func ParseStream(s string) (Stream, error) {
	if len(s) > longURL {
		return Stream{}, fmt.Errorf("greader: the stream %q is too long", clip(s))
	}
	kind, rest, _ := strings.Cut(s, "/")
	switch kind {
	case "feed":
		if rest = mended(strings.TrimSpace(rest)); rest != "" {
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
	return Stream{}, fmt.Errorf("greader: %q is no stream", clip(s))
}

// state is State, with one name for everything.
func state(name string) Stream {
	if name == ReadingList {
		name = ""
	}
	return State(name)
}

// mended gives an address back the slash that routers take from paths.
func mended(s string) string {
	for _, scheme := range []string{"http:/", "https:/"} {
		if rest, ok := strings.CutPrefix(s, scheme); ok && !strings.HasPrefix(rest, "/") {
			return scheme + "/" + rest
		}
	}
	return s
}

// plain reports what may be the name of a state.
func plain(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz-") == ""
}

// clip cuts what is shown in an error.
func clip(s string) string {
	if len(s) > 100 {
		s = s[:100] + "…"
	}
	return strings.ToValidUTF8(s, "?")
}
