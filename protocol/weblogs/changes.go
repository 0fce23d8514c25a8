package weblogs

import (
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

// Limits of what [ReadChanges] reads.
const (
	MaxChanges = 20 << 20 // bytes of a document
	MaxWeblogs = 100_000  // rows; further ones are left out
)

// maxAge is the most that a row may be older than its document.
const maxAge = 366 * 24 * time.Hour

// Changes is a list of sites that changed, the document changes.xml.
type Changes struct {
	Version   string    // "2" when it is empty
	Updated   time.Time // the moment that the rows' ages count from
	Count     int64     // pings that the server got in all, not only those listed
	List      []Weblog  // newest first
	Truncated bool      // reading: the document broke off, or had more than MaxWeblogs rows
}

// Weblog is one row: a site that changed.
type Weblog struct {
	Name   string
	URL    string
	RSSURL string    // of its feed; "": not told
	When   time.Time // when the ping came, as exact as the unit of the document
}

// Append appends the document to dst. unit is what the when attributes count, a
// minute or a second; 0 is a minute. What XML cannot carry is replaced by U+FFFD.
//
// spec:feedstate-2007#changes-xml
func (c *Changes) Append(dst []byte, unit time.Duration) []byte {
	dst = c.AppendHead(dst)
	for i := range c.List {
		dst = c.List[i].Append(dst, c.Updated, unit)
	}
	return AppendTail(dst)
}

// AppendHead appends what stands before the rows, for those who write a long
// document piece by piece: head, [Weblog.Append] of each row, [AppendTail].
func (c *Changes) AppendHead(dst []byte) []byte {
	version := c.Version
	if version == "" {
		version = "2"
	}
	dst = append(dst, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<weblogUpdates version=\""...)
	dst = appendAttr(dst, version)
	dst = append(dst, `" updated="`...)
	dst = c.Updated.UTC().AppendFormat(dst, http.TimeFormat)
	dst = append(dst, `" count="`...)
	dst = strconv.AppendInt(dst, c.Count, 10)
	return append(dst, "\">\n"...)
}

// AppendTail appends what stands behind the rows.
func AppendTail(dst []byte) []byte { return append(dst, "</weblogUpdates>\n"...) }

// Append appends the row to dst, its age counted in unit (0: minutes) from updated.
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
	// Nothing is left to refuse.
	out, _ := xmlsafe.AppendAttr(dst, xmlsafe.Clean(s))
	return out
}

// ReadOptions of [ReadChanges]. Zero fields mean the default in brackets.
type ReadOptions struct {
	ContentType string        // of the answer; "" if there was none
	Unit        time.Duration // what the when attributes count [a minute]
	Now         time.Time     // stands for the moment of a document that does not say it [the zero time]
}

// ReadChanges reads a list of changes as it is found on the web, in any encoding
// and with broken markup. Rows without an http URL or with an age that is no number
// are left out; one without an age is as old as the document. The error is
// [ErrTooLarge], or [ErrNotChanges] for any other document.
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
			c.Truncated = true // a row in which the document breaks off may say anything
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
		// A count that is no number is as good as none.
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

// isAddress is more forgiving than a ping's check: other servers have longer ones.
func isAddress(s string) bool {
	const most = 2048
	if s == "" || len(s) > most || strings.ContainsAny(s, " \x7f") {
		return false
	}
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" && u.User == nil
}
