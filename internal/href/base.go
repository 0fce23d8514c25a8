// Package href makes relative references absolute, both single URLs and URLs in HTML. Start with
// [New] and [HTML].
package href

import "strings"

// A feed reader resolves many references against few bases, and most references are already
// absolute. So a base is parsed once, and an absolute reference is returned without a copy.

// maxBase is the maximum length of a base in bytes. Servers accept only shorter URLs. The limit
// prevents a document full of references from growing to many times its size.
const maxBase = 2048

// Base is the URL against which references are resolved. Nil means no base.
type Base struct {
	url      string // URL as given, without surrounding white space
	scheme   string // lowercase, without the colon; "" if the base is relative
	root     string // part of url before the path: "http://host"
	dir      string // path up to its last slash, without dot segments: "/a/b/"
	pathEnd  int    // index in url of the end of the path
	queryEnd int    // index in url of the end of path and query
}

// New parses u. It returns nil if u is empty, too long, or has no hierarchy, as with mailto:.
func New(u string) *Base {
	var b Base
	if !b.Set(u) {
		return nil
	}
	return new(b)
}

// Set parses u into b and reports whether u can be a base; see [New]. With Set, one Base
// serves many URLs in turn.
func (b *Base) Set(u string) bool {
	u = normalizeSlashes(trimReference(u))
	if u == "" || len(u) > maxBase || badHost(u) {
		return false
	}
	*b = Base{url: u, queryEnd: len(u)}
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
		return false // u has no host
	}
	b.root = u[:start]
	if path := u[start:b.pathEnd]; path != "" {
		if b.dir = path[:strings.LastIndexByte(path, '/')+1]; strings.Contains(b.dir, "/.") { // perhaps a dot segment
			b.dir = string(joinPath(nil, "", b.dir))
		}
	} else if start > 0 {
		b.dir = "/"
	}
	return true
}

// Absolute reports whether references resolve to absolute URLs.
func (b *Base) Absolute() bool { return b != nil && b.scheme != "" }

// String returns the URL of the base, "" for nil.
func (b *Base) String() string {
	if b == nil {
		return ""
	}
	return b.url
}

// Resolve resolves ref against b as RFC 3986 section 5.2 and browsers do
// (spec:rfc3986-2005#resolve): surrounding white space is ignored, "http:x" is relative to a base
// of the same scheme, "http:///x" has extra slashes. An invalid reference, or one without a base,
// is returned unchanged.
func (b *Base) Resolve(ref string) string {
	ref, relative := b.relative(ref)
	if !relative {
		return ref
	}
	var space [256]byte // avoids an allocation
	out := space[:0]
	if n := len(b.url) + len("/") + len(ref); n > len(space) {
		out = make([]byte, 0, n)
	}
	return string(b.join(out, ref))
}

// appendResolved is like Resolve, but appends the result to out.
func (b *Base) appendResolved(out []byte, ref string) []byte {
	ref, relative := b.relative(ref)
	if !relative {
		return append(out, ref...)
	}
	return b.join(out, ref)
}

// relative returns the part of ref that join needs. If ref is not relative to b, relative returns
// the result of resolving ref, and false.
func (b *Base) relative(ref string) (string, bool) {
	if isPlainURL(ref) {
		return ref, false
	}
	ref = trimReference(ref)
	if b == nil {
		return normalizeSlashes(ref), false
	}
	if ref == "" {
		return b.url, false
	}
	if n := schemeLength(ref); n > 0 {
		rest := ref[n+1:]
		if rest == "" || strings.HasPrefix(rest, "//") || !strings.EqualFold(ref[:n], b.scheme) {
			return normalizeSlashes(ref), false
		}
		ref = rest
	}
	return ref, true
}

// normalizeSlashes reduces extra slashes before the host of u to two. File URLs have no host and
// keep three slashes; one slash becomes three.
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

// join appends to out a reference without a scheme, resolved against b.
func (b *Base) join(out []byte, ref string) []byte {
	switch ref[0] {
	case '#':
		return append(append(out, b.url[:b.queryEnd]...), ref...)
	case '?':
		if b.pathEnd == len(b.root) {
			return append(append(append(out, b.root...), b.dir...), ref...)
		}
		return append(append(out, b.url[:b.pathEnd]...), ref...)
	}
	if strings.HasPrefix(ref, "//") && !strings.HasPrefix(ref, "///") {
		if badHost(ref) || b.scheme == "" || len(ref) == 2 {
			return append(out, ref...)
		}
		return append(append(out, b.url[:len(b.scheme)+1]...), ref...)
	}
	dir := b.dir
	if ref[0] == '/' {
		dir = ""
		if strings.HasPrefix(ref, "///") {
			ref = ref[2:]
		}
	}
	return joinPath(append(out, b.root...), dir, ref)
}

// Child returns the base for an xml:base of ref inside b. It returns b if ref is no usable base.
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

// isPlainURL reports whether ref is an absolute http or https URL that needs no change, as almost
// all references are.
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

// isVisible reports whether c is a visible ASCII character.
func isVisible(c byte) bool { return c > ' ' && c < 0x7f }

// trimReference removes surrounding white space from ref, and all line ends and tabs, as browsers
// do.
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

// schemeLength returns the length of the scheme of u without its colon, 0 if there is none.
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

// badHost reports whether u has a host with unbalanced brackets.
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

// joinPath appends to out dir, which is empty or ends with a slash, and ref, without the segments
// "." and ".." of its path. Query and fragment of ref are unchanged.
func joinPath(out []byte, dir, ref string) []byte {
	root := len(out)
	out = append(out, dir...)
	if !strings.HasPrefix(ref, ".") && !strings.Contains(ref, "/.") {
		return append(out, ref...) // without dot segments
	}
	end := len(ref)
	if i := strings.IndexAny(ref, "?#"); i >= 0 {
		end = i
	}
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
			out = out[:root+len(parentPath(out[root:]))]
		default:
			out = append(out, seg...)
			if slash {
				out = append(out, '/')
			}
		}
		at = next + 1
	}
	return append(out, ref[end:]...)
}

// parentPath returns the parent of path, which ends with a slash. The parent of the root is the
// root.
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
