package weblogs

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"cloudburst/internal/charset"
	"cloudburst/internal/date"
	"cloudburst/internal/scan"
	"cloudburst/internal/xmlsafe"
)

// Limits of [ReadChanges].
const (
	MaxChanges = 20 << 20 // bytes of a document
	MaxWeblogs = 100_000  // maximum number of rows; further rows are ignored
)

// maxAge is the maximum age of a row at the time of its document.
const maxAge = 366 * 24 * time.Hour

// Changes is a list of changed sites, the document changes.xml.
type Changes struct {
	Version   string    // "": 2
	Updated   time.Time // time from which the ages of the rows count
	Count     int64     // number of pings that the server ever received, including pings that are not listed
	List      []Weblog  // newest first
	Truncated bool      // set by ReadChanges: the document is incomplete or has more than MaxWeblogs rows
}

// Weblog is a row of the list: one changed site.
type Weblog struct {
	Name   string
	URL    string
	RSSURL string    // URL of its feed; "": unknown
	When   time.Time // time when the ping arrived; its resolution is the document's unit
}

// Append appends the document to dst. unit is the unit of the when attributes, a minute or
// a second; 0 means a minute. Characters that XML cannot carry become U+FFFD.
//
// spec:feedstate-2007#changes-xml
func (c *Changes) Append(dst []byte, unit time.Duration) []byte {
	dst = c.AppendHead(dst)
	for i := range c.List {
		dst = c.List[i].Append(dst, c.Updated, unit)
	}
	return AppendTail(dst)
}

// AppendHead appends the part before the rows. With it a long document is written in
// pieces: AppendHead, [Weblog.Append] for each row, [AppendTail].
func (c *Changes) AppendHead(dst []byte) []byte {
	version := cmp.Or(c.Version, "2")
	dst = append(dst, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<weblogUpdates version=\""...)
	dst = appendAttr(dst, version)
	dst = append(dst, `" updated="`...)
	dst = c.Updated.UTC().AppendFormat(dst, http.TimeFormat)
	dst = append(dst, `" count="`...)
	dst = strconv.AppendInt(dst, c.Count, 10)
	return append(dst, "\">\n"...)
}

// AppendTail appends the part after the rows.
func AppendTail(dst []byte) []byte { return append(dst, "</weblogUpdates>\n"...) }

// Append appends the row to dst. Its age is the time from When to updated, in the given unit (0:
// minutes).
func (w *Weblog) Append(dst []byte, updated time.Time, unit time.Duration) []byte {
	if unit <= 0 {
		unit = time.Minute
	}
	dst = append(dst, ` <weblog name="`...)
	dst = appendAttr(dst, w.Name)
	dst = append(dst, `" url="`...)
	dst = appendAttr(dst, w.URL)
	dst = append(dst, `" when="`...)
	dst = strconv.AppendInt(dst, int64(max(updated.Sub(w.When), 0)/unit), 10)
	if w.RSSURL != "" {
		dst = append(dst, `" rssUrl="`...)
		dst = appendAttr(dst, w.RSSURL)
	}
	return append(dst, "\"/>\n"...)
}

func appendAttr(dst []byte, s string) []byte {
	if out, err := xmlsafe.AppendAttr(dst, s); err == nil {
		return out
	}
	// Cleaned text has no characters that cause an error.
	out, _ := xmlsafe.AppendAttr(dst, xmlsafe.Clean(s))
	return out
}

// ReadOptions are options of [ReadChanges]. A zero field means the default in brackets.
type ReadOptions struct {
	ContentType string        // Content-Type of the response; may be empty
	Unit        time.Duration // unit of the when attributes [a minute]
	Now         time.Time     // time of a document that has none [the zero time]
}

// ReadChanges reads a list of changes as found on the web, in any encoding and with broken
// markup. A row without an http or https URL or with an invalid age is left out; a row
// without an age has the document's time. The error is [ErrTooLarge], or [ErrNotChanges]
// for any other document.
func ReadChanges(doc []byte, o ReadOptions) (*Changes, error) {
	if len(doc) > MaxChanges {
		return nil, fmt.Errorf("%w: it has more than %d MiB", ErrTooLarge, MaxChanges>>20)
	}
	unit := o.Unit
	if unit <= 0 {
		unit = time.Minute
	}
	c := &Changes{}
	r := scan.New(charset.Decode(doc, o.ContentType).Text, scan.Options{Problem: func(kind string, _ int, _ string) bool {
		c.Truncated = c.Truncated || kind == scan.Truncated
		return true
	}})
	kind := r.Next()
	for kind == scan.Text {
		kind = r.Next()
	}
	if kind != scan.Start || r.Local != "weblogupdates" {
		return nil, ErrNotChanges
	}
	c.readHead(r, o.Now)
	for kind := r.Next(); kind != scan.EOF; kind = r.Next() {
		if kind != scan.Start || r.Local != "weblog" {
			continue
		}
		if c.Truncated || len(c.List) == MaxWeblogs {
			c.Truncated = true // the last row of a truncated document may be incomplete
			break
		}
		if w, ok := readWeblog(r, c.Updated, unit); ok {
			c.List = append(c.List, w)
		}
	}
	return c, nil
}

func (c *Changes) readHead(r *scan.Reader, now time.Time) {
	c.Updated = now.UTC().Truncate(time.Second)
	if s, ok := r.Attr("updated"); ok {
		if t, ok := date.Parse(s); ok {
			c.Updated = t.Truncate(time.Second)
		}
	}
	if s, ok := r.Attr("count"); ok {
		// An invalid count becomes 0.
		c.Count, _ = strconv.ParseInt(strings.TrimSpace(s), 10, 64)
	}
	c.Version, _ = r.Attr("version")
}

func readWeblog(r *scan.Reader, updated time.Time, unit time.Duration) (Weblog, bool) {
	attr := func(name string) string {
		s, _ := r.Attr(name)
		return line(s)
	}
	w := Weblog{Name: attr("name"), URL: attr("url"), RSSURL: attr("rssurl"), When: updated}
	if !isAddress(w.URL) {
		return Weblog{}, false
	}
	if !isAddress(w.RSSURL) {
		w.RSSURL = ""
	}
	if when := attr("when"); when != "" {
		age, err := strconv.ParseInt(when, 10, 64)
		if err != nil || age < 0 || age > int64(maxAge/unit) {
			return Weblog{}, false
		}
		w.When = updated.Add(-time.Duration(age) * unit)
	}
	return w, true
}

// isAddress accepts more URLs than the check of a ping, because other servers list longer URLs.
func isAddress(s string) bool {
	const maxCount = 2048
	if s == "" || len(s) > maxCount || strings.ContainsAny(s, " \x7f") {
		return false
	}
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" && u.User == nil
}
