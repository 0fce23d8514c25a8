package render

import (
	"net/netip"
	"strconv"
	"strings"
	"unicode/utf8"

	"cloudburst/internal/href"
)

// validIRI reports whether s is an IRI with a scheme. A URN or a tag URI must have the form of
// its scheme.
//
// spec:atom-rfc4287#id
func validIRI(s string) bool {
	if plainWeb(s) {
		return true
	}
	n := schemeLen(s)
	if n == 0 || n == len(s)-1 {
		return false
	}
	host := hostEnd(s)
	for i := range len(s) {
		if c := s[i]; !iriByte(c) || (c == '[' || c == ']') && i >= host {
			return false
		}
	}
	if !utf8.ValidString(s) || !visible(s) || host > 0 && !validAuthority(s[n+len("://"):host]) {
		return false
	}
	switch scheme, rest := s[:n], s[n+1:]; {
	case strings.EqualFold(scheme, "http"), strings.EqualFold(scheme, "https"), strings.EqualFold(scheme, "ftp"):
		return len(rest) > 2 && rest[0] == '/' && rest[1] == '/' && rest[2] != '/' && rest[2] != '?' && rest[2] != '#'
	case strings.EqualFold(scheme, "urn"):
		return validURN(rest)
	case strings.EqualFold(scheme, "tag"):
		return scheme == "tag" && validTag(rest)
	}
	return true
}

// validAuthority reports whether brackets in an authority enclose only an IPv6 address.
func validAuthority(s string) bool {
	if !strings.ContainsAny(s, "[]") {
		return true
	}
	host, port, _ := strings.Cut(s[strings.LastIndexByte(s, '@')+1:], "]")
	return addressLiteral(host+"]") && (port == "" || port[0] == ':' && digits(port[1:]))
}

// addressLiteral reports whether s is an IPv6 address in brackets.
func addressLiteral(s string) bool {
	if !strings.HasPrefix(s, "[") || !strings.HasSuffix(s, "]") {
		return false
	}
	_, err := netip.ParseAddr(s[1 : len(s)-1])
	return err == nil
}

// hostEnd returns the offset of the end of the host in a URL, or 0 if there is no host.
func hostEnd(s string) int {
	i := schemeLen(s)
	if i == 0 || !strings.HasPrefix(s[i:], "://") {
		return 0
	}
	for i += 3; i < len(s) && s[i] != '/' && s[i] != '?' && s[i] != '#'; i++ {
	}
	return i
}

// schemeLen returns the length of the scheme at the beginning of a reference, or 0 if there is
// none.
func schemeLen(s string) int {
	for i := range len(s) {
		switch c := s[i]; {
		case isLetter(c):
		case i > 0 && ('0' <= c && c <= '9' || c == '+' || c == '-' || c == '.'):
		case i > 0 && c == ':':
			return i
		default:
			return 0
		}
	}
	return 0
}

// iriByte reports whether an IRI may contain the byte. All bytes beyond ASCII are allowed here.
func iriByte(c byte) bool {
	switch c {
	case '"', '<', '>', '\\', '^', '`', '{', '|', '}', ' ', 0x7f:
		return false
	}
	return c > ' '
}

// visible reports whether s contains no control characters beyond ASCII.
func visible(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < utf8.RuneSelf {
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if r < 0xa0 || r == '\u3000' || 0x2000 <= r && r <= 0x200f || 0x2028 <= r && r <= 0x202f || r == 0xfeff || r&0xfffe == 0xfffe {
			return false
		}
		i += n - 1
	}
	return true
}

func validURN(s string) bool {
	nid, nss, ok := strings.Cut(s, ":")
	if !ok || len(nid) < 2 || len(nid) > 32 || nss == "" || nid[0] == '-' {
		return false
	}
	for i := range len(nid) {
		if c := nid[i]; !isLetter(c) && (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	if strings.EqualFold(nid, "uuid") {
		return validUUID(nss)
	}
	for i := range len(nss) {
		if c := nss[i]; !isLetter(c) && (c < '0' || c > '9') && strings.IndexByte("()+,.:=@;$_!*'-", c) < 0 &&
			(c != '%' || i+2 >= len(nss) || !isHex(nss[i+1]) || !isHex(nss[i+2])) {
			return false
		}
	}
	return true
}

func validUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i := range len(s) {
		c := s[i]
		switch i {
		case 8, 13, 18, 23:
			if c != '-' {
				return false
			}
		default:
			if !isHex(c) {
				return false
			}
		}
	}
	return true
}

func isHex(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f' }

// validTag reports whether s is valid after "tag:". It must consist of an authority, a date and a
// specific part.
func validTag(s string) bool {
	who, rest, ok := strings.Cut(s, ",")
	when, _, named := strings.Cut(rest, ":")
	if !ok || !named || who == "" {
		return false
	}
	at := strings.IndexByte(who, '@')
	if at == 0 || at == len(who)-1 || strings.ContainsAny(who[at+1:], "@_") || strings.Count(rest, "#") > 1 || strings.ContainsAny(s, "[]") {
		return false
	}
	for i := range len(who) {
		if c := who[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && strings.IndexByte("-._@", c) < 0 {
			return false
		}
	}
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	for i := range len(when) {
		if c := when[i]; i == 4 || i == 7 {
			if c != '-' {
				return false
			}
		} else if c < '0' || c > '9' {
			return false
		}
	}
	return len(when) == 4 || len(when) == 7 || len(when) == 10
}

// iri returns a reference that may contain characters of any script. It percent-encodes invalid
// characters. For an invalid reference it returns "" and adds a warning.
func (w *writer) iri(s, where string) string { return w.reference(s, where, false, false) }

// ref is like iri, but returns an equivalent reference in ASCII. Some programs reject long URLs
// with other characters, and most programs expect URLs of feed images in ASCII.
func (w *writer) ref(s, where string) string { return w.reference(s, where, false, true) }

// uri is like ref for a URL that must have a scheme, as modules require.
func (w *writer) uri(s, where string) string { return w.reference(s, where, true, true) }

func (w *writer) reference(s, where string, absolute, ascii bool) string {
	if s == "" || w.plainWeb(s) {
		return s
	}
	clean := true
	for i := range len(s) {
		if c := s[i]; !iriByte(c) || c == '[' || c == ']' || ascii && c >= utf8.RuneSelf {
			clean = false
			break
		}
	}
	if !clean {
		s = escapeIRI(strings.TrimSpace(strings.ToValidUTF8(s, "")), ascii)
	}
	n := schemeLen(s)
	if n == 0 && (absolute || w.f.Base == "") { // a relative reference is allowed here, because the feed's base URL is also written
		if base := w.base(); base != "" {
			s = href.New(base).Resolve(s)
			n = schemeLen(s)
		}
	}
	switch {
	case n == 0 && (absolute || w.f.Base == ""):
		w.warn("relative", where, "This relative URL has no base URL and is omitted: ", short(s), ".")
		return ""
	case ascii && !isASCII(s): // the host cannot be expressed in ASCII
	case n > 0 && validIRI(s), n == 0 && !strings.Contains(s[:len(s)-len(strings.TrimLeftFunc(s, ofSegment))], ":"):
		return s
	}
	w.warn("address", where, "This is not a valid URL and is omitted: ", short(s), ".")
	return ""
}

// ofSegment reports whether c may be part of the first segment of a path, in which a colon would
// end a scheme.
func ofSegment(c rune) bool { return c != '/' && c != '?' && c != '#' }

// escapeIRI percent-encodes the characters that a reference must not contain. If ascii is set, it
// also encodes all characters beyond ASCII after the host, and converts the host to Punycode.
func escapeIRI(s string, ascii bool) string {
	const digits = "0123456789ABCDEF"
	host := hostEnd(s)
	if ascii && host > 0 && !isASCII(s[:host]) {
		from := schemeLen(s) + len("://")
		if h, ok := asciiAuthority(s[from:host]); ok {
			s, host = s[:from]+h+s[host:], from+len(h)
		}
	}
	b := make([]byte, 0, len(s)+16)
	for i := range len(s) {
		c := s[i]
		if !iriByte(c) || i >= host && (c == '[' || c == ']' || ascii && c >= utf8.RuneSelf) {
			b = append(b, '%', digits[c>>4], digits[c&15])
		} else {
			b = append(b, c)
		}
	}
	return string(b)
}

// token reports whether s is a token of a media type.
func token(s string) bool {
	for i := range len(s) {
		if tokenBytes[s[i]] == 0 {
			return false
		}
	}
	return s != ""
}

// tokenBytes is 1 for the bytes that media type tokens may contain: visible ASCII except the
// separators ()<>@,;:\"/[]?=
const tokenBytes = none32 +
	"\x00\x01\x00\x01\x01\x01\x01\x01\x00\x00\x01\x01\x00\x01\x01\x00" +
	"\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x00\x00\x00\x00\x00\x00" +
	"\x00\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01" +
	"\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x00\x00\x00\x01\x01" +
	"\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01" +
	"\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x00" +
	none64 + none64

// language returns a language tag. For an invalid tag it returns "" and adds a warning.
func (w *writer) language(s, where string) string {
	if s == "" {
		return ""
	}
	if t := steadyLanguage(s); validLanguage(t) {
		if t != s {
			w.warn("language-name", where, "The code of this language is now ", t, "; it replaces ", short(s), ".")
		}
		return t
	}
	w.warn("language", where, "This is not a valid language code and is omitted: ", short(s), ".")
	return ""
}

// steadyLanguage returns a language tag with hyphens. Four withdrawn codes are replaced by their
// successors.
func steadyLanguage(s string) string {
	if strings.IndexByte(s, '_') >= 0 {
		s = strings.ReplaceAll(s, "_", "-")
	}
	if len(s) < 2 || len(s) > 2 && s[2] != '-' {
		return s
	}
	switch strings.ToLower(s[:2]) {
	case "iw":
		return "he" + s[2:]
	case "in":
		return "id" + s[2:]
	case "ji":
		return "yi" + s[2:]
	case "jw":
		return "jv" + s[2:]
	}
	return s
}

// validLanguage reports whether s is a tag such as en, pt-BR or zh-Hant-TW.
func validLanguage(s string) bool {
	first := len(s)
	for i, from := 0, 0; i <= len(s); i++ {
		if i < len(s) && s[i] != '-' {
			if c := s[i]; !isLetter(c) && (from == 0 || c < '0' || c > '9') {
				return false
			}
			continue
		}
		if i == from || i-from > 8 {
			return false
		}
		first, from = min(first, i), i+1
	}
	switch first {
	case 2:
		return strings.Contains(twoLetters, " "+strings.ToLower(s[:2])+" ")
	case 3:
		return true
	}
	return false
}

// twoLetters lists the two-letter codes of ISO 639, including withdrawn ones.
const twoLetters = " aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz " +
	"ee el en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik in io is it iu iw " +
	"ja ji jv jw ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mo mr ms mt my " +
	"na nb nd ne ng nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg sh si sk sl sm sn so sq sr ss st su sv sw " +
	"ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu "

// tooMany is the smallest value that number rejects, because not every program can represent it.
const tooMany = 1e18

// number returns a value that must be a whole number of at least minimum. For any other value it
// returns "" and adds a warning.
func (w *writer) number(s, where string, minimum int) string {
	if s == "" {
		return ""
	}
	const longest = 18 // maximum number of digits that every program can represent
	s = strings.TrimSpace(s)
	n, err := strconv.Atoi(s)
	if err == nil && n >= minimum && len(s) <= longest && s[0] != '+' && (minimum >= 0 || s != "-0") {
		return s
	}
	w.invalid(s, where, "a whole number")
	return ""
}

// decimal returns a value that must be a number, with or without decimals.
func (w *writer) decimal(s, where string) string {
	s = strings.TrimSpace(s)
	if s == "" || isDecimal(s) {
		return s
	}
	w.invalid(s, where, "a number")
	return ""
}

func isDecimal(s string) bool {
	s = strings.TrimPrefix(s, "-")
	whole, part, dot := strings.Cut(s, ".")
	return digits(whole) && (!dot || digits(part))
}

func digits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// word returns a value that must be one of the space-separated words. Wrong capitals are corrected.
func (w *writer) word(s, where, words string) string {
	if s == "" {
		return ""
	}
	t := strings.TrimSpace(s)
	for v := range strings.SplitSeq(words, " ") {
		if strings.EqualFold(t, v) {
			return v
		}
	}
	w.invalid(s, where, "one of "+strings.ReplaceAll(words, " ", ", "))
	return ""
}

// invalid adds a warning that a value is invalid and was omitted.
func (w *writer) invalid(s, where, should string) {
	w.warn("value", where, "This should be ", should, "; it is omitted: ", short(s), ".")
}

// mailbox returns an email address. For an invalid address it returns "" and adds a warning.
func (w *writer) mailbox(s, where string) string {
	if s == "" || isMail(s) {
		return s
	}
	w.warn("mail", where, "This is not a valid email address and is omitted: ", short(s), ".")
	return ""
}

// visibleText returns s without surrounding white space and without characters that XML
// forbids, for elements that must not be empty.
func visibleText(s string) string {
	if s != "" && s[0] > ' ' && s[0] < utf8.RuneSelf { // this is the usual case
		return s
	}
	return strings.TrimSpace(strings.Map(func(c rune) rune {
		if c < ' ' && c != '\n' && c != '\t' && c != '\r' || c == 0xfffe || c == 0xffff {
			return -1
		}
		return c
	}, strings.ToValidUTF8(s, "")))
}

// cutTo returns at most limit characters of s. If it shortens s, it adds a warning.
func (w *writer) cutTo(s, where string, limit int) string {
	if !tooLong(s, limit) {
		return s
	}
	w.warn("length", where, "This is shortened to ", strconv.Itoa(limit), " characters, the maximum length.")
	n := 0
	for i := range s {
		if n == limit-1 {
			return strings.TrimRight(s[:i], " ") + "…"
		}
		n++
	}
	return s
}
