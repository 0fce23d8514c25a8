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

// Example is one literal exchange of the documentation. Request and Answer are a
// head and a body with an empty line between, lines ended by \n as the page shows
// them; both have the placeholders of [Place]. To run one, send Place.Wire of the
// Request to the server (or, with ToSubscriber, make the server send it: it goes
// to the callback) and compare what comes back with Example.Compare.
type Example struct {
	ID    string // stable, for links: "ping-rest"
	Title string
	// ToSubscriber: the server sends the request to the callback, and the answer is
	// the subscriber's.
	ToSubscriber    bool
	Request, Answer string
}

// Place is what the placeholders stand for.
type Place struct {
	Host   string // {HOST}: name and port of this server, as in a URL
	Base   string // {BASE}: its public URL, without a slash at the end
	Feed   string // {FEED}: a feed; also {FEED_FORM} and {FEED_XML}, escaped for a form and for XML
	Site   string // {SITE_FORM}, {SITE_XML}: the page that it is the feed of
	Domain string // {DOMAIN}: host name of the subscriber
	Port   int    // {PORT}: the port that the subscriber listens on
	Path   string // {PATH}: its path; also {PATH_FORM}, and all of it as {CALLBACK_FORM} and {CALLBACK_XML}
	// Challenge is {CHALLENGE}, the random text that a subscriber sends back.
	Challenge string
	// Caller is {CALLER}, the address that a registration without a domain comes from.
	Caller string
	// Content is {CONTENT}, the bytes of the feed; see [Place.SampleFeed]. Signed with
	// Secret, {SECRET}, they give {SIGNATURE}.
	Content, Secret string // also {CONTENT_XML}

	// User is {USER}, who has a feed here, and Password what he signs in with: {BASIC}
	// for HTTP Basic, {PASSWORD_XML}. Reader is {READER}, the selector of a secret of his
	// private feed, and Key {KEY}, the secret; {KEY_BASIC} is both for HTTP Basic, and WSSE,
	// {WSSE}, a header with both. Tag is {TAG}, the ETag of the feed before its last change.
	User, Password, Reader, Key, WSSE, Tag string

	// Expires is {EXPIRES}, when a registration ends; Updated is {UPDATED} and Count
	// {COUNT}, of the list of changes; Changed is {CHANGED}, when the feed did. Any is
	// {ANY}, whatever else stands there. Comparing takes any text for all of them.
	Expires, Updated, Count, Changed, Any string
}

// SampleFeed is the feed of the examples: all its versions mean the same, and no two
// have the same bytes.
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
	_ = xml.EscapeText(&escaped, []byte(s)) // a buffer takes everything
	return escaped.String()
}

// contentText is a document as text of another: lines stay lines.
func contentText(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s)
}

func basic(name, password string) string {
	return base64.StdEncoding.EncodeToString([]byte(name + ":" + password))
}

// Examples are all exchanges of the documentation, in order of their IDs. They are
// embedded, so an error means that the program was built from broken files.
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

// parseExample reads a file: title, an optional line "to the subscriber", and
// after the lines "=== request" and "=== answer" what they say.
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

// Fill puts p into the placeholders of text and, where the head has
// "Content-Length: {LENGTH}", the length that the body then has.
func (p Place) Fill(text string) string {
	callback := "http://" + net.JoinHostPort(p.Domain, strconv.Itoa(p.Port)) + p.Path
	// The error is of a method that there is not.
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

// Wire is a filled text as it goes over the line: the head's lines end in \r\n.
func (p Place) Wire(text string) []byte {
	head, body, _ := strings.Cut(p.Fill(text), "\n\n")
	return []byte(strings.ReplaceAll(head, "\n", "\r\n") + "\r\n\r\n" + body)
}

// Compare returns what differs between the documented answer and the one that
// came: the status, each header field that the documentation shows, the body but
// for spaces at its end.
func (e Example) Compare(p Place, status int, header http.Header, body []byte) error {
	return e.compare(p, e.Answer, func(line string) bool {
		return strings.Contains(line+" ", " "+strconv.Itoa(status)+" ")
	}, header, body)
}

// CompareRequest does the same for a request that came to the subscriber. The
// Host field of r counts as one of its header's.
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

// anything stands in a text for whatever may be there.
const anything = "\x00"

// alike compares a text with one that may have anything in it, in any number of places.
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

// Copy is the text with that ID: what to put into a feed, a header or a page.
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
	v := docsView{View: s.NewView(r, "Docs", "/docs"), Base: s.BaseURL(r), Formats: render.Formats(), examples: map[string]Example{}}
	v.Heading = "Documentation"
	v.RegistrationLife = s.RegistrationLife()
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
