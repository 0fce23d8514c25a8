package metaweblog

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"cloudburst/internal/date"
	"cloudburst/internal/xmlsafe"
	"cloudburst/protocol/xmlrpc"
)

// members reads the members of a struct. Names are matched without case: the exact spelling takes
// precedence, and otherwise the first name in byte order. err is the first error.
type members struct {
	of  map[string]any
	err error
}

// find returns the value of the first of the given names that is present and not nil.
func (m *members) find(names ...string) (v any, name string) {
	for _, name := range names {
		if v := m.of[name]; present(v) {
			return v, name
		}
	}
	for _, name := range names {
		best := ""
		for other, v := range m.of {
			if present(v) && strings.EqualFold(other, name) && (best == "" || other < best) {
				best = other
			}
		}
		if best != "" {
			return m.of[best], best
		}
	}
	return nil, ""
}

func present(v any) bool { return v != nil }

func (m *members) fail(name, format string, args ...any) {
	if m.err == nil {
		m.err = fieldErr(name, "The member %s %s.", shown(name), fmt.Sprintf(format, args...))
	}
}

func (m *members) text(names ...string) *string {
	v, name := m.find(names...)
	if v == nil {
		return nil
	}
	s, ok := text(v)
	if !ok {
		m.fail(name, "must be a string, not %s", kind(v))
		return nil
	}
	return &s
}

// word returns a trimmed text. An empty text counts as missing.
func (m *members) word(names ...string) string {
	if s := m.text(names...); s != nil {
		return strings.TrimSpace(*s)
	}
	return ""
}

// list reads an array of texts, or one text, which is split at commas if commas is set.
func (m *members) list(commas bool, names ...string) []string {
	v, name := m.find(names...)
	if v == nil {
		return nil
	}
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	out := []string{}
	for _, item := range list {
		s, ok := text(item)
		if !ok {
			m.fail(name, "must be a list of strings; it contains %s", kind(item))
			return nil
		}
		pieces := []string{s}
		if commas {
			pieces = strings.Split(s, ",")
		}
		for _, s := range pieces {
			if s = line(s); s != "" && !slices.Contains(out, s) {
				out = append(out, s)
			}
		}
	}
	return out
}

func (m *members) time(names ...string) time.Time {
	v, name := m.find(names...)
	if s, ok := v.(string); v == nil || ok && strings.TrimSpace(s) == "" {
		return time.Time{}
	}
	switch v := v.(type) {
	case time.Time:
		return v.UTC().Truncate(time.Second)
	case string:
		if t, ok := date.Parse(v); ok {
			return t.UTC().Truncate(time.Second)
		}
		m.fail(name, "is not a date: %s", shown(v))
		return time.Time{}
	}
	m.fail(name, "must be a date, not %s", kind(v))
	return time.Time{}
}

// allow reads one of the numbers 0, 1 and 2 in any form. Other forms are true, false, "open",
// "closed" and "none".
func (m *members) allow(names ...string) *int {
	v, name := m.find(names...)
	if v == nil {
		return nil
	}
	if b, ok := v.(bool); ok {
		v = int64(0)
		if b {
			v = int64(1)
		}
	}
	if s, ok := v.(string); ok {
		switch strings.ToLower(strings.TrimSpace(s)) {
		case "":
			return nil
		case "none", "false":
			v = int64(0)
		case "open", "true":
			v = int64(1)
		case "closed":
			v = int64(2)
		}
	}
	n, ok := xmlrpc.Int(v)
	if !ok || n < 0 || n > 2 {
		m.fail(name, "must be 0, 1 or 2")
		return nil
	}
	return new(int(n))
}

// enclosure reads the struct {url, type, length}. An empty value of any type is an
// enclosure without URL.
func (m *members) enclosure(names ...string) *Enclosure {
	v, name := m.find(names...)
	switch v := v.(type) {
	case nil:
		return nil
	case string: // some programs send the URL alone
		return &Enclosure{URL: strings.TrimSpace(v)}
	case []any:
		if len(v) == 0 {
			return &Enclosure{}
		}
	case map[string]any:
		in := &members{of: v}
		e := &Enclosure{URL: in.word("url"), Type: in.word("type")}
		if n, _ := in.find("length"); n != nil && e.URL != "" {
			// An invalid length becomes 0.
			e.Length, _ = xmlrpc.Int(n)
			e.Length = max(e.Length, 0)
		}
		if e.URL == "" {
			e.Type = ""
		}
		if in.err != nil && m.err == nil {
			m.err = in.err
		}
		return e
	}
	m.fail(name, "must be a struct of url, type and length, not %s", kind(v))
	return nil
}

// text returns a text. It also converts other values that have an obvious text form.
func text(v any) (string, bool) {
	if b, ok := v.(bool); ok {
		if b {
			return "1", true
		}
		return "0", true
	}
	s, ok := xmlrpc.String(v)
	if _, packed := v.([]byte); packed {
		s = xmlsafe.Clean(s) // base64 can contain characters that XML cannot carry
	}
	return s, ok
}

// line returns a text as one line, with each run of white space replaced by one space.
func line(s string) string { return strings.Join(strings.Fields(s), " ") }

// kind returns the name of a value's type for a message.
func kind(v any) string {
	switch v.(type) {
	case nil:
		return "nothing"
	case string:
		return "a string"
	case bool:
		return "a boolean"
	case int64, float64:
		return "a number"
	case time.Time:
		return "a date"
	case []byte:
		return "base64"
	case []any:
		return "an array"
	case map[string]any:
		return "a struct"
	}
	return "something else"
}

// shown returns a client's value for a message: quoted, and cut if it is long.
func shown(s string) string {
	const limit = 60
	if r := []rune(s); len(r) > limit {
		return fmt.Sprintf("%q…", string(r[:limit]))
	}
	return fmt.Sprintf("%q", s)
}

// unpacked decodes the base64 in a string.
func unpacked(s string) ([]byte, bool) { return xmlsafe.ParseBase64(s) }

// structOf returns the struct in a server's response.
func structOf(v any, what string) (*members, error) {
	of, ok := v.(map[string]any)
	if !ok {
		return nil, responseError("%s is %s", what, kind(v))
	}
	return &members{of: of}, nil
}

// responseErr returns the error of m as [ErrInvalidResponse].
func (m *members) responseErr() error {
	if f, ok := errors.AsType[*FieldError](m.err); ok {
		return fmt.Errorf("%w: %s", ErrInvalidResponse, f.Msg)
	}
	return m.err
}

func responseError(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrInvalidResponse, fmt.Sprintf(format, args...))
}
