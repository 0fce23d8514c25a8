package feedfile

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

	"cloudburst/feed"
)

// MaxFile is the maximum size of a file in bytes.
const MaxFile = 16 << 20

// Options control how an item is added. URL and Now are required.
type Options struct {
	URL string    // URL of the feed
	Now time.Time // new build date of the feed
	// Keep is the maximum number of items including the new item; Add removes items at the end. 0: no
	// limit.
	Keep int
	// New describes the feed that Add creates if there is no document. nil: a missing document is an
	// error.
	New *feed.Feed
}

// Added is the result of adding an item.
type Added struct {
	Format  string   // format of the feed; package render defines the names
	ID      string   // ID of the item
	Items   int      // number of items in the feed after the addition
	Dropped int      // number of items that were removed because of Keep
	New     bool     // the feed was created
	Lost    []string // sentences about content that the format cannot hold
}

// Error is the reason why an item was not added, as a sentence for users.
type Error struct {
	Msg string
	Err error // cause; may be nil
}

func (e *Error) Error() string { return e.Msg }
func (e *Error) Unwrap() error { return e.Err }

func refuse(format string, args ...any) error { return &Error{Msg: fmt.Sprintf(format, args...)} }

// Add inserts the item before the existing items and returns the changed document. The item needs an
// ID; Title, Link, texts and files are optional. The error is an [*Error]. Add never modifies doc.
func Add(doc []byte, it *feed.Item, o Options) ([]byte, Added, error) {
	if len(doc) > MaxFile {
		return nil, Added{}, refuse("the feed has %d bytes; at most %d are accepted", len(doc), MaxFile)
	}
	if len(bytes.TrimSpace(doc)) == 0 && len(doc) > 0 {
		return nil, Added{}, refuse("the file is empty: remove it to create a new feed")
	}
	if len(doc) == 0 {
		return create(it, o)
	}
	t, err := read(doc)
	if err != nil {
		return nil, Added{}, err
	}
	var edits []edit
	var added Added
	if t.json {
		edits, added, err = addJSON(t, it, o)
	} else {
		edits, added, err = addXML(t, it, o)
	}
	if err != nil {
		return nil, Added{}, err
	}
	out, err := t.apply(edits)
	if err != nil {
		return nil, Added{}, err
	}
	added.ID = it.ID
	return out, added, verify(out, added)
}

// verify parses the result, so that a faulty result never replaces the file.
func verify(out []byte, want Added) error {
	t, err := read(out)
	var items int
	if err == nil && t.json {
		var s jsonShape
		s, err = scanJSON(t.text)
		items = len(s.items)
	} else if err == nil {
		var s *shape
		if s, err = scanXML(t); err == nil {
			items = len(s.items)
		}
	}
	if err == nil && items != want.Items {
		err = fmt.Errorf("the result has %d items, want %d", items, want.Items)
	}
	if err != nil {
		return &Error{Msg: "the item could not be added without damage, so the feed was not changed", Err: err}
	}
	return nil
}

// edit replaces the bytes from start to end by a text.
type edit struct {
	start, end int
	text       string
}

// splice applies all edits, which must not overlap.
func splice(text string, edits []edit) string {
	slices.SortStableFunc(edits, func(a, b edit) int { return a.start - b.start })
	var b strings.Builder
	at := 0
	for _, e := range edits {
		b.WriteString(text[at:e.start])
		b.WriteString(e.text)
		at = e.end
	}
	b.WriteString(text[at:])
	return b.String()
}

// newestFirst returns an error if dropping the last items would drop the newest ones.
func newestFirst(doc []byte, keep int) error {
	f, err := feed.ParseBytes(doc, nil)
	if err != nil || len(f.Items) < keep || len(f.Items) < 2 {
		return nil
	}
	first, last := f.Items[0].Published.UTC, f.Items[len(f.Items)-1].Published.UTC
	if !first.IsZero() && first.Before(last) {
		return refuse("the feed has its oldest item first, so the last items cannot be dropped: omit --keep")
	}
	return nil
}
