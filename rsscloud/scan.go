package rsscloud

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"
)

// Limits within one tag; what is more is passed over.
const (
	maxAttrs     = 64
	maxAttrValue = 4096
)

// scanCloud calls use with the attributes (names in lower case) of each <cloud>
// outside an item, until use returns false.
//
// It is not an XML parser on purpose: feeds in the field are broken in places that
// do not matter here, and a parser would stop at the first of them. It takes time
// proportional to the length whatever the bytes are.
func scanCloud(s string, use func(attr map[string]string) bool) {
	inItem := false
	for {
		i := strings.IndexByte(s, '<')
		if i < 0 {
			return
		}
		s = s[i:]
		if rest, ok := skipMarkup(s); ok {
			s = rest
			continue
		}
		closing := strings.HasPrefix(s, "</")
		name, rest := tagName(s)
		if name == "" {
			s = s[1:]
			continue
		}
		switch local := strings.ToLower(name[strings.LastIndexByte(name, ':')+1:]); local {
		case "item", "entry":
			_, after, empty := tagAttrs(rest)
			inItem, rest = !closing && !empty, after
		case "channel":
			inItem = false
		case "cloud":
			attr, after, _ := tagAttrs(rest)
			_, hasPath := attr["path"]
			_, hasProtocol := attr["protocol"]
			if rest = after; !closing && !inItem && (hasPath || hasProtocol) && !use(attr) {
				return
			}
		}
		s = rest
	}
}

// skipMarkup passes over a comment, CDATA section, declaration or processing
// instruction at the start of s. What has no end reaches to the end of the feed:
// a cloud element inside a comment must never count.
func skipMarkup(s string) (rest string, ok bool) {
	end := ""
	switch {
	case strings.HasPrefix(s, "<!--"):
		end, s = "-->", s[4:]
	case strings.HasPrefix(s, "<![CDATA["):
		end, s = "]]>", s[9:]
	case strings.HasPrefix(s, "<?"):
		end = ">"
	case strings.HasPrefix(s, "<!"):
		return skipDoctype(s), true
	default:
		return s, false
	}
	if i := strings.Index(s, end); i >= 0 {
		return s[i+len(end):], true
	}
	return "", true
}

func skipDoctype(s string) string {
	var depth int
	var quote byte
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '[':
			depth++
		case c == ']':
			depth--
		case c == '>' && depth <= 0:
			return s[i+1:]
		}
	}
	return ""
}

// tagName is the name of the tag that s begins with, and what follows it.
func tagName(s string) (name, rest string) {
	return cutName(strings.TrimPrefix(s[1:], "/"))
}

// cutName is the name at the start of s, and what follows it.
func cutName(s string) (name, rest string) {
	n := strings.IndexFunc(s, func(r rune) bool {
		return r <= ' ' || r == '/' || r == '>' || r == '<' || r == '=' || r == '"' || r == '\''
	})
	if n < 0 {
		n = len(s)
	}
	return s[:n], s[n:]
}

// tagAttrs reads attributes up to the tag's end, or to the next < when the tag
// has none.
func tagAttrs(s string) (attr map[string]string, rest string, empty bool) {
	attr = map[string]string{}
	for {
		s = strings.TrimLeft(s, " \t\r\n")
		if s == "" || s[0] == '<' {
			return attr, s, empty
		}
		if s[0] == '>' {
			return attr, s[1:], empty
		}
		if empty = s[0] == '/'; empty {
			s = s[1:]
			continue
		}
		name, after := cutName(s)
		if name == "" { // a stray quote or equals sign
			s = s[1:]
			continue
		}
		value, after, ok := attrValue(after)
		name = strings.ToLower(name)
		if _, twice := attr[name]; ok && !twice && len(attr) < maxAttrs && len(value) <= maxAttrValue {
			attr[name] = strings.TrimSpace(strings.Map(printable, unescape(strings.ToValidUTF8(value, "\uFFFD"))))
		}
		s = after
	}
}

// attrValue reads ="…", ='…' or =… at the start of s. A < ends it in any case,
// for no attribute may hold one: that is a tag whose quote was forgotten.
func attrValue(s string) (value, rest string, ok bool) {
	after, ok := strings.CutPrefix(strings.TrimLeft(s, " \t\r\n"), "=")
	if !ok {
		return "", s, false
	}
	s = strings.TrimLeft(after, " \t\r\n")
	if s != "" && (s[0] == '"' || s[0] == '\'') {
		quote := s[:1]
		i := strings.IndexAny(s[1:], quote+"<")
		if i < 0 {
			return "", "", false
		}
		value, rest = s[1:1+i], s[1+i:]
		if rest[0] == '<' {
			return "", rest, false
		}
		return value, rest[1:], true
	}
	i := strings.IndexAny(s, " \t\r\n<>")
	if i < 0 {
		i = len(s)
	}
	if i < len(s) && s[i] == '>' && strings.HasSuffix(s[:i], "/") {
		i-- // domain=example.com/>
	}
	return s[:i], s[i:], true
}

// printable replaces what no XML document can hold, so that an element that was
// read can be written.
func printable(r rune) rune {
	if r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == 0xFFFE || r == 0xFFFF {
		return utf8.RuneError
	}
	return r
}

// unescape replaces XML's own entities and character references. The stdlib's
// html.UnescapeString knows too many: it turns the query a=1&copy=2 into a sign.
func unescape(s string) string {
	if !strings.Contains(s, "&") {
		return s
	}
	var b strings.Builder
	for {
		i := strings.IndexByte(s, '&')
		if i < 0 {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(s[:i])
		s = s[i:]
		end := strings.IndexByte(s[:min(len(s), 12)], ';')
		text := ""
		if end > 0 {
			text = entity(s[1:end])
		}
		if text == "" {
			text, end = "&", 0
		}
		b.WriteString(text)
		s = s[end+1:]
	}
}

func entity(name string) string {
	switch name {
	case "amp":
		return "&"
	case "lt":
		return "<"
	case "gt":
		return ">"
	case "quot":
		return `"`
	case "apos":
		return "'"
	}
	digits, base := strings.TrimPrefix(name, "#"), 10
	if digits == name {
		return ""
	}
	if strings.HasPrefix(digits, "x") || strings.HasPrefix(digits, "X") {
		digits, base = digits[1:], 16
	}
	n, err := strconv.ParseUint(digits, base, 31)
	if err != nil || n == 0 || !utf8.ValidRune(rune(n)) || utf16.IsSurrogate(rune(n)) {
		return ""
	}
	return string(rune(n))
}

// decode makes UTF-8 of a document: by its byte order mark, by how its first
// character is written, by what its declaration says, in this order. Bytes that
// cannot be decoded stay, for only the cloud element matters here.
func decode(doc []byte) string {
	for _, m := range [...]struct {
		head string
		enc  encoding.Encoding
	}{
		{"\xEF\xBB\xBF", nil},
		{"\x00\x00\xFE\xFF", utf32.UTF32(utf32.BigEndian, utf32.UseBOM)},
		{"\xFF\xFE\x00\x00", utf32.UTF32(utf32.LittleEndian, utf32.UseBOM)},
		{"\x00\x00\x00<", utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM)},
		{"<\x00\x00\x00", utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM)},
		{"\xFE\xFF", unicode.UTF16(unicode.BigEndian, unicode.UseBOM)},
		{"\xFF\xFE", unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)},
		{"\x00<", unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)},
		{"<\x00", unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)},
	} {
		if bytes.HasPrefix(doc, []byte(m.head)) {
			return decodeWith(m.enc, doc)
		}
	}
	name := strings.ToLower(declared(doc))
	if name == "" || name == "utf-8" || strings.HasPrefix(name, "utf-16") || strings.HasPrefix(name, "utf-32") {
		return string(doc)
	}
	enc, err := htmlindex.Get(name)
	if err != nil {
		return string(doc)
	}
	return decodeWith(enc, doc)
}

func decodeWith(enc encoding.Encoding, doc []byte) string {
	if enc == nil {
		return string(doc)
	}
	out, err := enc.NewDecoder().Bytes(doc)
	if err != nil {
		return string(doc)
	}
	return string(out)
}

// declared is the encoding that <?xml … encoding="…"?> names.
func declared(doc []byte) string {
	doc = bytes.TrimLeft(doc[:min(len(doc), 512)], " \t\r\n")
	if !bytes.HasPrefix(doc, []byte("<?xml")) {
		return ""
	}
	head, _, ok := strings.Cut(string(doc[5:]), "?>")
	if !ok {
		return ""
	}
	attr, _, _ := tagAttrs(head)
	return attr["encoding"]
}
