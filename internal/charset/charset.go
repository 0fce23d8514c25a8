// Package charset converts a document in any encoding to clean UTF-8. It follows XML 1.0, the rules
// for XML over HTTP (RFC 7303) and the labels of the WHATWG Encoding Standard. Start with Decode;
// FixDoubleEncoding is for single texts.
//
// # Interoperability
//
// Labels are trusted unless the bytes contradict them. iso-8859-1 and us-ascii are read as
// windows-1252, which becomes Result.Name if bytes occur that only windows-1252 has; gb2312 is read
// as gb18030. The characters U+0080 to U+009F, in any encoding, are read as windows-1252. Stray
// windows-1252 bytes in UTF-8 are repaired one by one. Undeclared Latin encodings are not detected:
// without any hint a document that is not UTF-8 is windows-1252.
package charset

import (
	"strings"
	"unsafe"
)

// Result is a decoded document.
type Result struct {
	// Text is valid UTF-8 without byte order mark and without characters that XML 1.0 forbids.
	// Tabs, line feeds and carriage returns are unchanged.
	Text string
	// Name is the IANA name of the encoding that was used, in lowercase: "utf-8", "windows-1252",
	// "utf-16be", "shift_jis".
	Name string
	// From states how Name was found: "bom", "http", "declaration", "sniffed" or "default".
	From string
	// Declared is the encoding label in the document itself, as written; "": the document has none.
	Declared string
	// Problems lists repairs and contradictions, at most one of each sort. It is empty for a clean
	// document.
	Problems []Problem
}

// Problem is one defect in the encoding of a document.
type Problem struct {
	Kind    string // "character" or "encoding"
	Line    int    // line number from 1; 0: the whole document
	Message string // a sentence for people
}

// Decode decodes a document. contentType is the Content-Type header or "". The text shares memory
// with doc if nothing has to change, so do not modify doc afterwards.
//
// The encoding is chosen in this order: byte order mark, charset of the header, declaration in the
// document, UTF-8 if the document is valid UTF-8, the encoding of a language with its own script if
// the text is clearly in that language, windows-1252. Labels that the bytes contradict are ignored.
// Each loss of bytes is reported as a problem with the line of the first loss.
func Decode(doc []byte, contentType string) Result {
	r := reading{httpLabel: httpLabel(contentType)}
	r.http = lookup(r.httpLabel)
	mark, size := byteOrderMark(doc)
	doc = doc[size:]
	if mark == "" && size > 0 {
		r.problems = append(r.problems, Problem{Kind: "encoding", Message: "a byte order mark of UTF-16 or UTF-32 precedes a document in another encoding: ignored"})
	}
	var text []byte
	switch wide := zeroPattern(doc); {
	case mark != "" && mark != "utf-8":
		text = r.decodeDetected(doc, byName(mark), "bom")
	case mark == "" && wide != "":
		text = r.decodeDetected(doc, byName(wide), "sniffed")
	case mark == "" && strings.HasPrefix(view(doc), "\x4C\x6F\xA7\x94"): // "<?xm" in EBCDIC
		text = r.decodeDetected(doc, byName("ibm037"), "sniffed")
	default:
		text = r.decodeASCIIBased(doc, mark)
	}
	return r.finish(text)
}

// view returns a string that shares the memory of b.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// reading is the state of decoding a document.
type reading struct {
	httpLabel, declared   string
	http, declaredCharset *charset // encodings that the two labels name; nil: no label or an unknown label
	used                  *charset
	from                  string
	latin                 bool // the text is really in windows-1252, or in used.superset
	guessed               bool // used was guessed, because the document has no usable label
	problems              []Problem

	// surveyed means that found is also valid for the returned text.
	surveyed bool
	found    findings
}

func (r *reading) use(c *charset, from string) {
	r.used, r.from = c, from
}

func (r *reading) declares(text []byte) {
	r.declared = declaration(view(text))
	r.declaredCharset = lookup(r.declared)
}

// decodeDetected decodes a document whose first bytes identify the encoding or its family.
func (r *reading) decodeDetected(doc []byte, c *charset, from string) []byte {
	r.use(c, from)
	if c.family == familyWide {
		text, bad := appendWide(make([]byte, 0, len(doc)+len(doc)/8), doc, c.name)
		r.declares(text)
		if from == "sniffed" && agree(r.http, c) {
			r.from = "http"
		}
		r.reportLost(text, bad)
		return text
	}
	if c.family == familyEBCDIC {
		head, _ := decodeSingle(doc[:min(len(doc), xmlReach)], c)
		r.declares(head)
		switch {
		case r.http != nil && r.http.family == familyEBCDIC:
			r.use(r.http, "http")
		case r.declaredCharset != nil && r.declaredCharset.family == familyEBCDIC:
			r.use(r.declaredCharset, "declaration")
		}
	}
	text, bad := decodeLegacy(doc, r.used)
	r.declares(text)
	r.reportLost(text, bad)
	return text
}

// decodeASCIIBased decodes a document whose ASCII bytes are probably ASCII characters.
func (r *reading) decodeASCIIBased(doc []byte, mark string) []byte {
	r.declares(doc)
	r.found, r.surveyed = survey(doc), true
	// A header that declares us-ascii is wrong if the document has other bytes than ASCII.
	notASCII := r.found.high >= 0 && r.http != nil && r.http.name == "us-ascii" && r.declaredCharset.isASCIIBased()
	// spec:xmltypes-rfc7303#encoding-precedence
	switch {
	case mark != "":
		r.use(byName(mark), "bom")
	case r.http.isASCIIBased() && !notASCII:
		r.use(r.http, "http")
	case r.declaredCharset.isASCIIBased():
		r.use(r.declaredCharset, "declaration")
	default:
		r.use(byName("utf-8"), "default")
	}
	if r.from == "default" && r.found.high < 0 && r.found.control >= 0 && strings.Contains(view(doc), "\x1b$B") {
		r.use(byName("iso-2022-jp"), "sniffed")
		r.guessed = true
		return r.decodeChosen(doc)
	}
	if r.found.high < 0 && isPlainASCII(doc, r.used) {
		return doc
	}
	valid := r.found.high >= 0 && r.found.valid
	if r.used.family == familyUTF8 {
		if valid {
			return doc
		}
		return r.decodeBroken(doc)
	}
	if valid && r.refuted(doc) {
		r.useUTF8()
		return doc
	}
	return r.decodeChosen(doc)
}

// useUTF8 replaces the chosen encoding by UTF-8, because the labels were wrong.
func (r *reading) useUTF8() {
	from := "sniffed"
	if r.declaredCharset != nil && r.declaredCharset.family == familyUTF8 {
		from = "declaration"
	}
	r.use(byName("utf-8"), from)
}

// refuted reports whether a document is UTF-8 although its label names another encoding. The
// document must be valid UTF-8. Text in the labelled encoding is rarely valid UTF-8 by chance, and
// some servers label everything as iso-8859-1.
func (r *reading) refuted(doc []byte) bool {
	_, _, score := countUTF8(doc)
	enough := 1
	switch r.used.family {
	case familySingle:
		enough = 3
	case familyMulti:
		enough = 8
	}
	if score >= enough || looksJSON(view(doc)) {
		return true
	}
	_, bad := decodeLegacy(doc, r.used)
	return bad.count > 0
}

// decodeChosen decodes a document in the chosen encoding. If that fails, it tries the document's own
// declaration and then UTF-8.
func (r *reading) decodeChosen(doc []byte) []byte {
	text, bad := decodeLegacy(doc, r.used)
	if bad.count > 0 && r.from == "http" && r.ownLegacy() && !agree(r.declaredCharset, r.used) {
		if other, wrong := decodeLegacy(doc, r.declaredCharset); wrong.count == 0 {
			r.use(r.declaredCharset, "declaration")
			text, bad = other, wrong
		}
	}
	if bad.count > 0 && bad.count*4 > beyondASCII(text) {
		r.useUTF8()
		return r.decodeBroken(doc)
	}
	r.latin = r.used.superset != "" && needsSuperset(doc, r.used)
	// Bytes below 0x80 in one-byte encodings are ASCII, so decoding adds no control characters below
	// 0x80.
	r.surveyed = r.used.superset != "" && !r.latin && r.found.control < 0 && bad.count == 0
	r.found.valid, r.found.odd = true, -1
	r.reportLost(text, bad)
	return text
}

// ownLegacy reports whether the document declares an encoding other than Unicode. That declaration
// may be right if the HTTP header is wrong.
func (r *reading) ownLegacy() bool {
	return r.declaredCharset.isASCIIBased() && r.declaredCharset.family != familyUTF8
}

// beyondASCII counts the non-ASCII characters of a text.
func beyondASCII(text []byte) int {
	n := 0
	for _, b := range text {
		if b >= 0xC0 {
			n++
		}
	}
	return n
}

// needsSuperset reports whether a document has bytes that c lacks and its superset has.
func needsSuperset(doc []byte, c *charset) bool {
	for i := 0; i < len(doc); i++ {
		if i += ascii(doc[i:]); i < len(doc) && (doc[i] < 0xA0 || c.name == "us-ascii") {
			return true
		}
	}
	return false
}

// decodeBroken decodes a document that is labelled as UTF-8, or resembles UTF-8, but has invalid
// bytes.
func (r *reading) decodeBroken(doc []byte) []byte {
	characters, bad, _ := countUTF8(doc)
	if n := truncatedTail(doc); bad == n && (characters > 0 || n > 1) {
		text := doc[:len(doc)-n]
		r.reportCharacter(text, len(text), "the document ends in the middle of a character")
		return text
	}
	if bad > characters && r.from == "http" && r.ownLegacy() {
		r.use(r.declaredCharset, "declaration")
		return r.decodeChosen(doc)
	}
	r.surveyed = false
	if bad > characters {
		if c := guessed(doc); c != nil {
			r.use(c, "sniffed")
			r.guessed = true
			text, _ := decodeLegacy(doc, c)
			return text
		}
	}
	if characters < (bad+7)/8 {
		from := "sniffed"
		if r.from == "default" {
			from = "default"
		}
		r.use(byName("windows-1252"), from)
		text, _ := decodeSingle(doc, r.used) // windows-1252 has a character for every byte
		return text
	}
	text, repaired, lost := repair(doc, len(doc)+2*bad)
	if repaired.count > 0 {
		r.reportCharacter(doc, repaired.first, plural(repaired.count, "byte was", "bytes were")+" not UTF-8 and read as windows-1252")
	}
	if lost.count > 0 {
		r.reportCharacter(doc, lost.first, plural(lost.count, "character was", "characters were")+" incomplete and became U+FFFD")
	}
	return text
}
