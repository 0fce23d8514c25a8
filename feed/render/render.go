package render

import (
	"io"

	"cloudburst/feed"
)

// Append writes f at the end of dst, in the format of a name that [Formats] lists. nil
// options are the zero value. The error is an [*UnknownFormatError] or a
// [*CallbackError], and dst is as it was; nothing in f is an error.
func Append(dst []byte, f *feed.Feed, format string, o *Options) ([]byte, []Warning, error) {
	write := formatWriter(format)
	if write == nil {
		return dst, nil, &UnknownFormatError{Name: format}
	}
	w := writer{b: dst, f: f, format: format}
	if o != nil {
		w.o = *o
	}
	if _, ok := w.o.callback(); !ok {
		return dst, nil, &CallbackError{Callback: w.o.Callback}
	}
	w.at = w.few[:0]
	if cap(dst) == 0 {
		w.b = make([]byte, 0, sizeOf(f, format))
	}
	write(&w)
	if w.lost != 0 {
		w.reportLost(titleOf(format))
	}
	return w.b, w.reported(), nil
}

// sizeOf is about how many bytes a document will have, so that it is not copied again
// and again while it grows. Formats that leave texts out begin with few.
func sizeOf(f *feed.Feed, format string) int {
	const ofFeed, ofItem = 1024, 768
	switch format {
	case "rss20", "rdf", "atom", "atom03", "jsonfeed":
	default:
		return ofFeed
	}
	n := ofFeed + len(f.Subtitle.Value) + len(f.Items)*ofItem
	for i := range f.Items {
		it := &f.Items[i]
		n += len(it.Title.Value) + len(it.Summary.Value)
		for j := range it.Content {
			n += len(it.Content[j].Value)
		}
	}
	return n + n/32 // what has to be escaped
}

// Write is [Append] into out. The error may be out's, too.
func Write(out io.Writer, f *feed.Feed, format string, o *Options) ([]Warning, error) {
	b, warnings, err := Append(nil, f, format, o)
	if err != nil {
		return nil, err
	}
	_, err = out.Write(b)
	return warnings, err
}

// writer writes one document.
type writer struct {
	b          []byte // what is written so far
	f          *feed.Feed
	o          Options
	format     string
	warnings   []Warning
	unreported int // warnings beyond the limit
	at         []int
	few        [8]int // room for at

	depth  int    // of open elements
	flat   int    // more than 0: no lines are begun, for white space counts
	spaces uint64 // the namespaces that are used, a bit each
	rootAt int    // where their declarations go
	lost   uint64 // what the format has no place for, a bit each

	web      [2]string // the last addresses that plainWeb has reported
	lastMIME string    // the last media type that mime has allowed
}
