package metaweblog

import (
	"net/url"
	"strings"

	"cloudburst/internal/charset"
	"cloudburst/internal/scan"
	"cloudburst/internal/xmlsafe"
)

// TypeRSD is the media type of an RSD document and of the link to it. RelRSD is the rel of
// that link.
const (
	TypeRSD = "application/rsd+xml"
	RelRSD  = "EditURI"
)

// spaceRSD is the namespace of the elements.
const spaceRSD = "http://archipelago.phrasewise.com/rsd"

// Limits of a document that is read.
const (
	MaxRSD  = 256 << 10 // maximum size of a document, in bytes
	MaxAPIs = 100       // maximum number of APIs; further APIs are ignored
)

// RSD is a document by which editors find the APIs of a weblog (Really Simple Discovery
// 1.0, Daniel Berlinger, 2002).
type RSD struct {
	Engine     string // name of the program that serves the weblog
	EngineLink string // its home page
	Home       string // URL of the weblog's home page
	APIs       []API
}

// API is one API of a weblog. Clients know the names MetaWeblog, Blogger, MovableType,
// WordPress and Atom.
type API struct {
	Name      string
	Preferred bool   // one API of a document should be preferred
	Link      string // URL of the endpoint
	BlogID    string
	Docs      string // URL of the documentation; "": none
}

// API returns the API with the given name, compared without case. ok is false if there is
// none.
func (d *RSD) API(name string) (api API, ok bool) {
	for _, a := range d.APIs {
		if strings.EqualFold(a.Name, name) {
			return a, true
		}
	}
	return API{}, false
}

// Append appends the document to dst. Characters that XML cannot carry become U+FFFD.
//
// spec:rsd-2002#document
func (d *RSD) Append(dst []byte) []byte {
	dst = append(dst, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<rsd version=\"1.0\" xmlns=\""+spaceRSD+"\">\n <service>\n"...)
	for _, e := range []struct{ name, text string }{{"engineName", d.Engine}, {"engineLink", d.EngineLink}, {"homePageLink", d.Home}} {
		if e.text == "" {
			continue
		}
		dst = append(dst, "  <"+e.name+">"...)
		dst = appendClean(dst, e.text)
		dst = append(dst, "</"+e.name+">\n"...)
	}
	dst = append(dst, "  <apis>\n"...)
	for _, a := range d.APIs {
		dst = a.append(dst)
	}
	return append(dst, "  </apis>\n </service>\n</rsd>\n"...)
}

func (a API) append(dst []byte) []byte {
	preferred := "false"
	if a.Preferred {
		preferred = "true"
	}
	dst = append(dst, "   <api"...)
	for _, at := range []struct{ name, text string }{{"name", a.Name}, {"preferred", preferred}, {"apiLink", a.Link}, {"blogID", a.BlogID}} {
		dst = append(dst, " "+at.name+"=\""...)
		// Cleaned text has no characters that cause an error.
		dst, _ = xmlsafe.AppendAttr(dst, xmlsafe.Clean(at.text))
		dst = append(dst, '"')
	}
	if a.Docs == "" {
		return append(dst, "/>\n"...)
	}
	dst = append(dst, "><settings><docs>"...)
	dst = appendClean(dst, a.Docs)
	return append(dst, "</docs></settings></api>\n"...)
}

func appendClean(dst []byte, s string) []byte {
	dst, _ = xmlsafe.AppendText(dst, xmlsafe.Clean(s)) // see above: cleaned text causes no error
	return dst
}

// ParseRSD parses a document as tolerantly as common readers: elements in any namespace and
// any case, in markup that need not be well-formed. base is the document's URL, which links
// are relative to. contentType is its Content-Type. ok is false if it is not an RSD
// document.
//
// spec:rsd-2002#document
func ParseRSD(doc []byte, base, contentType string) (d *RSD, ok bool) {
	if len(doc) > MaxRSD {
		return nil, false
	}
	at, err := url.Parse(base)
	if err != nil {
		at = &url.URL{}
	}
	r := scan.New(charset.Decode(doc, contentType).Text, scan.Options{})
	for kind := r.Next(); kind != scan.EOF; kind = r.Next() {
		if kind != scan.Start {
			continue
		}
		name := strings.ToLower(r.Local)
		switch {
		case d == nil && name != "rsd":
			return nil, false
		case d == nil:
			d = &RSD{}
			continue
		}
		d.element(r, name, at)
	}
	return d, d != nil
}

func (d *RSD) element(r *scan.Reader, name string, base *url.URL) {
	switch name {
	case "enginename":
		d.Engine = line(r.InnerText())
	case "enginelink":
		d.EngineLink = absolute(base, r.InnerText())
	case "homepagelink":
		d.Home = absolute(base, r.InnerText())
	case "docs":
		if link := absolute(base, r.InnerText()); len(d.APIs) > 0 && d.APIs[len(d.APIs)-1].Docs == "" {
			d.APIs[len(d.APIs)-1].Docs = link
		}
	case "api":
		attr := func(name string) string {
			s, _ := r.Attr(name)
			return line(s)
		}
		a := API{Name: attr("name"), Link: absolute(base, attr("apilink")), BlogID: attr("blogid"), Preferred: strings.EqualFold(attr("preferred"), "true") || attr("preferred") == "1"}
		if a.Name != "" && a.Link != "" && len(d.APIs) < MaxAPIs {
			d.APIs = append(d.APIs, a)
		}
	}
}

// absolute returns a link as an absolute http or https URL, or "" if it is invalid.
func absolute(base *url.URL, s string) string {
	u, err := base.Parse(line(s))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return ""
	}
	return u.String()
}
