package feedfile

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

	"cloudburst/feed"
)

// MaxFile is the size, in bytes, of the largest file that is added to.
const MaxFile = 16 << 20

// Options say how a post is added. URL and Now are needed.
type Options struct {
	URL string    // address of the feed
	Now time.Time // what its dates become
	// Keep is how many items the feed has afterwards at most, the new one counted; the last
	// ones go. 0: all stay.
	Keep int
	// New is what a feed says of itself that is not there yet. nil: it must be there.
	New *feed.Feed
}

// Added is what became of a post.
type Added struct {
	Format  string   // of the feed, as package render names it
	ID      string   // of the item
	Items   int      // that the feed has now
	Dropped int      // items that went, because of Keep
	New     bool     // there was no feed before
	Lost    []string // what the format of the feed has no place for, in sentences
}

// Error says why a feed is not added to. It is fit for people.
type Error struct {
	Msg string
	Err error // the cause; may be nil
}

func (e *Error) Error() string { return e.Msg }
func (e *Error) Unwrap() error { return e.Err }

func refuse(format string, args ...any) error { return &Error{Msg: fmt.Sprintf(format, args...)} }

// Add returns doc with the item in front of those that it has. The item needs an ID; of its
// Title, Link, texts and files what there is. The error is an [*Error]; doc is not changed
// in any case.
func Add(doc []byte, it *feed.Item, o Options) ([]byte, Added, error) {
	if len(doc) > MaxFile {
		return nil, Added{}, refuse("the feed has %d bytes, and %d is the most that is added to", len(doc), MaxFile)
	}
	if len(bytes.TrimSpace(doc)) == 0 && len(doc) > 0 {
		return nil, Added{}, refuse("the file is there, but nothing is in it: remove it, and a new feed is made")
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

// verify reads what was made once more: whatever went wrong, the file keeps what it has.
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
		err = fmt.Errorf("it has %d items, not %d", items, want.Items)
	}
	if err != nil {
		return &Error{Msg: "the feed could not be added to in a way that leaves it whole, and it is as it was", Err: err}
	}
	return nil
}

// edit puts text in place of what stands from start to end.
type edit struct {
	start, end int
	text       string
}

// splice makes all edits, of which no two touch the same place.
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

// newestFirst refuses to drop the last items of a feed that has the newest ones there.
func newestFirst(doc []byte, keep int) error {
	f, err := feed.ParseBytes(doc, nil)
	if err != nil || len(f.Items) < keep || len(f.Items) < 2 {
		return nil
	}
	first, last := f.Items[0].Published.UTC, f.Items[len(f.Items)-1].Published.UTC
	if !first.IsZero() && first.Before(last) {
		return refuse("the feed has its oldest item first, so it cannot be told which ones to drop: leave --keep out")
	}
	return nil
}
