package xmlsafe

import "bytes"

// Root returns the name of the root element, without its prefix, from the first bytes of a
// document. It does not validate anything and serves to choose a parser. ok is false if the bytes
// end before the end of the name, or cannot be XML.
func Root(prefix []byte) (local string, ok bool) {
	b := prefix
	if enc, n := bom(b); enc == utf16BE || enc == utf16LE {
		b = b[n:]
		var err error
		if b, err = fromUTF16(b[:len(b)&^1], enc == utf16BE); err != nil {
			return "", false
		}
	} else if enc == utf8Enc {
		b = b[n:]
	}
	for {
		b = bytes.TrimLeft(b, " \t\r\n")
		end := ""
		switch {
		case bytes.HasPrefix(b, []byte("<?")):
			end = "?>"
		case bytes.HasPrefix(b, []byte("<!--")):
			end = "-->"
			b = b[4:]
		case bytes.HasPrefix(b, []byte("<")):
			return rootName(b[1:])
		default:
			return "", false
		}
		i := bytes.Index(b, []byte(end))
		if i < 0 {
			return "", false
		}
		b = b[i+len(end):]
	}
}

func rootName(b []byte) (string, bool) {
	end := bytes.IndexAny(b, " \t\r\n/>")
	if end < 0 {
		return "", false
	}
	name := b[:end]
	if i := bytes.IndexByte(name, ':'); i >= 0 {
		name = name[i+1:]
	}
	return string(name), IsName(string(name))
}
