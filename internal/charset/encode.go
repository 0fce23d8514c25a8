package charset

import (
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
)

// Encode converts a UTF-8 document to the encoding in its XML declaration. name is the encoding's
// IANA name in lowercase. ok is false if the declaration is missing or names UTF-8 or an unknown
// encoding, or if the encoding lacks a character. The caller should then send text unchanged.
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

// encoder returns a strict encoder; nil: the program can only decode this encoding.
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
