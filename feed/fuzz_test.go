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

// fuzzOptions makes options of a few bits.
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

// stopping is o that ends the reading after so many items.
func stopping(o feed.Options, after int) *feed.Options {
	o.Item = func(*feed.Item) bool { after--; return after > 0 }
	return &o
}

// FuzzParse holds the parser to what it promises of any bytes whatever.
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
			noFeed(t, err)
			return
		}
		sound(t, got)
		bounded(t, got, doc, o)
		sameAfterJSON(t, got)
		again, err := feed.Parse(bytes.NewReader(doc), o)
		if err != nil || !cmp.Equal(got, again) {
			t.Fatalf("the second time it is another feed: %v\n%s", err, cmp.Diff(got, again))
		}
		if stop > 0 {
			few, err := feed.ParseBytes(doc, stopping(*o, stop))
			if got.Format == feed.JSONFeed && err == nil && len(got.Problems) > 0 {
				bare(got) // what broken brackets hide is found too late for the items
				bare(few)
			}
			if want := got.Items[:min(stop, len(got.Items))]; err != nil || !cmp.Equal(want, few.Items) {
				t.Fatalf("stopped after %d items: %v\n%s", stop, err, cmp.Diff(want, few.Items))
			}
		}
		independent(t, got, own)
	})
}

// bare takes from items what they have from the feed around them.
func bare(f *feed.Feed) {
	for i := range f.Items {
		it := &f.Items[i]
		*it = feed.Item{Title: feed.Text{Value: it.Title.Value}, Published: it.Published}
	}
}

// noFeed checks an error.
func noFeed(t *testing.T, err error) {
	t.Helper()
	var not *feed.NotFeedError
	if !errors.As(err, &not) {
		t.Fatalf("the error is %T: %v", err, err)
	}
	known := []string{"empty", "html", "json", "opml", "rdf", "image", "pdf", "zip", "gzip", "audio", "video", "text", "xml", "binary"}
	if !slices.Contains(known, not.Looks) {
		t.Errorf("it looks like %q", not.Looks)
	}
	if s := err.Error(); !clean(s) || len(s) > 20_000 {
		t.Errorf("the error is %.200q", s)
	}
}

// clean reports whether XML can have the text.
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

// sound checks what holds for every feed.
func sound(t *testing.T, f *feed.Feed) {
	t.Helper()
	known := []feed.IDFrom{feed.FromID, feed.FromLink, feed.FromEnclosure, feed.FromTitleDate, feed.FromContent}
	walk(reflect.ValueOf(f), func(v reflect.Value) {
		switch x := v.Interface().(type) {
		case string:
			if !clean(x) {
				t.Errorf("this is not clean: %.200q", x)
			}
		case feed.Item:
			if x.ID == "" || !slices.Contains(known, x.IDFrom) {
				t.Errorf("an item has the id %q from %q", x.ID, x.IDFrom)
			}
		case feed.Problem:
			if x.Kind == "" || x.Message == "" || x.Line < 0 || len(x.Message) > 1000 || len(x.Path) > 3000 {
				t.Errorf("a problem is %.500v", x)
			}
		}
	})
	switch f.Format {
	case feed.RSS, feed.Atom, feed.JSONFeed, feed.CDF, feed.ScriptingNews, feed.MCF, feed.Redirect:
	default:
		t.Errorf("format %q", f.Format)
	}
	if f.Items == nil {
		t.Error("the items are null")
	}
	if len(f.Clouds) > 0 != (f.Cloud != nil) || f.Cloud != nil && *f.Cloud != f.Clouds[0] {
		t.Errorf("cloud %v of %v", f.Cloud, f.Clouds)
	}
}

// size is what a feed takes.
type size struct {
	unknown int // elements, attributes and texts in trees
	lists   int // bytes of the elements of lists, but for items and problems
	words   int // bytes of texts, shared ones as often as they occur
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

// How many times as long as its document a feed may be, with what all may have.
const (
	maxLists = 8
	maxWords = 40
	freely   = 2 << 20
	maxUtf8  = 3 // bytes in UTF-8 of one byte
)

// bounded checks the limits.
func bounded(t *testing.T, f *feed.Feed, doc []byte, o *feed.Options) {
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
		t.Errorf("%d bytes have become lists of %d", len(doc), s.lists)
	}
	if most := maxWords*len(doc) + freely; s.words > most {
		t.Errorf("%d bytes have become %d", len(doc), s.words)
	}
}

// independent checks that a clone shares nothing with the document.
func independent(t *testing.T, f *feed.Feed, doc []byte) {
	t.Helper()
	c := f.Clone()
	if !cmp.Equal(f, c) {
		t.Fatalf("the clone is another feed\n%s", cmp.Diff(f, c))
	}
	before, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	for i := range doc {
		doc[i] = '?'
	}
	if after, err := json.Marshal(c); err != nil || !bytes.Equal(before, after) {
		t.Fatalf("the clone changes with the document: %v", err)
	}
}
