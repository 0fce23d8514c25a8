package discover

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"
)

// headerLink is one link of a Link header.
type headerLink struct {
	target                     string
	rel, typ, title, lang      string
	anchor                     string
	hasRel, hasTitle, extTitle bool
}

// Related returns the targets of the links in Link headers that have the relation rel, as written:
// they can be relative. Links whose anchor is not the document at address are left out. rel
// must be in lowercase; at most 64 links are read.
//
// spec:weblinking-rfc8288#header
func Related(h http.Header, address, rel string) (targets []string) {
	c := newCollector(address)
	headerLinks(h, func(l headerLink) {
		if slices.Contains(l.rels(), rel) && (l.anchor == "" || c.isOwn(l.anchor)) {
			targets = append(targets, l.target)
		}
	})
	return targets
}

// header adds the links of the Link headers.
func (c *collector) header(h http.Header) {
	c.res.Cut = headerLinks(h, c.headerLink) || c.res.Cut
}

// headerLinks calls use for each link of the Link headers. cut reports that there are more than
// maxValues links.
func headerLinks(h http.Header, use func(headerLink)) (cut bool) {
	room := maxValues
	for _, line := range h.Values("Link") {
		for len(line) > 0 && room > 0 {
			var l headerLink
			var ok bool
			if l, line, ok = nextLink(line); ok {
				use(l)
				room--
			}
		}
		cut = cut || strings.TrimSpace(line) != ""
	}
	return cut
}

// rels returns the relations of a link, in lowercase.
func (l headerLink) rels() []string { return strings.Fields(strings.ToLower(l.rel)) }

func (c *collector) headerLink(l headerLink) {
	// spec:weblinking-rfc8288#anchor
	if l.anchor != "" && !c.isOwn(l.anchor) {
		return
	}
	rels := l.rels()
	for _, rel := range rels {
		switch rel {
		case "hub":
			c.addHub(l.target, false)
		case "self":
			c.self = append(c.self, found{ref: l.target})
		}
	}
	f, ok := declared(rels, l.typ)
	if !ok {
		return
	}
	f.ref, f.From, f.Title, f.Language = l.target, FromHeader, l.title, l.lang
	c.add(f)
}

// isOwn reports whether ref is the URL of the document itself.
func (c *collector) isOwn(ref string) bool {
	if c.own == nil {
		return strings.HasPrefix(ref, "#")
	}
	u, ok := parseURL(c.own, ref)
	return ok && u.String() == c.own.String()
}

// nextLink reads the next link of a Link header. A malformed link ends at the next comma
// outside of quotes.
//
// spec:weblinking-rfc8288#header
func nextLink(s string) (l headerLink, rest string, ok bool) {
	s = strings.TrimLeft(s, " \t,")
	if s == "" {
		return l, "", false
	}
	if s[0] != '<' {
		rest = parameters(s, nil)
		return l, rest, false
	}
	end := strings.IndexByte(s, '>')
	if end < 0 {
		return l, "", false
	}
	l.target = strings.TrimSpace(s[1:end])
	rest = parameters(s[end+1:], l.set)
	return l, rest, true
}

// parameters calls set for each ;name=value up to the comma that ends the link, and
// returns the rest after the comma.
func parameters(s string, set func(name, value string)) (rest string) {
	for {
		s = strings.TrimLeft(s, " \t;")
		if s == "" {
			return ""
		}
		if s[0] == ',' {
			return s[1:]
		}
		end := strings.IndexAny(s, "=;,")
		if end < 0 {
			return ""
		}
		name := strings.ToLower(strings.TrimSpace(s[:end]))
		if s[end] != '=' {
			s = s[end:]
			continue
		}
		var value string
		value, s = parameterValue(strings.TrimLeft(s[end+1:], " \t"))
		if set != nil {
			set(name, value)
		}
	}
}

// parameterValue reads a token or a quoted string. An unclosed quoted string extends to
// the end.
func parameterValue(s string) (value, rest string) {
	if s == "" || s[0] != '"' {
		end := strings.IndexAny(s, ";,")
		if end < 0 {
			end = len(s)
		}
		return strings.TrimSpace(s[:end]), s[end:]
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '"':
			rest = s[i+1:]
			if end := strings.IndexAny(rest, ";,"); end >= 0 {
				return b.String(), rest[end:]
			}
			return b.String(), ""
		case '\\':
			if i++; i < len(s) {
				b.WriteByte(s[i])
			}
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String(), ""
}

// set stores a parameter. The first rel, type, title and hreflang are used; a title with a
// declared encoding (title*) overrides a plain title.
func (l *headerLink) set(name, value string) {
	switch name {
	case "rel", "rel*":
		// spec:weblinking-rfc8288#rel-once
		if !l.hasRel {
			l.rel, l.hasRel = plainOrExtended(name, value), true
		}
	case "type":
		if l.typ == "" {
			l.typ = value
		}
	case "title":
		if !l.hasTitle && !l.extTitle {
			l.title, l.hasTitle = value, true
		}
	case "title*":
		// spec:weblinking-rfc8288#title-star
		if v := plainOrExtended(name, value); !l.extTitle && v != "" {
			l.title, l.extTitle = v, true
		}
	case "hreflang":
		if l.lang == "" {
			l.lang = value
		}
	case "anchor":
		if l.anchor == "" {
			l.anchor = value
		}
	}
}

// plainOrExtended decodes a value such as UTF-8'en'caf%C3%A9, if the name ends in *. Other values
// stay unchanged.
func plainOrExtended(name, value string) string {
	if !strings.HasSuffix(name, "*") {
		return value
	}
	set, rest, ok := strings.Cut(value, "'")
	_, text, ok2 := strings.Cut(rest, "'")
	if !ok || !ok2 {
		return ""
	}
	text, err := url.PathUnescape(text)
	if err != nil {
		return ""
	}
	switch strings.ToLower(set) {
	case "utf-8":
		if utf8.ValidString(text) {
			return text
		}
	case "iso-8859-1":
		r := make([]rune, 0, len(text))
		for _, c := range []byte(text) {
			r = append(r, rune(c))
		}
		return string(r)
	}
	return ""
}
