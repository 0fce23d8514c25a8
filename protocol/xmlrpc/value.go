package xmlrpc

import "cloudburst/internal/xmlsafe"

// String returns the text of a string, of a number in decimal, or of base64 that is UTF-8.
// It returns false for any other value.
func String(v any) (string, bool) { return xmlsafe.AsString(v) }

// Int returns the integer of a number, of a string with a number, or of a double without a
// fraction. It returns false for any other value.
func Int(v any) (int64, bool) { return xmlsafe.AsInt(v) }

// Bool returns a boolean, the numbers 0 and 1 as a boolean, or one of the strings "0", "1",
// "true" and "false" as a boolean. ok is false for any other value.
func Bool(v any) (value, ok bool) { return xmlsafe.AsBool(v) }

// Strings returns a list of strings: an array of values that [String] converts, or a single
// such value, because some clients have no list type. An empty array is an empty list. It
// returns false for any other value.
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
