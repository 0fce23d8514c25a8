package wsse

import (
	"fmt"
	"net/http"
	"strings"
)

// SyntaxError says what is wrong with a header. It never holds what was in it.
type SyntaxError struct {
	What string
}

func (e *SyntaxError) Error() string { return "wsse: " + e.What }

func wrong(format string, args ...any) error { return &SyntaxError{fmt.Sprintf(format, args...)} }

// FromHeader reads the header of a request; ok is false when there is none. Two are
// an error: proxies and servers would not agree on which one counts.
func FromHeader(h http.Header) (t Token, ok bool, err error) {
	values := h.Values(HeaderName)
	switch len(values) {
	case 0:
		return Token{}, false, nil
	case 1:
		t, err = Parse(values[0])
		return t, err == nil, err
	}
	return Token{}, false, wrong("%d headers %s, want one", len(values), HeaderName)
}

// Parse reads the header's value: the word UsernameToken, then the four parameters in
// any order, with commas between. Case matters neither in the word nor in the parameters'
// names. A parameter that it does not know is passed over; one of the four that is
// missing, empty, too long or there twice is a [*SyntaxError], as is all that is no such
// list. Whether the header is fresh is not looked at.
func Parse(header string) (Token, error) {
	if len(header) > MaxHeader {
		return Token{}, wrong("a header of %d bytes; at most %d are read", len(header), MaxHeader)
	}
	p := parser{header}
	p.space()
	if word := p.word(); !strings.EqualFold(word, "UsernameToken") {
		return Token{}, wrong("the header does not begin with UsernameToken")
	}
	if p.rest != "" && !p.space() {
		return Token{}, wrong("no space after UsernameToken")
	}
	var t Token
	params := []struct {
		name string
		to   *string
		most int
		seen bool
	}{
		{"Username", &t.Username, MaxUsername, false}, {"PasswordDigest", &t.Digest, MaxDigest, false},
		{"Nonce", &t.Nonce, MaxNonce, false}, {"Created", &t.Created, MaxCreated, false},
	}
	for {
		name, value, more, err := p.param()
		if err != nil {
			return Token{}, err
		}
		if !more {
			break
		}
		for i := range params {
			one := &params[i]
			if !strings.EqualFold(one.name, name) {
				continue
			}
			if one.seen {
				return Token{}, wrong("%s occurs twice", one.name)
			}
			if len(value) > one.most {
				return Token{}, wrong("%s has %d bytes, more than %d", one.name, len(value), one.most)
			}
			*one.to, one.seen = value, true
		}
	}
	for _, one := range params {
		if *one.to == "" {
			return Token{}, wrong("%s is missing or empty", one.name)
		}
	}
	var ok bool
	if t.At, ok = parseTime(t.Created); !ok {
		return Token{}, wrong("Created is no time of ISO 8601")
	}
	return t, nil
}

// parser walks through a header.
type parser struct{ rest string }

// space reports whether there was any.
func (p *parser) space() bool {
	after := strings.TrimLeft(p.rest, " \t")
	some := len(after) < len(p.rest)
	p.rest = after
	return some
}

// word takes what is neither space nor one of the characters that mean something.
func (p *parser) word() string {
	n := strings.IndexAny(p.rest, " \t,=\"\\")
	if n < 0 {
		n = len(p.rest)
	}
	w := p.rest[:n]
	p.rest = p.rest[n:]
	return w
}

// param takes the next name="value". more is false at the end.
func (p *parser) param() (name, value string, more bool, err error) {
	for p.space() || strings.HasPrefix(p.rest, ",") {
		p.rest = strings.TrimPrefix(p.rest, ",")
	}
	if p.rest == "" {
		return "", "", false, nil
	}
	name = p.word()
	p.space()
	if name == "" || !strings.HasPrefix(p.rest, "=") {
		return "", "", false, wrong("a parameter without name or value")
	}
	p.rest = p.rest[1:]
	p.space()
	if value, err = p.value(); err != nil {
		return "", "", false, err
	}
	p.space()
	if p.rest != "" && p.rest[0] != ',' {
		return "", "", false, wrong("something other than a comma after a value")
	}
	for i := range len(value) {
		if control(value[i]) {
			return "", "", false, wrong("a value with a control character")
		}
	}
	return name, value, true, nil
}

// value takes a quoted string, in which a backslash stands before a character that is
// meant as itself, or what there is up to a comma or space: base64 has no other end.
func (p *parser) value() (string, error) {
	if !strings.HasPrefix(p.rest, `"`) {
		n := strings.IndexAny(p.rest, " \t,\"\\")
		if n < 0 {
			n = len(p.rest)
		}
		v := p.rest[:n]
		p.rest = p.rest[n:]
		return v, nil
	}
	var b strings.Builder
	for i := 1; i < len(p.rest); i++ {
		switch c := p.rest[i]; c {
		case '"':
			p.rest = p.rest[i+1:]
			return b.String(), nil
		case '\\':
			if i++; i == len(p.rest) {
				return "", wrong("a value that does not end")
			}
			b.WriteByte(p.rest[i])
		default:
			b.WriteByte(c)
		}
	}
	return "", wrong("a value that does not end")
}
