package docsui

import (
	"bytes"
	"cmp"
	"embed"
	"encoding/base64"
	"encoding/xml"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"cloudburst/feed/render"
	"cloudburst/internal/web/shell"
	"cloudburst/protocol/websub"
)

//go:embed examples
var exampleFiles embed.FS

// Example is one literal exchange of the documentation. Request and Answer are a head and a body
// with an empty line between; lines end with \n as on the page. Both have the placeholders of
// [Place]. To run one, send Place.Wire of the Request to the server (or, with ToSubscriber, make
// the server send it to the callback) and check the response with Example.Compare.
type Example struct {
	ID    string // stable, for links: "ping-rest"
	Title string
	// ToSubscriber: the server sends the request to the callback, and Answer is the subscriber's.
	ToSubscriber    bool
	Request, Answer string
}

// Place has the values of the placeholders.
type Place struct {
	Host   string // {HOST}: name and port of this server, as in a URL
	Base   string // {BASE}: its public URL, without a trailing slash
	Feed   string // {FEED}: a feed; also {FEED_FORM} and {FEED_XML}, escaped for a form and for XML
	Site   string // {SITE_FORM}, {SITE_XML}: the page of the feed
	Domain string // {DOMAIN}: host name of the subscriber
	Port   int    // {PORT}: port of the subscriber
	Path   string // {PATH}: its path; also {PATH_FORM}, and the whole URL as {CALLBACK_FORM} and {CALLBACK_XML}
	// Challenge is {CHALLENGE}, the random text that a subscriber sends back.
	Challenge string
	// Caller is {CALLER}, the address of a client that registers without a domain.
	Caller string
	// Content is {CONTENT}, the bytes of the feed; see [Place.SampleFeed]. {SIGNATURE} is its
	// signature with Secret, {SECRET}.
	Content, Secret string // also {CONTENT_XML}

	// User is {USER}, with a feed here, and Password the password: {BASIC} for HTTP Basic,
	// {PASSWORD_XML}. Reader is {READER}, the selector of a secret of the private feed, and Key
	// {KEY}, the secret; {KEY_BASIC} is both for HTTP Basic, and WSSE, {WSSE}, a header with both.
	// Tag is {TAG}, the ETag of the feed before its last change.
	User, Password, Reader, Key, WSSE, Tag string

	// Expires is {EXPIRES}, the end of a registration; Updated is {UPDATED} and Count {COUNT}, of
	// the recent changes; Changed is {CHANGED}, the time of the feed's change. Any is {ANY}, any
	// other text. A comparison accepts any text for all of them.
	Expires, Updated, Count, Changed, Any string
}

// SampleFeed is the feed of the examples: all versions have the same meaning, and each has
// different bytes.
func (p Place) SampleFeed(version int64) string {
	return `<?xml version="1.0" encoding="UTF-8"?>
<rss version="2.0"><channel>
<title>A Weblog</title>
<link>` + xmlText(p.Site) + `</link>
<description>What one sees from a train.</description>
<item>
<title>The garden at the bend</title>
<description>Somebody has planted beans.</description>
<guid isPermaLink="false">` + strconv.FormatInt(version, 10) + `</guid>
</item>
</channel></rss>`
}

func xmlText(s string) string {
	var escaped bytes.Buffer
	_ = xml.EscapeText(&escaped, []byte(s)) // writing to a buffer cannot fail
	return escaped.String()
}

// contentText escapes a document inside another one: lines stay lines.
func contentText(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s)
}

func basic(name, password string) string {
	return base64.StdEncoding.EncodeToString([]byte(name + ":" + password))
}

// Examples returns all exchanges of the documentation, in order of their IDs. They are embedded, so
// an error is a bug of the build.
func Examples() ([]Example, error) {
	files, err := fs.Glob(exampleFiles, "examples/*.txt")
	if err != nil {
		return nil, fmt.Errorf("web: list examples: %w", err)
	}
	var all []Example
	for _, name := range files {
		b, err := exampleFiles.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("web: read an example: %w", err)
		}
		e, err := parseExample(strings.TrimSuffix(strings.TrimPrefix(name, "examples/"), ".txt"), string(b))
		if err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	return all, nil
}

// parseExample parses a file: the title, an optional line "to the subscriber", and the texts after
// the lines "=== request" and "=== answer".
func parseExample(id, text string) (Example, error) {
	head, rest, ok := strings.Cut(text, "\n=== request\n")
	request, answer, ok2 := strings.Cut(rest, "\n=== answer\n")
	if !ok || !ok2 {
		return Example{}, fmt.Errorf("web: example %s has no request or no answer", id)
	}
	title, note, _ := strings.Cut(strings.TrimSpace(head), "\n")
	return Example{ID: id, Title: title, ToSubscriber: strings.TrimSpace(note) == "to the subscriber",
		Request: request, Answer: strings.TrimSuffix(answer, "\n")}, nil
}

// Fill replaces the placeholders of text with p and, if the head has "Content-Length: {LENGTH}",
// sets the length of the body.
func (p Place) Fill(text string) string {
	callback := "http://" + net.JoinHostPort(p.Domain, strconv.Itoa(p.Port)) + p.Path
	// The error is for unknown methods only.
	signature, _ := websub.Sign(websub.SHA256, p.Secret, []byte(p.Content))
	text = strings.NewReplacer(
		"{HOST}", p.Host, "{BASE}", p.Base, "{FEED}", p.Feed, "{FEED_FORM}", url.QueryEscape(p.Feed), "{FEED_XML}", xmlText(p.Feed),
		"{SITE_FORM}", url.QueryEscape(p.Site), "{SITE_XML}", xmlText(p.Site),
		"{DOMAIN}", p.Domain, "{PORT}", strconv.Itoa(p.Port), "{PATH}", p.Path, "{PATH_FORM}", url.QueryEscape(p.Path),
		"{CALLBACK_FORM}", url.QueryEscape(callback), "{CALLBACK_XML}", xmlText(callback),
		"{CHALLENGE}", p.Challenge, "{CALLER}", p.Caller, "{SECRET}", p.Secret, "{SIGNATURE}", signature, "{CONTENT}", p.Content,
		"{CONTENT_XML}", contentText(p.Content), "{USER}", p.User, "{PASSWORD_XML}", xmlText(p.Password), "{BASIC}", basic(p.User, p.Password),
		"{READER}", p.Reader, "{KEY}", p.Key, "{KEY_BASIC}", basic(p.Reader, p.Key), "{WSSE}", p.WSSE, "{TAG}", p.Tag,
		"{EXPIRES}", p.Expires, "{UPDATED}", p.Updated, "{COUNT}", p.Count, "{CHANGED}", p.Changed, "{ANY}", p.Any,
	).Replace(text)
	head, body, _ := strings.Cut(text, "\n\n")
	return strings.Replace(head, "{LENGTH}", strconv.Itoa(len(body)), 1) + "\n\n" + body
}

// Wire is a filled text in wire format: lines of the head end with \r\n.
func (p Place) Wire(text string) []byte {
	head, body, _ := strings.Cut(p.Fill(text), "\n\n")
	return []byte(strings.ReplaceAll(head, "\n", "\r\n") + "\r\n\r\n" + body)
}

// Compare returns the differences between the documented answer and the received one: the status,
// each documented header field, and the body except for spaces at its end.
func (e Example) Compare(p Place, status int, header http.Header, body []byte) error {
	return e.compare(p, e.Answer, func(line string) bool {
		return strings.Contains(line+" ", " "+strconv.Itoa(status)+" ")
	}, header, body)
}

// CompareRequest does the same for a request received by the subscriber. The Host field of r counts
// as a header field.
func (e Example) CompareRequest(p Place, r *http.Request, body []byte) error {
	header := r.Header.Clone()
	header.Set("Host", r.Host)
	return e.compare(p, e.Request, func(line string) bool {
		return line == r.Method+" "+r.RequestURI+" "+r.Proto
	}, header, body)
}

func (e Example) compare(p Place, text string, first func(line string) bool, header http.Header, body []byte) error {
	p.Expires, p.Updated, p.Count, p.Changed, p.Any = anything, anything, anything, anything, anything
	head, want, _ := strings.Cut(p.Fill(text), "\n\n")
	lines := strings.Split(head, "\n")
	if !first(lines[0]) {
		return fmt.Errorf("example %s: documented is %q, which it is not; the body:\n%s", e.ID, lines[0], body)
	}
	for _, line := range lines[1:] {
		name, value, _ := strings.Cut(line, ":")
		if got := header.Get(name); got != strings.TrimSpace(value) {
			return fmt.Errorf("example %s: %s is %q, documented is %q", e.ID, name, got, strings.TrimSpace(value))
		}
	}
	if got := strings.TrimRight(string(body), " \r\n"); !alike(got, strings.TrimRight(want, " \r\n")) {
		return fmt.Errorf("example %s: the body is\n%s\ndocumented is\n%s", e.ID, got, want)
	}
	return nil
}

// anything marks a place that matches any text.
const anything = "\x00"

// alike compares a text with a pattern that has any number of anything marks.
func alike(got, want string) bool {
	parts := strings.Split(want, anything)
	first, last := parts[0], parts[len(parts)-1]
	if len(parts) == 1 {
		return got == want
	}
	if !strings.HasPrefix(got, first) {
		return false
	}
	got = got[len(first):]
	for _, part := range parts[1 : len(parts)-1] {
		_, after, ok := strings.Cut(got, part)
		if !ok {
			return false
		}
		got = after
	}
	return strings.HasSuffix(got, last)
}

type docsView struct {
	shell.View
	shell.RegistrationLife
	Base, Cloud string
	Formats     []render.Format
	place       Place
	examples    map[string]Example
	Shelves     []guideShelf
}

// Copy is the text with that ID, to add to a feed, a header or a page.
func (v docsView) Copy(id, label string) (shell.CopyText, error) {
	hub, self := xmlText(v.Base+"/websub"), xmlText(v.place.Feed)
	text := map[string]string{
		"cloud": v.Cloud,
		"ad-rss": `<atom:link xmlns:atom="http://www.w3.org/2005/Atom" rel="hub" href="` + hub + `"/>
<atom:link xmlns:atom="http://www.w3.org/2005/Atom" rel="self" type="application/rss+xml" href="` + self + `"/>`,
		"ad-atom": `<link rel="hub" href="` + hub + `"/>
<link rel="self" type="application/atom+xml" href="` + self + `"/>`,
		"ad-json": `"feed_url": "` + v.place.Feed + `",
"hubs": [{"type": "WebSub", "url": "` + v.Base + `/websub"}]`,
		"ad-header":  "Link: " + websub.LinkHeader(v.Base+"/websub", v.place.Feed),
		"put-curl":   "curl -u " + v.place.User + " -T rss.xml " + v.Base + "/" + v.place.User + "/rss.xml",
		"put-bearer": `curl -H "Authorization: Bearer $TOKEN" -T rss.xml ` + v.Base + "/" + v.place.User + "/rss.xml",
		"ad-html": `<link rel="alternate" type="application/rss+xml" title="A Weblog" href="` + self + `">
<link rel="hub" href="` + hub + `">
<link rel="self" href="` + xmlText(v.place.Site) + `">`,
	}[id]
	if text == "" {
		return shell.CopyText{}, fmt.Errorf("web: nothing to copy is called %s", id)
	}
	return shell.CopyText{ID: id, Label: label, Text: text}, nil
}

// Example is the filled exchange with that ID.
func (v docsView) Example(id string) (Example, error) {
	e, ok := v.examples[id]
	if !ok {
		return e, fmt.Errorf("web: no example %s", id)
	}
	e.Request, e.Answer = strings.TrimSpace(v.place.Fill(e.Request)), strings.TrimSpace(v.place.Fill(e.Answer))
	return e, nil
}

func (s *Pages) docsPage(rw http.ResponseWriter, r *http.Request) {
	v := docsView{View: s.NewView(r, "Docs"), Base: s.BaseURL(r), Formats: render.Formats(), examples: map[string]Example{}}
	v.Docs = true
	v.Heading = "Documentation"
	v.RegistrationLife = s.RegistrationLife(nil)
	v.Cloud = s.CloudElement(v.Base)
	host := v.Base
	if u, err := url.Parse(v.Base); err == nil && u.Host != "" {
		host = u.Host
	}
	v.place = Place{
		Host: host, Base: v.Base, Feed: "https://author.example/rss.xml", Site: "https://author.example/", Secret: "known-to-both-of-us", Domain: "reader.example", Port: 5337, Path: "/feedupdated",
		Challenge: "4f1d0c7a9be2835644d0a1f86c3b9e72", Caller: "203.0.113.7",
		Expires: v.Now.Add(cmp.Or(s.Expiry, 25*time.Hour)).UTC().Format("15:04 MST on 2 January 2006"),
		Updated: v.Now.UTC().Truncate(time.Minute).Format(http.TimeFormat), Count: "48211", Changed: v.Now.UTC().Format(http.TimeFormat), Any: "…",
		User: "alice", Password: "correct horse battery", Reader: "k3v9q7pdx2mn", Key: "r5-of-32-characters-made-by-us", Tag: `"5d41402abc4b2a76"`,
		WSSE: `UsernameToken Username="k3v9q7pdx2mn", PasswordDigest="WgUU6xmxOsGYqhNun9gJZ//C9ew=", Nonce="bf59559401b2d9e14964823a37836a76", Created="` + v.Now.UTC().Format(time.RFC3339) + `"`,
	}
	v.place.Content = v.place.SampleFeed(48)
	all, err := Examples()
	if err == nil {
		v.Shelves, err = s.guides.load()
	}
	if err != nil {
		s.Fail(rw, r, err)
		return
	}
	for _, e := range all {
		v.examples[e.ID] = e
	}
	s.Render(rw, r, http.StatusOK, "docs", v)
}
