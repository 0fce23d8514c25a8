package feedfile

import (
	"bytes"
	"encoding/binary"
	"regexp"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// document is a feed prepared for editing. Offsets of edits refer to text.
type document struct {
	raw   []byte
	mark  []byte // byte order mark before the text
	text  string
	order binary.ByteOrder // byte order of UTF-16, which text holds as UTF-8; nil: text holds the original bytes
	// ascii means that the encoding is a superset of ASCII. Other bytes are not interpreted, and
	// added text is pure ASCII.
	ascii bool
	json  bool
}

var declared = regexp.MustCompile(`^<\?xml[ \t\r\n][^>]*?encoding[ \t\r\n]*=[ \t\r\n]*["']([A-Za-z0-9._:-]+)["']`)

// read detects the encoding of a document.
//
// Supersets of ASCII need no conversion: characters beyond ASCII are added as numeric references.
// UTF-16 is converted to UTF-8 and back.
func read(doc []byte) (*document, error) {
	t := &document{raw: doc}
	switch {
	case bytes.HasPrefix(doc, []byte("\xff\xfe\x00\x00")), bytes.HasPrefix(doc, []byte("\x00\x00\xfe\xff")):
		return nil, refuse("the feed is in UTF-32, which is not supported: save it as UTF-8 first")
	case bytes.HasPrefix(doc, []byte("\xff\xfe")), bytes.HasPrefix(doc, []byte("<\x00")):
		return t.decodeUTF16(binary.LittleEndian)
	case bytes.HasPrefix(doc, []byte("\xfe\xff")), bytes.HasPrefix(doc, []byte("\x00<")):
		return t.decodeUTF16(binary.BigEndian)
	}
	body, marked := bytes.CutPrefix(doc, []byte("\xef\xbb\xbf"))
	t.mark = doc[:len(doc)-len(body)]
	t.text = string(body)
	t.json = strings.HasPrefix(strings.TrimLeft(t.text, " \t\r\n"), "{")
	name := "utf-8"
	if m := declared.FindStringSubmatch(t.text); m != nil && !marked {
		name = strings.ToLower(m[1])
	}
	switch {
	case name == "utf-8" || name == "utf8" || t.json:
		if i := badUTF8(t.text); i >= 0 {
			return nil, refuse("the feed is broken: its byte %d is not valid UTF-8", i+len(t.mark)+1)
		}
	case isASCIISuperset(name):
		t.ascii = true
	default:
		return nil, refuse("the feed is in %s, which is not supported: save it as UTF-8 first", name)
	}
	return t, nil
}

// badUTF8 returns the offset of the first invalid UTF-8 byte, or -1.
func badUTF8(s string) int {
	if utf8.ValidString(s) {
		return -1
	}
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}

// isASCIISuperset reports whether markup characters are single ASCII bytes in an encoding, and these
// bytes have no other meaning.
func isASCIISuperset(name string) bool {
	if slices.Contains([]string{"us-ascii", "ascii", "latin1", "macintosh", "big5", "gbk", "gb2312", "gb18030", "shift_jis", "shift-jis", "sjis", "euc-jp", "euc-kr", "tis-620"}, name) {
		return true
	}
	for _, family := range []string{"iso-8859-", "windows-125", "cp125", "koi8-", "windows-31j", "windows-874"} {
		if strings.HasPrefix(name, family) {
			return true
		}
	}
	return false
}

// decodeUTF16 converts UTF-16 to UTF-8.
func (t *document) decodeUTF16(order binary.ByteOrder) (*document, error) {
	body := t.raw
	for _, mark := range []string{"\xff\xfe", "\xfe\xff"} {
		if rest, ok := bytes.CutPrefix(body, []byte(mark)); ok {
			t.mark, body = t.raw[:2], rest
			break
		}
	}
	if len(body)%2 != 0 {
		return nil, refuse("the feed is broken: it is UTF-16 and ends within a character")
	}
	t.order = order
	units := make([]uint16, len(body)/2)
	for i := range units {
		units[i] = order.Uint16(body[2*i:])
	}
	t.text = string(utf16.Decode(units))
	if !bytes.Equal(t.encode(t.text), body) {
		return nil, refuse("the feed is broken: it contains invalid UTF-16")
	}
	t.json = strings.HasPrefix(strings.TrimLeft(t.text, " \t\r\n"), "{")
	if t.json {
		return nil, refuse("the feed is JSON in UTF-16, which JSON does not allow: save it as UTF-8 first")
	}
	return t, nil
}

// encode converts text to the document's encoding.
func (t *document) encode(text string) []byte {
	if t.order == nil {
		return []byte(text)
	}
	var b []byte
	for _, u := range utf16.Encode([]rune(text)) {
		b = append(b, 0, 0)
		t.order.PutUint16(b[len(b)-2:], u)
	}
	return b
}

// markup returns the text for the XML parser. In encodings other than Unicode, each non-ASCII byte
// becomes a letter, so that offsets stay the same.
func (t *document) markup() string {
	if !t.ascii {
		return t.text
	}
	b := []byte(t.text)
	for i, c := range b {
		if c >= 0x80 {
			b[i] = 'x'
		}
	}
	return string(b)
}

// apply applies the edits and returns the document.
func (t *document) apply(edits []edit) ([]byte, error) {
	out := append(slices.Clone(t.mark), t.encode(splice(t.text, edits))...)
	if len(out) > MaxFile {
		return nil, refuse("the feed would have %d bytes; at most %d are accepted", len(out), MaxFile)
	}
	return out, nil
}
