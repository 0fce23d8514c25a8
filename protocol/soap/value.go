package soap

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

// Strings reads a list of texts: an array of what [String] reads, a structure
// with nothing but items of one name, or a single text. An empty text is an
// empty list, as that is what an element without items looks like when
// nothing says its type.
func Strings(v any) ([]string, bool) {
	switch v := v.(type) {
	case string:
		if xmlsafe.Trim(v) == "" {
			return []string{}, true
		}
	case []any:
		return stringsOf(v)
	case map[string]any:
		return stringsOf(items(v))
	}
	s, ok := String(v)
	if !ok {
		return nil, false
	}
	return []string{s}, true
}

func stringsOf(list []any) ([]string, bool) {
	if list == nil {
		return nil, false
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

// items gives the members of a structure that is a list without a type: they
// all have one name. It is nil for another structure.
func items(m map[string]any) []any {
	if len(m) != 1 {
		return nil
	}
	for _, v := range m {
		if list, ok := v.([]any); ok {
			return list
		}
		return []any{v}
	}
	return nil
}
