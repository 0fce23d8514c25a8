// Package href makes relative references absolute, in addresses and in HTML. Start with
// [New] and [HTML].
package href

import "strings"

// Reading resolves many references on few bases, and most references are absolute
// already: so a base is taken apart once, and a reference that needs nothing is
// given back as it is.

// longestBase is the longest base that references are resolved on. It is beyond
// what any server serves, and short enough that a document of nothing but
// references cannot become many times its size.
const maxBase = 2048

// Base is an address that relative references stand on. Nil is no base.
type Base struct {
	url      string // as it was given, without white space around it
	scheme   string // lower case, without the colon; "" when the base is relative itself
	root     string // up to where the path begins: "http://host"
	dir      string // the path up to its last slash, without dot segments: "/a/b/"
	pathEnd  int    // in url: path, no query
	queryEnd int    // in url: path and query, no fragment
}

// New takes u apart. Nothing can stand on an empty u, one that is too long, or
// one like mailto: that has no parts: for these it is nil.
func New(u string) *Base {
	u = normalizeSlashes(trimReference(u))
	if u == "" || len(u) > maxBase || badHost(u) {
		return nil
	}
	b := &Base{url: u, queryEnd: len(u)}
	if i := strings.IndexByte(u, '#'); i >= 0 {
		b.queryEnd = i
	}
	b.pathEnd = b.queryEnd
	if i := strings.IndexByte(u[:b.pathEnd], '?'); i >= 0 {
		b.pathEnd = i
	}
	n := schemeLength(u)
	if n > 0 {
		b.scheme = strings.ToLower(u[:n])
		n++
	}
	rest := u[n:b.pathEnd]
	start := n
	if strings.HasPrefix(rest, "//") {
		start = b.pathEnd
		if i := strings.IndexByte(rest[2:], '/'); i >= 0 {
			start = n + 2 + i
		}
	}
	if b.scheme != "" && (start == n || start == n+len("//") && b.scheme != "file") {
		return nil // no host
	}
	b.root = u[:start]
	if path := u[start:b.pathEnd]; path != "" {
		b.dir = joinPath("", path[:strings.LastIndexByte(path, '/')+1])
	} else if start > 0 {
		b.dir = "/"
	}
	return b
}

// Absolute says whether what is resolved on b is a whole address.
func (b *Base) Absolute() bool { return b != nil && b.scheme != "" }

// String is the address of the base, "" for none.
func (b *Base) String() string {
	if b == nil {
		return ""
	}
	return b.url
}

// Resolve gives the address that ref means on b, as RFC 3986 section 5.2 has it
// and browsers do (spec:rfc3986-2005#resolve): white space around ref does not count, "http:x" is relative to
// a base of the same scheme, "http:///x" is a host with slashes too many. A
// reference that is no address, or stands on no base, comes back as it is.
func (b *Base) Resolve(ref string) string {
	if isPlainURL(ref) {
		return ref
	}
	ref = trimReference(ref)
	if b == nil {
		return normalizeSlashes(ref)
	}
	if ref == "" {
		return b.url
	}
	if n := schemeLength(ref); n > 0 {
		rest := ref[n+1:]
		if rest == "" || strings.HasPrefix(rest, "//") || !strings.EqualFold(ref[:n], b.scheme) {
			return normalizeSlashes(ref)
		}
		ref = rest
	}
	return b.join(ref)
}

// fewerSlashes is u with two slashes before its host where it has more. Files have
// no host: they have three slashes, or one.
func normalizeSlashes(u string) string {
	n := schemeLength(u)
	if n > 0 && strings.EqualFold(u[:n], "file") && strings.HasPrefix(u[n+1:], "/") && !strings.HasPrefix(u[n+1:], "//") {
		return u[:n] + "://" + u[n+1:]
	}
	if n == 0 || !strings.HasPrefix(u[n+1:], "///") || strings.EqualFold(u[:n], "file") {
		return u
	}
	host := strings.TrimLeft(u[n+1:], "/")
	if host == "" {
		return u
	}
	return u[:n] + "://" + host
}

// join is resolve for a reference without a scheme.
func (b *Base) join(ref string) string {
	switch ref[0] {
	case '#':
		return b.url[:b.queryEnd] + ref
	case '?':
		if b.pathEnd == len(b.root) {
			return b.root + b.dir + ref
		}
		return b.url[:b.pathEnd] + ref
	}
	if strings.HasPrefix(ref, "//") && !strings.HasPrefix(ref, "///") {
		if badHost(ref) || b.scheme == "" || len(ref) == 2 {
			return ref
		}
		return b.url[:len(b.scheme)+1] + ref
	}
	if ref[0] == '/' {
		if strings.HasPrefix(ref, "///") {
			ref = ref[2:]
		}
		if !hasDots(ref) {
			return b.root + ref
		}
		return b.root + joinPath("", ref)
	}
	if !hasDots(ref) {
		return b.root + b.dir + ref
	}
	return b.root + joinPath(b.dir, ref)
}

// Child is the base that an xml:base of ref makes inside of b: b itself when ref
// says nothing that can be stood on.
func (b *Base) Child(ref string) *Base {
	ref = trimReference(ref)
	if ref == "" {
		return b
	}
	if b == nil {
		return New(ref)
	}
	u := b.Resolve(ref)
	if u == b.url {
		return b
	}
	if c := New(u); c != nil && (c.Absolute() || !b.Absolute()) {
		return c
	}
	return b
}

// isPlainWeb says whether ref is a whole http or https address that nothing needs
// to be done to. It is what almost all references are.
func isPlainURL(ref string) bool {
	n := 0
	switch {
	case strings.HasPrefix(ref, "https://"):
		n = len("https://")
	case strings.HasPrefix(ref, "http://"):
		n = len("http://")
	default:
		return false
	}
	return len(ref) > n && ref[n] > ' ' && ref[n] != '/' && isVisible(ref[len(ref)-1])
}

// isInk says whether c, the last byte of a text, is surely no white space.
func isVisible(c byte) bool { return c > ' ' && c < 0x7f }

// trimReference takes the white space from around ref, and the line ends and tabs
// from within it, as browsers do.
func trimReference(ref string) string {
	ref = strings.TrimSpace(ref)
	for ref != "" && ref[0] <= ' ' {
		ref = ref[1:]
	}
	for ref != "" && ref[len(ref)-1] <= ' ' {
		ref = ref[:len(ref)-1]
	}
	if strings.IndexByte(ref, '\n') < 0 && strings.IndexByte(ref, '\t') < 0 && strings.IndexByte(ref, '\r') < 0 {
		return ref
	}
	return trimReference(strings.NewReplacer("\n", "", "\t", "", "\r", "").Replace(ref))
}

// schemeLength is the length of the scheme of u without its colon, 0 for none.
func schemeLength(u string) int {
	for i := 0; i < len(u); i++ {
		c := u[i]
		switch {
		case 'a' <= c|0x20 && c|0x20 <= 'z':
		case i > 0 && ('0' <= c && c <= '9' || c == '+' || c == '-' || c == '.'):
		case c == ':':
			return i
		default:
			return 0
		}
	}
	return 0
}

// badHost says whether u has a host that no address can have: brackets that do
// not pair.
func badHost(u string) bool {
	i := strings.Index(u, "//")
	if i < 0 {
		return false
	}
	host := u[i+2:]
	if j := strings.IndexAny(host, "/?#"); j >= 0 {
		host = host[:j]
	}
	return strings.IndexByte(host, '[') >= 0 != (strings.IndexByte(host, ']') >= 0)
}

// hasDots says whether the path of ref has a segment of one or two dots.
func hasDots(ref string) bool {
	return ref[0] == '.' || strings.Contains(ref, "/.")
}

// joinPath is dir, which ends at a slash or is empty, and the path of ref one
// after the other, without the segments "." and "..": these are followed. What is
// after the path of ref stays as it is.
func joinPath(dir, ref string) string {
	end := len(ref)
	if i := strings.IndexAny(ref, "?#"); i >= 0 {
		end = i
	}
	out := make([]byte, len(dir), len(dir)+len(ref)+1)
	copy(out, dir)
	at := 0
	if end > 0 && ref[0] == '/' {
		out, at = append(out, '/'), 1
	}
	for at < end {
		next := end
		slash := false
		if i := strings.IndexByte(ref[at:end], '/'); i >= 0 {
			next, slash = at+i, true
		}
		switch seg := ref[at:next]; seg {
		case ".":
		case "..":
			out = parentPath(out)
		default:
			out = append(out, seg...)
			if slash {
				out = append(out, '/')
			}
		}
		at = next + 1
	}
	return string(append(out, ref[end:]...))
}

// parentPath is the directory above path, which ends at a slash: the root is above
// itself.
func parentPath(path []byte) []byte {
	n := len(path) - 1
	for n > 0 && path[n-1] != '/' {
		n--
	}
	if n <= 0 {
		if len(path) > 0 && path[0] == '/' {
			return path[:1]
		}
		return path[:0]
	}
	return path[:n]
}
