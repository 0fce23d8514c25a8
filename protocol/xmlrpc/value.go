package xmlrpc

import "cloudburst/internal/xmlsafe"

// String reads a text: a string, a number in its decimal form, or base64
// that is UTF-8.
func String(v any) (string, bool) { return xmlsafe.AsString(v) }

// Int reads a whole number: also one written as a string or, without a
// fraction, as a double.
func Int(v any) (int64, bool) { return xmlsafe.AsInt(v) }

// Bool reads a boolean: also 0 or 1 as a number, and the four words of the
// wire as a string.
func Bool(v any) (value, ok bool) { return xmlsafe.AsBool(v) }

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
