package sanitize

import (
	"strings"
	"unicode"
)

// maxImage is the maximum length, in bytes, of a data: URL of an image.
const maxImage = 64 << 10

// scheme returns u without the characters that browsers ignore, and the scheme of u in lowercase.
// name is "" for a relative URL. ok is false if u has a colon that a browser could read as the end
// of a scheme, but the text before the colon is not a valid scheme.
func scheme(u string) (clean, name string, ok bool) {
	visible := isVisible(u)
	if visible && isWebURL(u) {
		return u, "https", true // the scheme can also be http, which the callers treat like https
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

// isWebURL reports whether u begins with http:// or https:// in lowercase.
func isWebURL(u string) bool {
	return strings.HasPrefix(u, "https://") || strings.HasPrefix(u, "http://")
}

// isVisible reports whether s consists of visible ASCII characters.
func isVisible(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c <= ' ' || c >= 0x7f {
			return false
		}
	}
	return true
}

// withoutControls drops the characters that browsers ignore in URLs.
func withoutControls(r rune) rune {
	if unicode.Is(unicode.Cc, r) {
		return -1
	}
	return r
}

// safeLink returns u as a link target, without the characters that browsers ignore. It returns
// false if the scheme of u is not allowed.
func safeLink(u string) (string, bool) {
	u, name, ok := scheme(u)
	if !ok {
		return "", false
	}
	switch name {
	case "feed": // the link is feed:URL or feed:http://URL
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

// safeSource returns u as the URL of a resource that browsers load without a click. allowData
// allows small images as data: URLs.
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

// isRasterImage reports whether the data: URL u contains a raster image and has at most maxImage
// bytes. SVG is excluded because it can contain scripts.
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

// safeSet returns the srcset with normalized separators. It returns false if the srcset has no URLs
// or an unsafe URL.
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

// splitSet splits a srcset into pairs of a URL and a descriptor, such as "2x". A URL ends at white
// space; trailing commas do not belong to the URL.
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
		if what = strings.TrimSpace(what); isDescriptor(what) { // drop a URL with another descriptor, as browsers do
			all = append(all, [2]string{u, what})
		}
	}
}

// isDescriptor reports whether what has the characters of width, height and density descriptors.
func isDescriptor(what string) bool {
	for i := 0; i < len(what); i++ {
		c := what[i]
		if !('0' <= c && c <= '9' || strings.IndexByte(". wxh", c) >= 0) {
			return false
		}
	}
	return true
}
