package sanitize

import (
	"strings"
	"unicode"
)

// longestPicture is the longest data: address that is shown.
const maxImage = 64 << 10

// scheme gives u as a browser takes it, without what it does not look at, and its
// scheme in lower case. ok is false when there is a colon that a reader could take
// for the end of a scheme, and nothing before it that is one.
func scheme(u string) (clean, name string, ok bool) {
	visible := isVisible(u)
	if visible && isWebURL(u) {
		return u, "https", true // or http, which is as good
	}
	clean = u
	if !visible {
		clean = strings.TrimSpace(strings.Map(withoutControls, u))
	}
	i := strings.IndexAny(clean, ":/?#")
	if i < 0 || clean[i] != ':' {
		return clean, "", true
	}
	name = strings.ToLower(clean[:i])
	for j := 0; j < len(name); j++ {
		c := name[j]
		if !('a' <= c && c <= 'z' || j > 0 && ('0' <= c && c <= '9' || c == '+' || c == '-' || c == '.')) {
			return "", "", false
		}
	}
	return clean, name, name != ""
}

// isOfWeb says whether u begins as addresses of the web do.
func isWebURL(u string) bool {
	return strings.HasPrefix(u, "https://") || strings.HasPrefix(u, "http://")
}

// isVisible says whether s is of ASCII characters that leave ink.
func isVisible(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c <= ' ' || c >= 0x7f {
			return false
		}
	}
	return true
}

// withoutControls drops the characters that browsers skip in addresses.
func withoutControls(r rune) rune {
	if unicode.Is(unicode.Cc, r) {
		return -1
	}
	return r
}

// safeLink gives an address that people may follow.
func safeLink(u string) (string, bool) {
	u, name, ok := scheme(u)
	if !ok {
		return "", false
	}
	switch name {
	case "feed": // of an address, or in front of a whole one
		_, ok := safeLink(u[len("feed:"):])
		return u, ok
	case "", "http", "https", "mailto", "ftp", "ftps", "sftp", "news", "nntp", "snews", "irc",
		"ircs", "irc6", "xmpp", "tel", "sms", "sip", "sips", "magnet", "rtsp", "rtspu", "mms", "git",
		"svn", "svn+ssh", "cvs", "rsync", "ssh", "telnet", "gopher", "gemini", "wais", "hdl", "h323",
		"imap", "prospero", "shttp", "webcal", "geo", "matrix", "aim", "callto", "facetime", "gtalk",
		"itms", "msnim", "skype", "ymsg":
		return u, true
	}
	return "", false
}

// safeShown gives an address that is fetched as soon as the text is shown. A
// picture can be in its address.
func safeSource(u string, allowData bool) (string, bool) {
	u, name, ok := scheme(u)
	if !ok {
		return "", false
	}
	switch name {
	case "", "http", "https":
		return u, true
	case "data":
		return u, allowData && isRasterImage(u)
	}
	return "", false
}

// isPicture says whether a data: address is a small picture of dots. SVG is none:
// it can hold anything.
func isRasterImage(u string) bool {
	if len(u) > maxImage {
		return false
	}
	head, body, ok := strings.Cut(u[len("data:"):], ",")
	if !ok {
		return false
	}
	switch strings.ToLower(head) {
	case "image/png;base64", "image/gif;base64", "image/jpeg;base64", "image/jpg;base64", "image/webp;base64", "image/avif;base64":
	default:
		return false
	}
	for i := 0; i < len(body); i++ {
		c := body[i]
		if !('a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || strings.IndexByte("+/=%-_", c) >= 0) {
			return false
		}
	}
	return true
}

// safeSet gives a srcset of which every address is safe to show.
func safeSet(set string) (string, bool) {
	var out []string
	for _, one := range splitSet(set) {
		u, ok := safeSource(one[0], false)
		if !ok || u == "" || strings.ContainsAny(u, " \t\n\f\r") || strings.HasPrefix(u, ",") || strings.HasSuffix(u, ",") {
			return "", false
		}
		if one[1] != "" {
			u += " " + one[1]
		}
		out = append(out, u)
	}
	return strings.Join(out, ", "), len(out) > 0
}

// splitSet parts a srcset into addresses and what they are for, such as "2x". An
// address goes on to white space; the commas at its end are not of it.
func splitSet(set string) (all [][2]string) {
	const space = " \t\n\f\r"
	for {
		set = strings.TrimLeft(set, space+",")
		if set == "" {
			return all
		}
		u, what := set, ""
		if i := strings.IndexAny(set, space); i >= 0 {
			u, set = set[:i], set[i:]
		} else {
			set = ""
		}
		if cut := strings.TrimRight(u, ","); cut != u {
			all = append(all, [2]string{cut, ""})
			continue
		}
		what, set, _ = strings.Cut(set, ",")
		if what = strings.TrimSpace(what); isDescriptor(what) { // browsers pass over others too
			all = append(all, [2]string{u, what})
		}
	}
}

// isDescriptor says whether what is a width, a height or a density, or some.
func isDescriptor(what string) bool {
	for i := 0; i < len(what); i++ {
		c := what[i]
		if !('0' <= c && c <= '9' || strings.IndexByte(". wxh", c) >= 0) {
			return false
		}
	}
	return true
}
