package charset

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/transform"
)

// decodeLegacy decodes a document that is neither UTF-8 nor UTF-16 nor UTF-32. bad counts the
// invalid bytes, which become U+FFFD; its position is an offset in text.
func decodeLegacy(doc []byte, c *charset) (text []byte, bad finding) {
	switch {
	case c.name == "utf-7":
		return appendUTF7(make([]byte, 0, len(doc)+len(doc)/8), doc)
	case c.name == "iso-2022-kr":
		return decodeMulti(toEUCKR(doc), c)
	case c.enc != nil:
		return decodeMulti(doc, c)
	default:
		return decodeSingle(doc, c)
	}
}

// decodeSingle decodes an encoding with one byte per character.
func decodeSingle(doc []byte, c *charset) (text []byte, bad finding) {
	var chars [256]rune
	switch {
	case c.table != nil:
		controls := strings.HasPrefix(c.name, "iso-") || strings.HasPrefix(c.name, "windows-") || c.name == "us-ascii" || c.name == "tis-620"
		for i := range chars {
			chars[i] = c.table.DecodeByte(byte(i))
			if controls && chars[i] == utf8.RuneError && i < 0xA0 {
				chars[i] = rune(i) // clean later converts this control character to windows-1252
			}
		}
	case c.family == familyEBCDIC:
		copy(chars[:], []rune(c.chars))
	default:
		for i := range utf8.RuneSelf {
			chars[i] = rune(i)
		}
		copy(chars[utf8.RuneSelf:], []rune(c.chars))
	}
	if c.family == familyEBCDIC {
		chars[0x15] = '\n' // NEL ends lines in EBCDIC
	}
	out := make([]byte, 0, utf8Size(doc))
	for i := 0; i < len(doc); i++ {
		if c.family != familyEBCDIC {
			n := ascii(doc[i:])
			out = append(out, doc[i:i+n]...)
			if i += n; i == len(doc) {
				break
			}
		}
		r := chars[doc[i]]
		if r < utf8.RuneSelf {
			out = append(out, byte(r))
			continue
		}
		if r == utf8.RuneError {
			bad.at(len(out))
		}
		out = utf8.AppendRune(out, r)
	}
	return out, bad
}

// utf8Size estimates the length of a document in UTF-8.
func utf8Size(doc []byte) int {
	high := 0
	for _, c := range doc {
		high += int(c >> 7)
	}
	return len(doc) + high + 64
}

// decodeMulti decodes with golang.org/x/text, which replaces invalid bytes by U+FFFD.
func decodeMulti(doc []byte, c *charset) (text []byte, bad finding) {
	out := make([]byte, 0, utf8Size(doc))
	if c.family == familyMulti {
		out = appendRuns(out, doc, c.enc.NewDecoder())
	} else {
		out = appendDecoded(out, doc, c.enc.NewDecoder())
	}
	for i := 0; ; {
		n := bytes.Index(out[i:], []byte("\uFFFD"))
		if n < 0 {
			break
		}
		bad.at(i + n)
		i += n + len("\uFFFD")
	}
	return out, bad
}

// appendRuns passes only runs of non-ASCII bytes to the decoder, because most of a feed is ASCII
// markup.
func appendRuns(out, doc []byte, decoder transform.Transformer) []byte {
	for len(doc) > 0 {
		n := ascii(doc)
		out = append(out, doc[:n]...)
		doc = doc[n:]
		// In some of these encodings, digits and bytes from 0x40 on can be the second byte of a
		// character. Other bytes below 0x80 cannot.
		for n = 0; n < len(doc) && (doc[n] >= 0x40 || doc[n] >= '0' && doc[n] <= '9'); n++ {
		}
		out = appendDecoded(out, doc[:n], decoder)
		doc = doc[n:]
	}
	return out
}

func appendDecoded(out, doc []byte, decoder transform.Transformer) []byte {
	decoder.Reset()
	for {
		out = slices.Grow(out, 2*len(doc)+utf8.UTFMax)
		written, read, err := decoder.Transform(out[len(out):cap(out)], doc, true)
		out, doc = out[:len(out)+written], doc[read:]
		if err == nil {
			return out
		}
		if err != transform.ErrShortDst { // the decoders in use return no other error, but the interface allows it
			return utf8.AppendRune(out, utf8.RuneError)
		}
	}
}

// toEUCKR converts ISO-2022-KR to EUC-KR. It sets the highest bit of the bytes between SO and SI,
// and drops the escape sequence.
func toEUCKR(doc []byte) []byte {
	out := make([]byte, 0, len(doc))
	var bit byte
	for i := 0; i < len(doc); i++ {
		switch c := doc[i]; {
		case c == 0x0E:
			bit = 0x80
		case c == 0x0F:
			bit = 0
		case c == 0x1B && bytes.HasPrefix(doc[i:], []byte("\x1B$)C")):
			i += 3
		case c == '\n':
			bit = 0 // each line begins in ASCII mode
			out = append(out, c)
		case c > ' ':
			out = append(out, c|bit)
		default:
			out = append(out, c)
		}
	}
	return out
}

// isPlainASCII reports whether a document of ASCII bytes means the same text in the encoding c.
func isPlainASCII(doc []byte, c *charset) bool {
	if c.family != familySeven {
		return c.asciiTransparent()
	}
	escapes := "\x1B\x0E"
	switch c.name {
	case "utf-7":
		escapes = "+"
	case "hz-gb-2312":
		escapes = "~"
	}
	return !bytes.ContainsAny(doc, escapes)
}
