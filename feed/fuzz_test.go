package feed_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"cloudburst/feed"

	"github.com/google/go-cmp/cmp"
)

// fuzzOptions derives options from the bits of a number.
func fuzzOptions(bits uint16) (o *feed.Options, stop int) {
	o = &feed.Options{Header: http.Header{}, KeepRelative: bits&2 != 0}
	if bits&1 != 0 {
		o.URL = "https://h.example/d/feed?x=1"
	}
	types := [...]string{
		"", "text/xml", "application/rss+xml; charset=utf-8", "text/html; charset=windows-1252",
		"application/feed+json", "text/xml; charset=utf-16", "application/xml; charset=shift_jis", "text/plain; charset=nonsense",
	}
	if t := types[bits>>2&7]; t != "" {
		o.Header.Set("Content-Type", t)
	}
	switch bits >> 5 & 3 {
	case 1:
		o.Limits = feed.Limits{Bytes: 2000, Items: 2, Depth: 6, Attributes: 3, Unknown: 10, Problems: 5}
	case 2:
		o.Limits = feed.Limits{Bytes: -1, Items: -1, Depth: -1, Attributes: -1, Unknown: -1, Problems: -1}
	case 3:
		o.Limits = feed.Limits{Items: 1, Unknown: 1, Problems: 1}
	}
	if bits&1<<10 != 0 {
		o.URL = "https://h.example/" + strings.Repeat("long/", 400)
	}
	if bits&1<<11 != 0 {
		o.Header.Set("Content-Location", "../other/feed")
		o.Header.Set("Content-Language", "de_AT")
		o.Header.Add("Link", `<hub>; rel=hub, <self>; rel="self"`)
	}
	return o, int(bits >> 7 & 7)
}

// stopping returns o with an Item function that stops after a number of items.
func stopping(o feed.Options, after int) *feed.Options {
	o.Item = func(*feed.Item) bool { after--; return after > 0 }
	return &o
}

// FuzzParse checks the guarantees of the parser for any document.
func FuzzParse(f *testing.F) {
	for i, folder := range goldenFolders(f) {
		for _, c := range goldenCases(f, folder) {
			f.Add(c.doc, uint16(i%4<<5|1))
		}
	}
	f.Fuzz(func(t *testing.T, doc []byte, bits uint16) {
		o, stop := fuzzOptions(bits)
		own := bytes.Clone(doc)
		got, err := feed.ParseBytes(own, o)
		if !bytes.Equal(own, doc) {
			t.Fatal("the document was changed")
		}
		if err != nil {
			checkNotFeed(t, err)
			return
		}
		checkFeed(t, got)
		checkLimits(t, got, doc, o)
		sameAfterJSON(t, got)
		again, err := feed.Parse(bytes.NewReader(doc), o)
		if err != nil || !cmp.Equal(got, again) {
			t.Fatalf("the second result differs: %v\n%s", err, cmp.Diff(got, again))
		}
		if stop > 0 {
			few, err := feed.ParseBytes(doc, stopping(*o, stop))
			if got.Format == feed.JSONFeed && err == nil && len(got.Problems) > 0 {
				dropInherited(got) // a problem inside the brackets is found too late for the items before it
				dropInherited(few)
			}
			if want := got.Items[:min(stop, len(got.Items))]; err != nil || !cmp.Equal(want, few.Items) {
				t.Fatalf("stopped after %d items: %v\n%s", stop, err, cmp.Diff(want, few.Items))
			}
		}
		checkClone(t, got, own)
	})
}

// dropInherited removes the values that items inherit from the feed.
func dropInherited(f *feed.Feed) {
	for i := range f.Items {
		it := &f.Items[i]
		*it = feed.Item{Title: feed.Text{Value: it.Title.Value}, Published: it.Published}
	}
}

// checkNotFeed checks a NotFeedError.
func checkNotFeed(t *testing.T, err error) {
	t.Helper()
	var not *feed.NotFeedError
	if !errors.As(err, &not) {
		t.Fatalf("the error has the type %T: %v", err, err)
	}
	known := []string{"empty", "html", "json", "opml", "rdf", "image", "pdf", "zip", "gzip", "audio", "video", "text", "xml", "binary"}
	if !slices.Contains(known, not.Looks) {
		t.Errorf("unknown type %q", not.Looks)
	}
	if s := err.Error(); !clean(s) || len(s) > 20_000 {
		t.Errorf("invalid error message: %.200q", s)
	}
}

// clean reports whether XML can contain the text.
func clean(s string) bool {
	for _, c := range s {
		switch {
		case c == '\t', c == '\n', c == '\r', ' ' <= c && c <= 0xd7ff, 0xe000 <= c && c <= 0xfffd, c >= 0x10000:
		default:
			return false
		}
	}
	return utf8.ValidString(s)
}

// walk calls use for every value in v.
func walk(v reflect.Value, use func(reflect.Value)) {
	use(v)
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			walk(v.Elem(), use)
		}
	case reflect.Slice:
		for i := range v.Len() {
			walk(v.Index(i), use)
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[feed.Date]() {
			use(v.Field(0))
			return
		}
		for i := range v.NumField() {
			walk(v.Field(i), use)
		}
	}
}

// checkFeed checks the invariants of every feed.
func checkFeed(t *testing.T, f *feed.Feed) {
	t.Helper()
	known := []feed.IDFrom{feed.FromID, feed.FromLink, feed.FromEnclosure, feed.FromTitleDate, feed.FromContent}
	walk(reflect.ValueOf(f), func(v reflect.Value) {
		switch x := v.Interface().(type) {
		case string:
			if !clean(x) {
				t.Errorf("the text has invalid characters: %.200q", x)
			}
		case feed.Item:
			if x.ID == "" || !slices.Contains(known, x.IDFrom) {
				t.Errorf("an item has the id %q from %q", x.ID, x.IDFrom)
			}
		case feed.Problem:
			if x.Kind == "" || x.Message == "" || x.Line < 0 || len(x.Message) > 1000 || len(x.Path) > 3000 {
				t.Errorf("invalid problem: %.500v", x)
			}
		}
	})
	switch f.Format {
	case feed.RSS, feed.Atom, feed.JSONFeed, feed.CDF, feed.ScriptingNews, feed.MCF, feed.Redirect:
	default:
		t.Errorf("unknown format %q", f.Format)
	}
	if f.Items == nil {
		t.Error("Items is nil")
	}
	if len(f.Clouds) > 0 != (f.Cloud != nil) || f.Cloud != nil && *f.Cloud != f.Clouds[0] {
		t.Errorf("Cloud is %v, Clouds are %v", f.Cloud, f.Clouds)
	}
}

// size is the size of a feed.
type size struct {
	unknown int // number of elements, attributes and texts in unknown trees
	lists   int // bytes of the elements of lists, without items and problems
	words   int // bytes of texts; a shared text is counted for each use
}

func sizeOf(f *feed.Feed) size {
	var s size
	walk(reflect.ValueOf(f), func(v reflect.Value) {
		switch v.Type() {
		case reflect.TypeFor[feed.Node](), reflect.TypeFor[feed.Attr]():
			s.unknown++
		case reflect.TypeFor[[]feed.Item](), reflect.TypeFor[[]feed.Problem]():
			return
		}
		switch v.Kind() {
		case reflect.Slice:
			s.lists += v.Len() * int(v.Type().Elem().Size())
		case reflect.String:
			s.words += v.Len()
		}
	})
	return s
}

// Limits of the size of a feed: factors by which the length of its document is multiplied, and a
// number of bytes that any feed may use.
const (
	maxLists = 8
	maxWords = 40
	freely   = 2 << 20
	maxUtf8  = 3 // maximum length in UTF-8 of one byte in another encoding
)

// checkLimits checks that the size of a feed is within the limits.
func checkLimits(t *testing.T, f *feed.Feed, doc []byte, o *feed.Options) {
	t.Helper()
	l := o.Limits
	if l.Items > 0 && len(f.Items) > l.Items {
		t.Errorf("%d items", len(f.Items))
	}
	if l.Problems > 0 && len(f.Problems) > l.Problems+11 {
		t.Errorf("%d problems", len(f.Problems))
	}
	s := sizeOf(f)
	if l.Unknown > 0 && s.unknown > 2*l.Unknown+300 {
		t.Errorf("%d unknown elements and attributes", s.unknown)
	}
	if most := maxLists*maxUtf8*len(doc) + freely; s.lists > most {
		t.Errorf("%d bytes of document, %d bytes of lists", len(doc), s.lists)
	}
	if most := maxWords*len(doc) + freely; s.words > most {
		t.Errorf("%d bytes of document, %d bytes of texts", len(doc), s.words)
	}
}

// checkClone checks that a clone shares no memory with the document.
func checkClone(t *testing.T, f *feed.Feed, doc []byte) {
	t.Helper()
	c := f.Clone()
	if !cmp.Equal(f, c) {
		t.Fatalf("the clone differs from the feed\n%s", cmp.Diff(f, c))
	}
	before, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	for i := range doc {
		doc[i] = '?'
	}
	if after, err := json.Marshal(c); err != nil || !bytes.Equal(before, after) {
		t.Fatalf("the clone changed with the document: %v", err)
	}
}
