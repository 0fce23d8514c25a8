package browsertest

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"html"
	"image"
	"image/color"
	"image/png"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// feedServer is a server that serves feeds, HTML pages, images and audio files.
type feedServer struct {
	*httptest.Server
	hold func(path string) // called before each document is served, and may block; may be nil

	mu        sync.Mutex
	docs      map[string]document
	requested []string // "path user-agent" of each request
}

type document struct {
	kind string // media type; for "status", the body is a status code
	body []byte
}

func newFeedServer(t *testing.T) *feedServer {
	t.Helper()
	p := &feedServer{docs: map[string]document{}}
	p.Server = httptest.NewServer(p)
	t.Cleanup(p.Close)
	return p
}

// ServeHTTP serves documents, audio files and images. The body of any other page is its path.
func (p *feedServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	p.requested = append(p.requested, r.URL.Path+" "+r.UserAgent())
	d, ok := p.docs[r.URL.Path]
	p.mu.Unlock()
	switch {
	case ok:
		if p.hold != nil {
			p.hold(r.URL.Path)
		}
	case strings.HasSuffix(r.URL.Path, ".wav"):
		d = document{"audio/wav", sound(20 * time.Second)}
	case strings.HasSuffix(r.URL.Path, ".png"):
		d = document{"image/png", screenshot()}
	default:
		d = document{"text/html; charset=utf-8", []byte("<!doctype html><title>A page</title><p>" + html.EscapeString(r.URL.Path))}
	}
	if d.kind == "status" {
		code, _ := strconv.Atoi(string(d.body))
		w.WriteHeader(code)
		return
	}
	w.Header().Set("Content-Type", d.kind)
	w.Header().Set("ETag", fmt.Sprintf(`"%x"`, sha256.Sum256(d.body)))
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(d.body))
}

// put stores the document for a path, and returns its URL.
func (p *feedServer) put(path, kind, body string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.docs[path] = document{kind, []byte(body)}
	return p.URL + path
}

// requests returns the number of requests whose "path user-agent" starts with prefix.
func (p *feedServer) requests(prefix string) (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, a := range p.requested {
		if strings.HasPrefix(a, prefix) {
			n++
		}
	}
	return n
}

// post is an item of a servedFeed.
type post struct {
	Title, Text string // Text is HTML
	At          time.Time
	More        string // additional elements of the item, as XML
}

// servedFeed is a feed whose posts are sorted from the newest to the oldest.
type servedFeed struct {
	server *feedServer
	path   string
	title  string
	more   string // additional elements of the channel, as XML
	posts  []post
}

func (p *feedServer) feed(path, title, more string, posts ...post) *servedFeed {
	n := &servedFeed{p, path, title, more, posts}
	n.publish()
	return n
}

func (n *servedFeed) url() string { return n.server.URL + n.path }

// add adds e as the newest post.
func (n *servedFeed) add(e post) {
	n.posts = append([]post{e}, n.posts...)
	n.publish()
}

func (n *servedFeed) publish() {
	var b strings.Builder
	fmt.Fprintf(&b, `<?xml version="1.0" encoding="utf-8"?><rss version="2.0" xmlns:source="http://source.scripting.com/" xmlns:atom="http://www.w3.org/2005/Atom"><channel><title>%s</title><link>%s/</link><description>What %s has to say</description>%s`,
		html.EscapeString(n.title), n.server.URL, html.EscapeString(n.title), n.more)
	for i, e := range n.posts {
		number := len(n.posts) - i
		link := fmt.Sprintf("%s/post%s/%d", n.server.URL, n.path, number)
		fmt.Fprintf(&b, "\n<item><guid>%s</guid><link>%s</link>", link, link)
		if e.Title != "" {
			fmt.Fprintf(&b, "<title>%s</title>", html.EscapeString(e.Title))
		}
		if e.Text != "" {
			fmt.Fprintf(&b, "<description>%s</description>", html.EscapeString(e.Text))
		}
		if !e.At.IsZero() {
			fmt.Fprintf(&b, "<pubDate>%s</pubDate>", e.At.UTC().Format(time.RFC1123))
		}
		b.WriteString(e.More + "</item>")
	}
	b.WriteString("</channel></rss>\n")
	n.server.put(n.path, "application/rss+xml", b.String())
}

// posts returns n posts, one per hour; the newest is one hour old.
func posts(n int, about string) []post { return postsBefore(time.Now(), n, about) }

func postsBefore(now time.Time, n int, about string) (all []post) {
	for i := range n {
		all = append(all, post{Title: fmt.Sprintf("%s, number %d", about, n-i), Text: fmt.Sprintf("<p>The %s of hour %d, with a few words more so that it has a height of its own on the page.</p>", about, n-i), At: now.Add(-time.Duration(i+1) * time.Hour)})
	}
	return all
}

// sound returns a WAV file of silence.
func sound(length time.Duration) []byte {
	const rate = 8000
	n := uint32(length.Seconds() * rate)
	var b bytes.Buffer
	b.WriteString("RIFF")
	_ = binary.Write(&b, binary.LittleEndian, 36+n) // a write to a bytes.Buffer does not fail
	b.WriteString("WAVEfmt ")
	_ = binary.Write(&b, binary.LittleEndian, struct {
		Size             uint32
		Format, Channels uint16
		Rate, Bytes      uint32
		Align, Bits      uint16
	}{16, 1, 1, rate, rate, 1, 8})
	b.WriteString("data")
	_ = binary.Write(&b, binary.LittleEndian, n)
	b.Write(bytes.Repeat([]byte{128}, int(n)))
	return b.Bytes()
}

// screenshot returns a generated PNG image of a hill under a sky, for posts with an image.
func screenshot() []byte {
	m := image.NewRGBA(image.Rect(0, 0, 320, 180))
	for y := range 180 {
		for x := range 320 {
			c := color.RGBA{160, 200, uint8(255 - y/3), 255}
			if dx := x - 160; y > 80+dx*dx/300 {
				c = color.RGBA{90, 140, 80, 255}
			}
			m.Set(x, y, c)
		}
	}
	var b bytes.Buffer
	_ = png.Encode(&b, m) // a write to a bytes.Buffer does not fail
	return b.Bytes()
}
