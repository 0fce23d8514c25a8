package discover

import (
	"encoding/json"
	"strings"

	"golang.org/x/net/html"

	"cloudburst/internal/charset"
)

// sniffed is the maximum number of bytes in which the root element is searched for.
const sniffed = 16 << 10

// Sniff returns the feed format of a document, detected from its beginning without
// parsing, or "" if it is not a feed. The first 16 KiB of the document are enough.
func Sniff(doc []byte, contentType string) Format {
	return sniff(charset.Decode(doc[:min(len(doc), 4*sniffed)], contentType).Text)
}

func isJSON(text string) bool { return strings.HasPrefix(strings.TrimLeft(text, " \t\r\n"), "{") }

func sniff(text string) Format {
	head := strings.TrimLeft(text[:min(len(text), sniffed)], " \t\r\n\x00")
	if isJSON(head) {
		return sniffJSON(head)
	}
	for n := 0; n < 64; n++ {
		i := strings.IndexByte(head, '<')
		if i < 0 || i+1 >= len(head) {
			return ""
		}
		head = head[i:]
		skip := ""
		switch {
		case strings.HasPrefix(head, "<!--"):
			skip = "-->"
		case strings.HasPrefix(head, "<?"):
			skip = "?>"
		case strings.HasPrefix(head, "<!"):
			skip = ">"
			// A DOCTYPE with an internal subset contains declarations that have > of their own.
			if open, end := strings.IndexByte(head, '['), strings.IndexByte(head, '>'); open >= 0 && open < end {
				skip = "]>"
			}
		default:
			format, isRoot := rootElement(head)
			if isRoot || format != "" {
				return format
			}
			skip = ">" // a warning of the server precedes the feed
		}
		end := strings.Index(head, skip)
		if end < 0 {
			return ""
		}
		head = head[end+len(skip):]
	}
	return ""
}

// rootElement classifies the element at the start of head. An element that starts neither a feed
// nor a page may be other content before the feed.
func rootElement(head string) (f Format, isRoot bool) {
	end := 1
	for end < len(head) && !strings.ContainsRune((" \t\r\n/>"), rune(head[end])) {
		end++
	}
	name := strings.ToLower(head[1:end])
	if _, local, ok := strings.Cut(name, ":"); ok {
		name = local
	}
	tag := head
	if i := strings.IndexByte(head, '>'); i >= 0 {
		tag = head[:i]
	}
	switch name {
	case "rss":
		return RSS, true
	case "feed":
		return Atom, true
	case "rdf":
		// RDF that is not RSS has no channel: it describes a person or a program, for example.
		if strings.Contains(tag, "purl.org/rss/") || strings.Contains(tag, "netscape.com/rdf/") || strings.Contains(tag, "purl.org/net/rss") ||
			strings.Contains(head, "<channel") || strings.Contains(head, ":channel") {
			return RDF, true
		}
		return "", true
	case "channel":
		return CDF, true
	case "scriptingnews":
		return ScriptingNews, true
	case "redirect":
		return Redirect, true
	case "opml":
		return OPML, true
	case "html", "head", "body", "title", "meta", "link", "script", "svg", "urlset", "sitemapindex", "service", "entry", "error":
		return "", true
	}
	return "", false
}

// sniffJSON searches for the version of a JSON Feed.
func sniffJSON(head string) Format {
	plain := strings.ReplaceAll(head, (`\/`), `/`)
	if strings.Contains(plain, `"version"`) && strings.Contains(plain, `jsonfeed.org/version/`) {
		return JSON
	}
	return ""
}

// document adds the document itself, which is a feed, to the result.
func (c *collector) document(text string, format Format) {
	c.res.Format = format
	headers := len(c.self)
	f := found{Link: Link{Format: format, From: FromDocument}, ref: c.res.URL}
	if format == JSON {
		f.Title = c.jsonFeed(text)
	} else {
		f.Title = c.xmlFeed(text)
	}
	f.Title = tidy(f.Title)
	// The URL of a local file is unknown, so use the URL that it declares as its own.
	if c.own == nil && len(c.self) > headers {
		f.ref = c.self[headers].ref
	}
	c.found = append([]found{f}, c.found...)
}

func (c *collector) jsonFeed(text string) (title string) {
	var doc struct {
		Title string `json:"title"`
		Self  string `json:"feed_url"`
		Hubs  []struct {
			Type string `json:"type"`
			URL  string `json:"url"`
		} `json:"hubs"`
	}
	// Ignore an error: values of a wrong type are skipped.
	if err := json.Unmarshal([]byte(text), &doc); err != nil && doc.Title == "" && doc.Self == "" {
		return ""
	}
	if doc.Self != "" {
		c.self = append(c.self, found{ref: doc.Self})
	}
	for _, h := range doc.Hubs {
		if strings.EqualFold(h.Type, "WebSub") || strings.EqualFold(h.Type, "PubSubHubbub") {
			c.addHub(h.URL, false)
		}
	}
	return doc.Title
}

// xmlFeed reads the elements of the feed itself, but not those of its items.
func (c *collector) xmlFeed(text string) (title string) {
	z := html.NewTokenizer(strings.NewReader(text))
	z.AllowCDATA(true)
	inside, inTitle := "", false
	p := pageReader{c: c, z: z}
	for {
		tt := z.Next()
		if tt == html.ErrorToken {
			return title
		}
		switch tt {
		case html.TextToken:
			if inTitle && len(title) < 8*maxTitle {
				title += string(z.Text())
			}
		case html.EndTagToken:
			tag, _ := z.TagName()
			if inTitle = false; string(tag) == inside {
				inside = ""
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			tag, more := z.TagName()
			name := string(tag)
			a := attrs{}
			if inside == "" {
				switch local := local(name); {
				case isPart(local) && tt == html.StartTagToken:
					inside = name
				case local == "link":
					a = p.attrs(more)
					c.feedLink(a)
				case local == "cloud" && c.res.Cloud == nil:
					c.res.Cloud = cloudOf(z, more)
				case (name == "title" || name == "atom:title") && tt == html.StartTagToken:
					inTitle = title == ""
				}
			}
			z.NextIsNotRawText()
		}
	}
}

func local(name string) string {
	if _, l, ok := strings.Cut(name, ":"); ok {
		return l
	}
	return name
}

// isPart reports whether an element of a feed has its own titles and links.
func isPart(local string) bool {
	switch local {
	case "item", "entry", "image", "textinput", "source", "outline":
		return true
	}
	return false
}

// feedLink adds a link element of a feed, usually of Atom.
func (c *collector) feedLink(a attrs) {
	for rel := range strings.FieldsSeq(strings.ToLower(a.rel)) {
		switch rel {
		case "hub":
			c.addHub(a.href, false)
		case "self":
			if len(c.self) < maxHubs {
				c.self = append(c.self, found{ref: a.href})
			}
		}
	}
}

func cloudOf(z *html.Tokenizer, more bool) *Cloud {
	c := &Cloud{}
	for n := 0; more && n < maxAttrs; n++ {
		var key, val []byte
		key, val, more = z.TagAttr()
		if len(val) > maxURL {
			continue
		}
		switch string(key) {
		case "domain":
			c.Domain = string(val)
		case "port":
			c.Port = string(val)
		case "path":
			c.Path = string(val)
		case "registerprocedure":
			c.RegisterProcedure = string(val)
		case "protocol":
			c.Protocol = string(val)
		}
	}
	return c
}
