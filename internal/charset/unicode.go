package charset

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"unicode/utf16"
	"unicode/utf8"
)

// byteOrderMark returns the encoding that a byte order mark identifies, and the length of the mark
// in bytes. "": there is no mark.
func byteOrderMark(doc []byte) (name string, size int) {
	marks := [...]struct{ bytes, name string }{
		{"\xEF\xBB\xBF", "utf-8"},
		{"\xFF\xFE\x00\x00", "utf-32le"}, // must precede utf-16le, whose mark is a prefix of this one
		{"\x00\x00\xFE\xFF", "utf-32be"},
		{"\xFF\xFE", "utf-16le"},
		{"\xFE\xFF", "utf-16be"},
		{"\x84\x31\x95\x33", "gb18030"},
		{"\xDD\x73\x66\x73", "ibm037"},
	}
	for _, m := range marks {
		if len(doc) < len(m.bytes) || string(doc[:len(m.bytes)]) != m.bytes {
			continue
		}
		rest := doc[len(m.bytes):]
		// A program may have added the mark of UTF-16 or UTF-32 to a document in another encoding.
		if m.name[:4] == "utf-" && m.name != "utf-8" && len(rest) >= 2 && rest[0] == '<' && rest[1] > ' ' && rest[1] < 0x7F {
			return "", len(m.bytes)
		}
		return m.name, len(m.bytes)
	}
	return "", 0
}

// zeroPattern detects UTF-16 and UTF-32 by the positions of zero bytes in the first four bytes. This
// works because feeds in all formats begin with ASCII characters.
func zeroPattern(doc []byte) string {
	if len(doc) < 4 {
		return ""
	}
	b := [4]bool{doc[0] != 0, doc[1] != 0, doc[2] != 0, doc[3] != 0}
	for i := range 4 {
		if doc[i] >= 0x7F {
			return ""
		}
	}
	switch b {
	case [4]bool{false, false, false, true}:
		return "utf-32be"
	case [4]bool{true, false, false, false}:
		return "utf-32le"
	case [4]bool{false, true, false, true}:
		return "utf-16be"
	case [4]bool{true, false, true, false}:
		return "utf-16le"
	}
	return ""
}

// appendWide decodes UTF-16 or UTF-32. bad counts invalid characters; its position is an offset in
// the result.
func appendWide(out, doc []byte, name string) (text []byte, bad finding) {
	var order binary.ByteOrder = binary.BigEndian
	if name[len(name)-2:] == "le" {
		order = binary.LittleEndian
	}
	size := 2
	if name[:6] == "utf-32" {
		size = 4
	}
	for ; len(doc) >= size; doc = doc[size:] {
		var r rune
		if size == 4 {
			r = rune(min(order.Uint32(doc), utf8.MaxRune+1))
		} else {
			r = rune(order.Uint16(doc))
		}
		if r < utf8.RuneSelf {
			out = append(out, byte(r))
			continue
		}
		if size == 2 && utf16.IsSurrogate(r) && len(doc) >= 4 {
			if pair := utf16.DecodeRune(r, rune(order.Uint16(doc[2:]))); pair != utf8.RuneError {
				r = pair
				doc = doc[2:]
			}
		}
		if !utf8.ValidRune(r) {
			bad.at(len(out))
			r = utf8.RuneError
		}
		out = utf8.AppendRune(out, r)
	}
	if len(doc) > 0 {
		bad.at(len(out))
		out = utf8.AppendRune(out, utf8.RuneError)
	}
	return out, bad
}

// countUTF8 counts the multi-byte UTF-8 characters of a document and the invalid bytes. score
// estimates how unlikely it is that these characters occur by chance; higher is less likely.
func countUTF8(doc []byte) (characters, bad, score int) {
	for i := 0; i < len(doc); {
		if doc[i] < utf8.RuneSelf {
			i += ascii(doc[i:])
			continue
		}
		r, n := utf8.DecodeRune(doc[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			bad++
		case n == 2:
			characters++
			score++
		default:
			characters++
			score += 3
		}
		i += n
	}
	return characters, bad, score
}

// repair converts an almost valid document to valid UTF-8. It reads invalid bytes as windows-1252,
// because programs often combine texts with different encodings. repaired counts the converted
// characters; lost counts the characters that became U+FFFD. Both positions are offsets in doc.
func repair(doc []byte, size int) (out []byte, repaired, lost finding) {
	out = make([]byte, 0, size)
	good := 0 // doc[:good] is already in out
	for i := 0; i < len(doc); {
		if doc[i] < utf8.RuneSelf {
			i += ascii(doc[i:])
			continue
		}
		r, n := utf8.DecodeRune(doc[i:])
		if r != utf8.RuneError || n > 1 {
			i += n
			continue
		}
		out = append(out, doc[good:i]...)
		r, n = guess(doc[i:])
		if r == utf8.RuneError {
			lost.at(i)
		} else {
			repaired.at(i)
		}
		if r != 0 {
			out = utf8.AppendRune(out, r)
		}
		i += n
		good = i
	}
	return append(out, doc[good:]...), repaired, lost
}

// guess returns the likely character for the invalid bytes at the beginning of b, and their number.
// Character 0 means a zero byte, which some programs encode as C0 80.
func guess(b []byte) (r rune, n int) {
	if r, n := surrogate(b); n > 0 {
		return r, n
	}
	if len(b) >= 2 && b[0] == 0xC0 && b[1] == 0x80 {
		return 0, 2
	}
	if n := truncatedLength(b); n > 0 {
		return utf8.RuneError, n
	}
	if b[0] >= 0xA0 {
		return rune(b[0]), 1
	}
	return windows1252Rune(b[0]), 1
}

// surrogate decodes a pair of surrogates that are encoded as three bytes each (CESU-8, as in Java
// and old databases). It cannot decode a single surrogate.
func surrogate(b []byte) (r rune, n int) {
	half := func(b []byte) rune {
		if len(b) < 3 || b[0] != 0xED || b[1] < 0xA0 || b[1] > 0xBF || b[2] < 0x80 || b[2] > 0xBF {
			return 0
		}
		return 0xD000 | rune(b[1]&0x3F)<<6 | rune(b[2]&0x3F)
	}
	first := half(b)
	if first == 0 {
		return 0, 0
	}
	if r := utf16.DecodeRune(first, half(b[3:])); r != utf8.RuneError {
		return r, 6
	}
	return utf8.RuneError, 3
}

// truncatedLength returns the length in bytes of an incomplete UTF-8 character at the beginning of
// b. Programs that cut texts at a byte offset produce such characters. truncatedLength returns 0 if
// the bytes are more likely windows-1252.
func truncatedLength(b []byte) int {
	n := prefix(b)
	switch {
	case n == 0:
		return 0
	case n == 1:
		if b[0] != 0xC2 && b[0] != 0xC3 { // Â and Ã, which are rare as the last letter of a text
			return 0
		}
		if len(b) > 1 && bytes.IndexByte([]byte("<]&.\"'"), b[1]) < 0 {
			return 0
		}
	case n == 2 && (b[1] == 0xA0 || b[1] == 0xAB || b[1] == 0xBB):
		return 0 // à or é before a non-breaking space, « or »
	}
	return n
}

// prefix returns how many bytes at the beginning of b form an incomplete character.
func prefix(b []byte) int {
	n := 1
	for n < len(b) && n < 4 && b[n]&0xC0 == 0x80 {
		n++
	}
	for ; n > 0; n-- {
		if !utf8.FullRune(b[:n]) {
			return n
		}
	}
	return 0
}

// truncatedTail returns the length in bytes of an incomplete character at the end of a document.
func truncatedTail(doc []byte) int {
	for n := 1; n <= 3 && n <= len(doc); n++ {
		if tail := doc[len(doc)-n:]; utf8.RuneStart(tail[0]) {
			if prefix(tail) == n {
				return n
			}
			break
		}
	}
	return 0
}

// appendUTF7 decodes UTF-7. UTF-7 is ASCII with runs of base64-encoded UTF-16 between "+" and "-".
func appendUTF7(out, doc []byte) (text []byte, bad finding) {
	for len(doc) > 0 {
		i := bytes.IndexByte(doc, '+')
		if i < 0 {
			return appendASCII(out, doc, &bad), bad
		}
		out = appendASCII(out, doc[:i], &bad)
		doc = doc[i+1:]
		n := 0
		for n < len(doc) && isBase64(doc[n]) {
			n++
		}
		run := doc[:n]
		doc = doc[n:]
		ended := len(doc) > 0 && doc[0] == '-'
		if ended {
			doc = doc[1:]
		}
		if n == 0 && ended {
			out = append(out, '+')
			continue
		}
		units := make([]byte, base64.RawStdEncoding.DecodedLen(n))
		size, err := base64.RawStdEncoding.Decode(units, run)
		var wrong finding
		base := len(out)
		out, wrong = appendWide(out, units[:size&^1], "utf-16be")
		if wrong.count > 0 {
			bad.at(wrong.first)
		} else if err != nil || n == 0 {
			bad.at(base)
			out = utf8.AppendRune(out, utf8.RuneError)
		}
	}
	return out, bad
}

// appendASCII appends b and replaces non-ASCII bytes by U+FFFD.
func appendASCII(out, b []byte, bad *finding) []byte {
	for _, c := range b {
		if c < utf8.RuneSelf {
			out = append(out, c)
			continue
		}
		bad.at(len(out))
		out = utf8.AppendRune(out, utf8.RuneError)
	}
	return out
}

func isBase64(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c == '+' || c == '/'
}
