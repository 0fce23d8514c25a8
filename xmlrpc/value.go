package xmlrpc

import (
	"math"
	"strconv"
	"unicode/utf8"
)

// String reads a text: a string, a number in its decimal form, or base64
// that is UTF-8.
func String(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case int64:
		return strconv.FormatInt(v, 10), true
	case []byte:
		return string(v), utf8.Valid(v)
	}
	return "", false
}

// Int reads a whole number: also one written as a string or, without a
// fraction, as a double.
func Int(v any) (int64, bool) {
	switch v := v.(type) {
	case int64:
		return v, true
	case string:
		return parseInt(trim(v))
	case float64:
		// Beyond 2^53 a float64 no longer tells neighbours apart.
		if v != math.Trunc(v) || math.Abs(v) > 1<<53 {
			return 0, false
		}
		return int64(v), true
	}
	return 0, false
}

// Bool reads a boolean: also 0 or 1 as a number, and the four words of the
// wire as a string.
func Bool(v any) (value, ok bool) {
	switch v := v.(type) {
	case bool:
		return v, true
	case int64:
		return v == 1, v == 0 || v == 1
	case string:
		return parseBool(trim(v))
	}
	return false, false
}

// Strings reads a list of texts: an array of what [String] reads, or a single
// one of them, as clients without a list type send. An empty array is an
// empty list.
func Strings(v any) ([]string, bool) {
	list, ok := v.([]any)
	if !ok {
		s, ok := String(v)
		if !ok {
			return nil, false
		}
		return []string{s}, true
	}
	out := make([]string, 0, len(list))
	for _, item := range list {
		s, ok := String(item)
		if !ok {
			return nil, false
		}
		out = append(out, s)
	}
	return out, true
}
