// Package inspect checks whether a document can be published as a feed: it must be a well-formed feed
// in an encoding that it declares. Start with [Document] and its result [Info].
package inspect

import (
	"bytes"
	"encoding/json"
	"errors"
	"mime"
	"net/http"
	"strings"
	"unicode/utf8"

	"cloudburst/feed"
	"cloudburst/internal/charset"
	"cloudburst/internal/fault"
	"cloudburst/internal/feedfile"
	"cloudburst/internal/sanitize"
	"cloudburst/internal/xmlsafe"
)

// Limits of a document. Real documents are far below these limits.
const (
	MaxBytes    = 2 << 20
	MaxTitle    = 255 // maximum characters of the title as plain text
	maxElements = 1 << 17
)

// Push records whether a saved document names a cloud or a hub.
type Push string

// Values of Push.
const (
	PushNamed   Push = ""         // the document names a cloud or a hub, or was saved by an earlier version of the program, which did not record Push
	PushMissing Push = "missing"  // the document names neither
	PushNoPlace Push = "no-place" // the document names neither, and neither can be added in its format or encoding
)

// Info is the metadata of a document.
type Info struct {
	Type  string // Content-Type to serve the document with
	Title string // title of the feed as plain text, at most MaxTitle characters
	Items int
	Push  Push
}

// Document checks whether a document can be published, and returns its metadata. contentType is the
// Content-Type of the request that contained the document. fault.Invalid: the document cannot be
// published.
//
// spec:cloudburst#save-checked
func Document(doc []byte, contentType string) (Info, error) {
	if len(doc) > MaxBytes {
		return Info{}, fault.New(fault.Invalid, "The document has %d bytes; at most %d (2 MiB) are accepted.", len(doc), MaxBytes)
	}
	isJSON := jsonType(contentType)
	f, err := feed.ParseBytes(doc, &feed.Options{Header: http.Header{"Content-Type": {contentType}}})
	var not *feed.NotFeedError
	switch {
	case errors.As(err, &not):
		return Info{}, notFeed(doc, contentType, not)
	case err != nil:
		return Info{}, fault.Wrap(fault.Invalid, err, "The document cannot be read as a feed.")
	case f.Format == feed.JSONFeed && !isJSON:
		return Info{}, fault.New(fault.Invalid, "This is a JSON Feed that was sent as XML; PUT it with the Content-Type application/feed+json, or save XML.")
	case f.Format == feed.JSONFeed:
		err = wellFormedJSON(doc)
	case isJSON:
		return Info{}, fault.New(fault.Invalid, "The Content-Type is JSON, but the document is XML; send it as application/xml.")
	default:
		err = wellFormedXML(doc, contentType)
	}
	if err != nil {
		return Info{}, err
	}
	if f.Format == feed.Redirect || f.Format == feed.MCF {
		return Info{}, fault.New(fault.Invalid, "This is a document of the kind %q and not a feed.", f.Format)
	}
	return Info{Type: typeOf(f), Title: title(f), Items: len(f.Items), Push: pushOf(f, doc)}, nil
}

// pushOf returns the Push of a document.
func pushOf(f *feed.Feed, doc []byte) Push {
	switch {
	case len(f.Clouds)+len(f.Hubs) > 0:
		return PushNamed
	case feedfile.CheckPush(doc) != nil:
		return PushNoPlace
	}
	return PushMissing
}

// notFeed returns the error for a document that is not a feed. It checks first whether the XML is
// well-formed, because broken XML may be the only reason.
func notFeed(doc []byte, contentType string, not *feed.NotFeedError) error {
	switch not.Looks {
	case "html":
		return fault.Wrap(fault.Invalid, not, "This is an HTML page, not a feed.")
	case "opml":
		return fault.Wrap(fault.Invalid, not, "This is OPML, a list of feeds and not a feed.")
	case "xml", "rdf":
		if err := wellFormedXML(doc, contentType); err != nil {
			return err
		}
	}
	text := strings.TrimPrefix(not.Error(), "feed: ")
	return fault.Wrap(fault.Invalid, not, "%s.", strings.ToUpper(text[:1])+text[1:])
}

// wellFormedXML returns a fault.Invalid if a document of any encoding is not well-formed XML.
func wellFormedXML(doc []byte, contentType string) error {
	text, err := decoded(doc, contentType)
	if err != nil {
		return err
	}
	_, err = xmlsafe.Read(text, xmlsafe.Options{
		// The UTF-8 text may be longer than the text in the original encoding.
		MaxBytes: 4 * MaxBytes, MaxElements: maxElements, Charset: "utf-8",
	})
	var bad *xmlsafe.Error
	switch {
	case err == nil:
		return nil
	case errors.Is(err, xmlsafe.ErrDoctype):
		return fault.Wrap(fault.Invalid, err, "The document has a DOCTYPE, which is not accepted; leave it out.")
	case errors.Is(err, xmlsafe.ErrTooComplex) && errors.As(err, &bad):
		return fault.Wrap(fault.Invalid, err, "The document is nested too deeply or has too many parts: in line %d, %s.", bad.Line, bad.Msg)
	case errors.Is(err, xmlsafe.ErrTooComplex):
		return fault.Wrap(fault.Invalid, err, "The document is nested too deeply or has too many parts.")
	case errors.As(err, &bad):
		return fault.Wrap(fault.Invalid, err, "The document is not well-formed XML: in line %d, %s.", bad.Line, bad.Msg)
	}
	return fault.Wrap(fault.Invalid, err, "The document cannot be read as XML.")
}

// decoded returns the document in UTF-8. Encoding errors that a lenient parser would correct are
// errors.
func decoded(doc []byte, contentType string) (*bytes.Reader, error) {
	got := charset.Decode(doc, contentType)
	if got.Name == "utf-8" && utf8.Valid(doc) {
		// Control characters stay in the text, because the XML check rejects them.
		return bytes.NewReader(bytes.TrimPrefix(doc, []byte("\xEF\xBB\xBF"))), nil
	}
	// Like all readers, decode windows-1252 characters in a document that declares Latin 1.
	declared := got.From == "http" || got.From == "bom" || got.From == "declaration" && got.Name == "windows-1252"
	for _, p := range got.Problems {
		if p.Kind == "encoding" && declared {
			continue
		}
		if p.Line > 0 {
			return nil, fault.New(fault.Invalid, "The document is not in the encoding that it declares: in line %d, %s.", p.Line, strings.TrimRight(p.Message, "."))
		}
		return nil, fault.New(fault.Invalid, "The document is not in the encoding that it declares: %s.", strings.TrimRight(p.Message, "."))
	}
	if got.From == "default" || got.From == "sniffed" && got.Declared != "" && !strings.HasPrefix(got.Name, "utf-") {
		return nil, fault.New(fault.Invalid, "The document is not UTF-8 and does not declare its encoding; save it as UTF-8.")
	}
	return bytes.NewReader([]byte(got.Text)), nil
}

func wellFormedJSON(doc []byte) error {
	doc = bytes.TrimPrefix(doc, []byte("\xEF\xBB\xBF"))
	if !utf8.Valid(doc) {
		return fault.New(fault.Invalid, "The document is JSON but not UTF-8; save it as UTF-8.")
	}
	var any json.RawMessage
	err := json.Unmarshal(doc, &any)
	var bad *json.SyntaxError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &bad):
		at := min(max(int(bad.Offset), 0), len(doc))
		return fault.Wrap(fault.Invalid, err, "The document is not well-formed JSON: in line %d, %s.", 1+bytes.Count(doc[:at], []byte("\n")), bad.Error())
	}
	return fault.Wrap(fault.Invalid, err, "The document cannot be read as JSON.")
}

// jsonType reports whether a Content-Type is JSON.
func jsonType(contentType string) bool {
	kind, _, _ := mime.ParseMediaType(contentType)
	return kind == "application/json" || strings.HasSuffix(kind, "+json") || kind == "text/json"
}

// typeOf returns the Content-Type with which a document is served. It contains the encoding, which
// overrides the declaration in the document.
func typeOf(f *feed.Feed) string {
	kind := "application/rss+xml"
	switch f.Format {
	case feed.Atom:
		kind = "application/atom+xml"
	case feed.JSONFeed:
		kind = "application/feed+json"
	case feed.CDF:
		kind = "application/x-cdf"
	case feed.ScriptingNews:
		kind = "text/xml"
	case feed.RSS:
		if f.Version == "1.0" || f.Version == "0.90" {
			kind = "application/rdf+xml"
		}
	}
	encoding := f.Encoding
	switch {
	case encoding == "" || f.Format == feed.JSONFeed:
		encoding = "utf-8"
	case strings.HasPrefix(encoding, "utf-16"):
		encoding = "utf-16" // the byte order mark of the document determines the byte order
	}
	return kind + "; charset=" + encoding
}

// title returns the feed's title as plain text.
func title(f *feed.Feed) string {
	t := f.Title.Value
	if f.Title.Type == "text/html" || f.Title.Type == "application/xhtml+xml" {
		t = sanitize.Text(t)
	}
	t = strings.Join(strings.Fields(t), " ")
	if n := 0; utf8.RuneCountInString(t) > MaxTitle {
		for at := range t {
			if n++; n == MaxTitle {
				return t[:at] + "…"
			}
		}
	}
	return t
}
