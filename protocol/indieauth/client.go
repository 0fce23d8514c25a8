package indieauth

import (
	"bytes"
	"encoding/json"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"cloudburst/feed/discover"
	"cloudburst/internal/text"
)

// Client is the self-description of a program.
type Client struct {
	ID        string   // URL of the program
	Name      string   // one line; "": unknown
	URI       string   // URL of its home page; "": unknown
	Logo      string   // http or https URL of an image; "": none
	Redirects []string // redirect URIs that the program lists
}

// Limits of a self-description.
const (
	maxClientName = 100 // characters
	maxRedirects  = 50
)

// ParseClient parses the document at the URL of a program: client metadata in JSON, or a
// page with an h-app and links rel=redirect_uri. at is the document's URL after redirects.
// ok is false for JSON that describes another program.
//
// spec:indieauth-2024#client-information
func ParseClient(id, at string, header http.Header, doc []byte) (c Client, ok bool) {
	c.ID = id
	base, err := url.Parse(at)
	if err != nil {
		base = &url.URL{}
	}
	kind, _, _ := mime.ParseMediaType(header.Get("Content-Type")) // an invalid type counts as missing
	if kind == "application/json" || strings.HasSuffix(kind, "+json") {
		return c.json(doc, base)
	}
	for _, to := range discover.Related(header, at, "redirect_uri") {
		c.redirect(base, to)
	}
	root, err := html.Parse(bytes.NewReader(doc))
	if err == nil {
		c.page(root, base)
	}
	return c, true
}

func (c Client) json(doc []byte, base *url.URL) (Client, bool) {
	var in struct {
		ID        string   `json:"client_id"`
		Name      string   `json:"client_name"`
		URI       string   `json:"client_uri"`
		Logo      string   `json:"logo_uri"`
		Redirects []string `json:"redirect_uris"`
	}
	if json.Unmarshal(doc, &in) != nil || in.ID != c.ID {
		return Client{ID: c.ID}, false
	}
	c.Name, c.URI, c.Logo = oneLine(in.Name), web(base, in.URI), web(base, in.Logo)
	for _, to := range in.Redirects {
		c.redirect(base, to)
	}
	return c, true
}

func (c *Client) redirect(base *url.URL, to string) {
	u, err := base.Parse(strings.TrimSpace(to))
	if err != nil || len(c.Redirects) >= maxRedirects {
		return
	}
	for _, s := range []string{strings.TrimSpace(to), u.String()} {
		if checkRedirect(s) == nil && !slices.Contains(c.Redirects, s) {
			c.Redirects = append(c.Redirects, s)
		}
	}
}

// page reads the links and the first h-app of a page. Without an h-app the page title is
// the name.
func (c *Client) page(root *html.Node, base *url.URL) {
	var app *html.Node
	title := ""
	for n := range root.Descendants() {
		switch {
		case n.Type != html.ElementNode:
		case n.Data == "base" && attr(n, "href") != "":
			if u, err := base.Parse(attr(n, "href")); err == nil {
				base = u
			}
		case (n.Data == "link" || n.Data == "a") && slices.Contains(strings.Fields(strings.ToLower(attr(n, "rel"))), "redirect_uri"):
			c.redirect(base, attr(n, "href"))
		case n.Data == "title" && title == "":
			title = oneLine(textOf(n))
		}
		if app == nil && n.Type == html.ElementNode && (hasClass(n, "h-app") || hasClass(n, "h-x-app")) {
			app = n
		}
	}
	if app == nil {
		c.Name = title
		return
	}
	for n := range app.Descendants() {
		switch {
		case n.Type != html.ElementNode:
		case hasClass(n, "p-name") && c.Name == "":
			c.Name = oneLine(valueOf(n, "alt"))
		case hasClass(n, "u-logo") && c.Logo == "":
			c.Logo = web(base, valueOf(n, "src", "href"))
		}
		if n.Type == html.ElementNode && hasClass(n, "u-url") && c.URI == "" {
			c.URI = web(base, valueOf(n, "href"))
		}
	}
	if c.Name == "" {
		c.Name = oneLine(textOf(app))
	}
}

func attr(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func hasClass(n *html.Node, class string) bool {
	return slices.Contains(strings.Fields(attr(n, "class")), class)
}

// valueOf returns the value of the first attribute in names that is set, or else the text of the
// element.
func valueOf(n *html.Node, names ...string) string {
	for _, name := range names {
		if v := attr(n, name); v != "" {
			return v
		}
	}
	return textOf(n)
}

func textOf(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode && b.Len() < 4096 {
			b.WriteString(d.Data)
		}
	}
	return b.String()
}

func oneLine(s string) string {
	return text.ClipRunes(strings.Join(strings.Fields(strings.ToValidUTF8(s, "")), " "), maxClientName)
}

// web returns an absolute http or https URL, or "" if s is invalid.
func web(base *url.URL, s string) string {
	u, err := base.Parse(strings.TrimSpace(s))
	if err != nil || strings.TrimSpace(s) == "" || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || len(s) > maxParam {
		return ""
	}
	return u.String()
}
