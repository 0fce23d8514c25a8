package charset

import (
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
)

// Encode puts a document that is in UTF-8 into the encoding that its XML declaration
// names, so that the two agree. ok is false, and the document is best left as it is,
// where it names none, or UTF-8, or one that is not known or has not all of its
// characters. name is that of the encoding as IANA has it, in lower case.
func Encode(text string) (doc []byte, name string, ok bool) {
	rest, isXML := strings.CutPrefix(text, "<?xml")
	if !isXML {
		return nil, "", false
	}
	c := lookup(xmlLabel(rest))
	if c == nil {
		return nil, "", false
	}
	e := c.encoder()
	if e == nil {
		return nil, "", false
	}
	doc, err := e.Bytes([]byte(text))
	if err != nil || Decode(doc, "").Text != text {
		return nil, "", false
	}
	return doc, c.name, true
}

// encoder writes the encoding, by its strict rules; nil where nobody writes it.
func (c *charset) encoder() *encoding.Encoder {
	switch {
	case c.name == "iso-8859-1" || c.name == "us-ascii":
		return charmap.ISO8859_1.NewEncoder()
	case c.name == "utf-16":
		return unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder()
	case c.name == "utf-16le":
		return unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM).NewEncoder()
	case c.name == "utf-16be":
		return unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM).NewEncoder()
	case c.family != familyLatin && c.family != familySingle && c.family != familyMulti:
		return nil
	case c.table != nil:
		return c.table.NewEncoder()
	case c.enc != nil:
		return c.enc.NewEncoder()
	}
	return nil
}
