package wsse

import (
	"fmt"
	"net/http"
	"strings"
)

// SyntaxError describes an invalid header. It never contains values of the header.
type SyntaxError struct {
	What string
}

func (e *SyntaxError) Error() string { return "wsse: " + e.What }

func wrong(format string, args ...any) error { return &SyntaxError{fmt.Sprintf(format, args...)} }

// FromHeader parses the header of a request. If the request has no such header, ok is false. Two
// headers are an error, because proxies and servers could disagree on which of them to use.
func FromHeader(h http.Header) (t Token, ok bool, err error) {
	values := h.Values(HeaderName)
	switch len(values) {
	case 0:
		return Token{}, false, nil
	case 1:
		t, err = Parse(values[0])
		return t, err == nil, err
	}
	return Token{}, false, wrong("%d headers %s instead of one", len(values), HeaderName)
}

// Parse parses the value of the header: the word UsernameToken, then the four parameters in
// any order, separated by commas. The word and the names of the parameters are matched
// without case. Unknown parameters are ignored. The error is a [*SyntaxError] for any other
// form, and for a parameter that is missing, empty, too long or repeated. Parse does not
// check whether the header is fresh.
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
		name  string
		to    *string
		limit int
		seen  bool
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
			if len(value) > one.limit {
				return Token{}, wrong("%s has %d bytes, more than %d", one.name, len(value), one.limit)
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
		return Token{}, wrong("Created is not a time of ISO 8601")
	}
	return t, nil
}

// parser parses a header. rest is the part that was not read yet.
type parser struct{ rest string }

// space skips white space and reports whether there was any.
func (p *parser) space() bool {
	after := strings.TrimLeft(p.rest, " \t")
	some := len(after) < len(p.rest)
	p.rest = after
	return some
}

// word reads a word up to a space or a special character.
func (p *parser) word() string {
	n := strings.IndexAny(p.rest, " \t,=\"\\")
	if n < 0 {
		n = len(p.rest)
	}
	w := p.rest[:n]
	p.rest = p.rest[n:]
	return w
}

// param reads the next name="value". more is false at the end.
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

// value reads a quoted string, in which a backslash escapes the next character, or an
// unquoted value up to a comma or space. Unquoted base64 has no other delimiter.
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
				return "", wrong("a value without an end")
			}
			b.WriteByte(p.rest[i])
		default:
			b.WriteByte(c)
		}
	}
	return "", wrong("a value without an end")
}
