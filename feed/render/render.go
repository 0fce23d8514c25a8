package render

import (
	"io"

	"cloudburst/feed"
)

// Append appends f to dst in a format that [Formats] lists. nil options mean the zero value. The
// error is an [*UnknownFormatError] or a [*CallbackError]; after an error, dst is returned
// unchanged. No content of f causes an error.
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
	return w.b, w.allWarnings(), nil
}

// sizeOf estimates the size of a document in bytes, to avoid reallocations while it grows. For
// formats that omit texts, the estimate is small.
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
	return n + n/32 // allow for escaping
}

// Write is [Append] to an [io.Writer]. It also returns the errors of out.
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
	b          []byte // the output so far
	f          *feed.Feed
	o          Options
	format     string
	warnings   []Warning
	unreported int // number of warnings beyond the limit
	at         []int
	few        [8]int // memory for at, so that it needs no allocation

	depth  int    // number of open elements
	flat   int    // if positive, line breaks are omitted, because white space is significant
	spaces uint64 // namespaces in use, with one bit for each
	lost   uint64 // kinds of content that were omitted, with one bit for each

	declared        uint64 // namespaces of spaces that the root declares so far
	rootAt, rootEnd int    // where these declarations begin and end

	trees    *treeWriter
	web      [2]string // the last URLs that plainWeb accepted
	lastMIME string    // the last media type that mime accepted
}
