package soap

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

// Strings returns a list of strings: an array of values that [String] converts, a structure
// whose members all have one name, or a single text. An empty text is an empty list,
// because an empty array without a type looks the same. It returns false for any other
// value.
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

// items returns the members of a structure that is a list without a type: all members have
// one name. It returns nil for any other structure.
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
