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
	write(&w)
	if w.lost != 0 {
		w.tellLost(titleOf(format))
	}
	return w.b, w.told(), nil
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
	b        []byte // what is written so far
	f        *feed.Feed
	o        Options
	format   string
	warnings []Warning
	untold   int // warnings beyond the limit
	at       []int
	few      [8]int // room for at

	depth  int    // of open elements
	flat   int    // more than 0: no lines are begun, for white space counts
	spaces uint64 // the namespaces that are used, a bit each
	rootAt int    // where their declarations go
	lost   uint64 // what the format has no place for, a bit each

	web      [2]string // the last addresses that plainWeb has reported
	lastMIME string    // the last media type that mime has allowed
}
