package xmlsafe

import (
	"bytes"
	"fmt"
	"mime"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// KnownCharset reports whether documents in the named encoding can be read.
func KnownCharset(name string) bool { return encodingOf(name) != unknown }

// Charset returns the charset parameter of a Content-Type if this package supports that encoding,
// otherwise "". For an unknown encoding, the declaration in the document is more useful than the
// parameter.
func Charset(contentType string) string {
	_, params, err := mime.ParseMediaType(contentType)
	if err != nil || !KnownCharset(params["charset"]) {
		return ""
	}
	return params["charset"]
}

type encoding int

const (
	unknown encoding = iota
	utf8Enc
	ascii
	latin
	utf16Enc
	utf16BE
	utf16LE
)

func encodingOf(name string) encoding {
	switch strings.ToLower(strings.TrimSpace(name)) {
	case "utf-8", "utf8", "unicode-1-1-utf-8":
		return utf8Enc
	case "us-ascii", "ascii", "iso646-us", "ansi_x3.4-1968", "iso_646.irv:1991":
		return ascii
	case "iso-8859-1", "iso8859-1", "iso_8859-1", "latin1", "latin-1", "l1",
		"windows-1252", "cp1252", "cp-1252":
		return latin
	case "utf-16", "utf16", "iso-10646-ucs-2", "ucs-2":
		return utf16Enc
	case "utf-16be":
		return utf16BE
	case "utf-16le":
		return utf16LE
	}
	return unknown
}

// decode returns the document as valid UTF-8 without a byte order mark.
func decode(raw []byte, charset string) ([]byte, error) {
	enc, body, err := detect(raw, charset)
	if err != nil {
		return nil, err
	}
	switch enc {
	case latin:
		body = fromLatin(body)
	case utf16BE, utf16LE:
		if body, err = fromUTF16(body, enc == utf16BE); err != nil {
			return nil, err
		}
	case ascii:
		for i, c := range body {
			if c >= utf8.RuneSelf {
				return nil, &Error{Line: lineAt(body, i),
					Msg: fmt.Sprintf("byte 0x%02X in a document declared as US-ASCII", c)}
			}
		}
	}
	if i := badChar(body); i >= 0 {
		msg := fmt.Sprintf("byte 0x%02X is not UTF-8", body[i])
		if r, n := utf8.DecodeRune(body[i:]); r != utf8.RuneError || n > 1 {
			msg = fmt.Sprintf("the character U+%04X is not allowed in XML", r)
		}
		return nil, &Error{Line: lineAt(body, i), Msg: msg}
	}
	return body, nil
}

// detect determines the encoding from, in this order, the byte order mark, the pattern of the first
// bytes, the transport, and the declaration (RFC 7303 section 3). It returns the document without
// its byte order mark.
func detect(raw []byte, charset string) (encoding, []byte, error) {
	if enc, n := bom(raw); enc != unknown {
		return enc, raw[n:], nil
	}
	name := charset
	if name == "" {
		name = declared(raw)
		if encodingOf(name) == utf16Enc {
			// The declaration is wrong, because a document in UTF-16 is not readable as ASCII.
			// Programs write this declaration if they serialise to a UTF-16 string and send the
			// string as UTF-8.
			name = ""
		}
	}
	if name == "" {
		return utf8Enc, raw, nil
	}
	enc := encodingOf(name)
	switch enc {
	case unknown:
		return 0, nil, &Error{Line: 1, Kind: ErrEncoding,
			Msg: fmt.Sprintf("the encoding %.40q is not supported; send UTF-8", name)}
	case utf16Enc:
		enc = utf16BE // the default without a byte order mark, see RFC 2781 section 4.3
	}
	return enc, raw, nil
}

// bom detects a byte order mark, or "<" in UTF-16.
func bom(raw []byte) (enc encoding, skip int) {
	switch {
	case bytes.HasPrefix(raw, []byte("\xEF\xBB\xBF")):
		return utf8Enc, 3
	case bytes.HasPrefix(raw, []byte("\xFE\xFF")):
		return utf16BE, 2
	case bytes.HasPrefix(raw, []byte("\xFF\xFE")):
		return utf16LE, 2
	case bytes.HasPrefix(raw, []byte("\x00<")):
		return utf16BE, 0
	case bytes.HasPrefix(raw, []byte("<\x00")):
		return utf16LE, 0
	}
	return unknown, 0
}

// declared returns the encoding in the XML declaration. The parser checks the grammar later.
func declared(raw []byte) string {
	if !bytes.HasPrefix(raw, []byte("<?xml")) || len(raw) < 6 || !isSpace(raw[5]) {
		return ""
	}
	head := raw[:min(len(raw), 512)]
	end := bytes.Index(head, []byte("?>"))
	if end < 0 {
		return ""
	}
	_, rest, ok := bytes.Cut(head[5:end], []byte("encoding"))
	rest = bytes.TrimLeft(rest, " \t\r\n")
	if !ok || len(rest) == 0 || rest[0] != '=' {
		return ""
	}
	rest = bytes.TrimLeft(rest[1:], " \t\r\n")
	if len(rest) == 0 || rest[0] != '"' && rest[0] != '\'' {
		return ""
	}
	name, _, ok := bytes.Cut(rest[1:], rest[:1])
	if !ok {
		return ""
	}
	return string(name)
}

// windows1252 holds the characters of the bytes 0x80 to 0x9F. Five bytes have no character and
// become control characters.
const windows1252 = "€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008DŽ\u008F\u0090‘’“”•–—˜™š›œ\u009DžŸ"

func fromLatin(b []byte) []byte {
	high := []rune(windows1252)
	out := make([]byte, 0, len(b)+len(b)/8)
	for _, c := range b {
		r := rune(c)
		if c >= 0x80 && c <= 0x9F {
			r = high[c-0x80]
		}
		out = utf8.AppendRune(out, r)
	}
	return out
}

func fromUTF16(b []byte, bigEndian bool) ([]byte, error) {
	out := make([]byte, 0, len(b))
	unit := func(i int) rune {
		if bigEndian {
			return rune(b[i])<<8 | rune(b[i+1])
		}
		return rune(b[i+1])<<8 | rune(b[i])
	}
	bad := func() ([]byte, error) {
		return nil, &Error{Line: lineAt(out, len(out)), Msg: "broken UTF-16"}
	}
	for i := 0; i < len(b); i += 2 {
		if i+1 >= len(b) {
			return bad()
		}
		r := unit(i)
		if utf16.IsSurrogate(r) {
			if i+3 >= len(b) {
				return bad()
			}
			if r = utf16.DecodeRune(r, unit(i+2)); r == utf8.RuneError {
				return bad()
			}
			i += 2
		}
		out = utf8.AppendRune(out, r)
	}
	return out, nil
}

func lineAt(b []byte, pos int) int { return 1 + bytes.Count(b[:pos], []byte("\n")) }
