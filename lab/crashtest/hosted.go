package crashtest

import (
	"bytes"
	"encoding/base64"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// These are the formats of hosted feeds that readers request: the saved document, and one that
// the program renders.
const (
	asSaved  = "rss.xml"
	rendered = "feed.atom"
)

// owner is a user with a hosted feed. password is a password or a token.
type owner struct{ name, password string }

// topic returns the URL of the owner's feed in a format.
func (o owner) topic(form string) string { return publicURL + "/" + o.name + "/" + form }

// hostedTopic returns the owner and the format of a hosted feed. ok is false for other feeds.
func hostedTopic(topic string) (user, form string, ok bool) {
	rest, ok := strings.CutPrefix(topic, publicURL+"/")
	user, form, _ = strings.Cut(rest, "/")
	return user, form, ok
}

// save is the save of one version of a hosted feed.
type save struct {
	version int
	call
}

// feedRead is a read of a hosted feed. Version 0 means that there was no feed.
type feedRead struct {
	from, to time.Time
	version  int
}

// saving records the start of a new version. The outcome is unknown until the save is
// acknowledged.
func (h *history) saving(user string) *save {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := &save{version: len(h.saves[user]) + 1, call: call{from: time.Now(), unsure: true}}
	h.saves[user] = append(h.saves[user], s)
	return s
}

// save sends the next version of a feed. The version determines the endpoint. Several saves can
// be in progress at the same time.
func (r *runner) save(base string, o owner) {
	s := r.history.saving(o.name)
	_, doc := hostedDocument(o.name, s.version)
	var c call
	switch s.version % 4 {
	case 1:
		var text strings.Builder
		_ = xml.EscapeText(&text, doc) // a write to a strings.Builder does not fail
		c = r.saveRSS(base, o, "<string>"+text.String()+"</string>")
	case 2:
		c = r.saveRSS(base, o, "<base64>"+base64.StdEncoding.EncodeToString(doc)+"</base64>")
	default:
		c = r.put(base, o, doc)
	}
	c.unsure = !c.ok // a save without acknowledgment may still take effect
	r.history.do(func() { s.call = c })
}

func (r *runner) saveRSS(base string, o owner, text string) call {
	body := "<methodCall><methodName>rssCloud.saveRss</methodName><params>"
	for _, p := range []string{o.name, o.password, text} {
		body += "<param><value>" + p + "</value></param>"
	}
	return r.postXML(base+"/RPC2", body+"</params></methodCall>", o.topic(asSaved)+"<")
}

func (r *runner) put(base string, o owner, doc []byte) call {
	c := call{from: time.Now(), late: r.LateWrites}
	req, err := http.NewRequest(http.MethodPut, base+"/"+o.name+"/"+asSaved, bytes.NewReader(doc))
	if err == nil {
		req.Header.Set("Content-Type", "application/xml")
		req.SetBasicAuth(o.name, o.password)
		var res *http.Response
		if res, err = r.client.Do(req); err == nil {
			res.Body.Close()
			c.ok = res.StatusCode == http.StatusCreated || res.StatusCode == http.StatusNoContent
		}
	}
	c.to = time.Now()
	return c
}

// word returns a word that occurs only in version v, wordsEach times in each item.
func word(v int) string { return fmt.Sprintf("v%d~", v) }

const wordsEach = 100 // how often each item contains the word of its version

// hostedItems returns the number of items in a version. Most versions have few items.
func hostedItems(v int) int {
	if v%7 == 0 {
		return 30 + v*7919%400
	}
	return 1 + v*31%20
}

// hostedDocument returns the media type and the bytes of one version of a hosted feed. Its size
// is 1 kB to 300 kB, and every part of the content differs between versions.
func hostedDocument(user string, v int) (kind string, body []byte) {
	encoding, special, end := "utf-8", "\u2602", "\r\n"
	switch v % 4 {
	case 0:
		encoding, special = "iso-8859-1", "\xe9"
	case 1:
		end = "\n" // XML parsers normalize line ends, so use a plain line feed
	}
	body = fmt.Appendf(nil, "<?xml version=\"1.0\" encoding=\"%s\"?>%s<rss version=\"2.0\"><channel><title>version %d %s</title><link>%s/%s/</link><description>d</description>%s",
		encoding, end, v, special, publicURL, user, end)
	text := strings.Repeat(word(v)+" ", wordsEach)
	for i := range hostedItems(v) {
		body = fmt.Appendf(body, "<item><title>item %d of version %d</title><guid isPermaLink=\"false\">%d-%d</guid><description>%s</description></item>%s", i, v, v, i, text, end)
	}
	return "application/rss+xml; charset=" + encoding, append(body, "</channel></rss>"+end...)
}

// hostedVersion returns the version of a document. wrong describes an error in the document, or
// is "".
func (h *history) hostedVersion(user, form, kind string, body []byte) (v int, wrong string) {
	_, rest, _ := bytes.Cut(body, []byte("<title>version "))
	number, _, _ := bytes.Cut(rest, []byte(" "))
	v, _ = strconv.Atoi(string(number))
	h.mu.Lock()
	sent := len(h.saves[user])
	h.mu.Unlock()
	if v < 1 || v > sent {
		return 0, fmt.Sprintf("%d bytes of a document that was never saved", len(body))
	}
	want, doc := hostedDocument(user, v)
	if form != asSaved {
		return v, wrongForm(v, kind, body)
	}
	switch {
	case !bytes.Equal(body, doc):
		return v, fmt.Sprintf("%d bytes that are not the %d of version %d", len(body), len(doc), v)
	case kind != want:
		return v, fmt.Sprintf("type %q on version %d, which is %q", kind, v, want)
	}
	return v, ""
}

// wrongForm checks that a rendered document contains all items of version v, and nothing of
// another version. It returns an error text or "".
func wrongForm(v int, kind string, body []byte) string {
	items := hostedItems(v)
	words, all, entries := bytes.Count(body, []byte(word(v))), bytes.Count(body, []byte("~")), bytes.Count(body, []byte("<entry>"))
	switch {
	case kind != "application/atom+xml; charset=utf-8":
		return fmt.Sprintf("type %q on Atom", kind)
	case entries != items, words != items*wordsEach, all != words:
		return fmt.Sprintf("%d entries with %d words, %d of them of version %d, which has %d items with %d", entries, all, words, v, items, items*wordsEach)
	case !bytes.HasSuffix(bytes.TrimSpace(body), []byte("</feed>")):
		return fmt.Sprintf("no end on version %d", v)
	}
	return ""
}

// tagged is a document that a reader has cached.
type tagged struct {
	tag     string
	version int
}

// read requests a hosted feed in a format, sometimes with a conditional request.
func (r *runner) read(base, user, form string) {
	req, err := http.NewRequest(http.MethodGet, base+"/"+user+"/"+form, nil)
	if err != nil {
		return
	}
	r.mu.Lock()
	have := r.tags[req.URL.Path]
	r.mu.Unlock()
	if have.tag != "" && r.rng.IntN(3) == 0 {
		req.Header.Set("If-None-Match", have.tag)
	}
	from := time.Now()
	res, err := r.client.Do(req)
	if err != nil {
		return
	}
	defer res.Body.Close()
	switch res.StatusCode {
	case http.StatusOK:
		if v := r.served(from, user, form, res); v > 0 {
			r.mu.Lock()
			r.tags[req.URL.Path] = tagged{res.Header.Get("ETag"), v}
			r.mu.Unlock()
		}
	case http.StatusNotModified:
		r.history.addRead(user, feedRead{from, time.Now(), have.version})
	case http.StatusNotFound:
		r.history.addRead(user, feedRead{from, time.Now(), 0})
	}
}

// served records a read with the version of a complete response, and returns the version. It
// returns 0 if the response is incomplete or wrong.
func (r *runner) served(from time.Time, user, form string, res *http.Response) int {
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return 0
	}
	h := r.history
	v, wrong := h.hostedVersion(user, form, res.Header.Get("Content-Type"), body)
	if wrong != "" {
		h.do(func() {
			h.violations = append(h.violations, fmt.Sprintf("wrong document: %s/%s served %s at %s", user, form, wrong, from.Format(clock)))
		})
		return 0
	}
	h.addRead(user, feedRead{from, time.Now(), v})
	h.do(func() {
		if r.report.Served++; form != asSaved {
			r.report.Rendered++
		}
	})
	return v
}

// kept reports whether a save of the user's feed was acknowledged.
func (h *history) kept(user string) (there bool) {
	h.do(func() { there = slices.ContainsFunc(h.saves[user], func(s *save) bool { return s.ok }) })
	return there
}

func (h *history) addRead(user string, l feedRead) {
	h.do(func() { h.reads[user] = append(h.reads[user], l) })
}
