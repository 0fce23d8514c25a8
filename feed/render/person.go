package render

import (
	"slices"
	"strings"

	"cloudburst/feed"
)

// nameOf returns the best single name for a person.
func nameOf(who *feed.Person) string {
	switch {
	case who.Name != "":
		return who.Name
	case who.Email != "":
		return who.Email
	case who.Raw != "":
		return who.Raw
	}
	return who.URL
}

// isRepeated reports whether an earlier person of the list has the same data as person i.
func isRepeated(list []feed.Person, i int) bool {
	const limit = 100 // maximum number of persons that are compared with each other
	who := &list[i]
	return slices.ContainsFunc(list[:min(i, limit)], func(p feed.Person) bool {
		return p.Name == who.Name && p.Email == who.Email && p.URL == who.URL && p.Avatar == who.Avatar && (p.Extension == who.Extension || who.Extension == nil)
	})
}

// isMail reports whether readers and validators recognize s as an email address.
func isMail(s string) bool {
	at := strings.IndexByte(s, '@')
	if at <= 0 {
		return false
	}
	for i := range at {
		if c := s[i]; !isWordByte(c) && strings.IndexByte("_-+.'%", c) < 0 {
			return false
		}
	}
	host, dot := s[at+1:], false
	for i := range len(host) {
		switch c := host[i]; {
		case isWordByte(c) || c == '-' && i > 0:
		case c == '.' && i > 0 && i < len(host)-1 && host[i-1] != '.':
			dot = true
		default:
			return false
		}
	}
	return dot && host[len(host)-1] != '-'
}

// isWordByte reports whether c is an ASCII letter or digit.
func isWordByte(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9'
}
