package charset

import "strings"

const (
	xmlReach  = 1024 // maximum length of an XML declaration
	htmlReach = 1024 // length of the searched beginning of an HTML document, as in browsers
)

// httpLabel extracts the charset from a Content-Type header. It accepts anything between "charset="
// and a separator.
func httpLabel(contentType string) string {
	for i := 0; ; {
		n := indexFold(contentType[i:], "charset")
		if n < 0 {
			return ""
		}
		i += n + len("charset")
		if label, ok := valueAfterEquals(contentType[i:]); ok {
			return label
		}
	}
}

// valueAfterEquals parses text such as ` = "value"` at the beginning of s.
func valueAfterEquals(s string) (string, bool) {
	s = strings.TrimLeft(s, " \t\r\n")
	if s == "" || s[0] != '=' {
		return "", false
	}
	s = strings.TrimLeft(s[1:], " \t\r\n\"'\\")
	if i := strings.IndexAny(s, " \t\r\n;,\"'\\>"); i >= 0 {
		s = s[:i]
	}
	return s, true
}

// declaration returns the encoding that a document declares, as written. The document must begin
// with ASCII bytes. Only a declaration at the beginning counts, because a document can contain
// examples of declarations. declaration skips leading white space, which XML forbids but many
// templates emit.
func declaration(doc string) string {
	s := trimSpace(doc)
	switch {
	case s == "" || s[0] != '<':
		return ""
	case strings.HasPrefix(s, "<?xml"):
		if label := xmlLabel(s[len("<?xml"):]); label != "" {
			return label
		}
	}
	if looksHTML(s) {
		return metaLabel(s)
	}
	return ""
}

// xmlLabel returns the encoding from the attributes after "<?xml".
func xmlLabel(s string) string {
	s = s[:min(len(s), xmlReach)]
	if i := strings.IndexByte(s, '>'); i >= 0 {
		s = s[:i]
	}
	if s == "" || !isSpace(s[0]) {
		return "" // another instruction, such as <?xml-stylesheet
	}
	for {
		eq := strings.IndexByte(s, '=')
		if eq < 0 {
			return ""
		}
		name := s[:eq]
		value := trimSpace(s[eq+1:])
		end := len(value)
		if value != "" && (value[0] == '"' || value[0] == '\'') {
			quote := value[0]
			value = value[1:]
			if end = strings.IndexByte(value, quote); end < 0 {
				end = len(value)
			}
		} else if i := strings.IndexAny(value, " \t\r\n?"); i >= 0 {
			end = i
		}
		if name = strings.Trim(name, " \t\r\n\"'"); strings.EqualFold(name, "encoding") {
			return strings.Trim(value[:end], " \t\r\n")
		}
		s = value[end:]
	}
}

// looksHTML reports whether the first tag of s, or its document type, is HTML.
func looksHTML(s string) bool {
	s = s[:min(len(s), htmlReach)]
	for {
		s = trimSpace(s)
		var end string
		switch {
		case strings.HasPrefix(s, "<!--"):
			end = "-->"
		case strings.HasPrefix(s, "<?"):
			end = ">"
		case hasPrefixFold(s, "<!doctype"):
			return hasPrefixFold(trimSpace(s[len("<!doctype"):]), "html")
		default:
			for _, tag := range [...]string{"<html", "<head", "<meta", "<title", "<body"} {
				if hasPrefixFold(s, tag) && len(s) > len(tag) && !isNameByte(s[len(tag)]) {
					return true
				}
			}
			return false
		}
		i := strings.Index(s, end)
		if i < 0 {
			return false
		}
		s = s[i+len(end):]
	}
}

// metaLabel returns the encoding from <meta charset=…> or <meta content="…; charset=…">.
func metaLabel(s string) string {
	s = s[:min(len(s), htmlReach)]
	for {
		i := strings.IndexByte(s, '<')
		if i < 0 {
			return ""
		}
		s = s[i:]
		end := strings.IndexByte(s, '>')
		switch {
		case strings.HasPrefix(s, "<!--"):
			if end = strings.Index(s[len("<!-"):], "->"); end < 0 {
				return ""
			}
			end += len("<!-")
		case end < 0:
			end = len(s) - 1
		}
		if tag := s[:end+1]; hasPrefixFold(tag, "<meta") {
			if label := httpLabel(tag); label != "" {
				return label
			}
		}
		s = s[end+1:]
	}
}

// looksJSON reports whether a document begins with a JSON object or array. JSON is always UTF-8,
// even if a header declares another encoding.
func looksJSON(doc string) bool {
	s := trimSpace(doc)
	return s != "" && (s[0] == '{' || s[0] == '[')
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

func isNameByte(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c == '-' || c == ':' || c == '_'
}

func trimSpace(s string) string {
	for s != "" && isSpace(s[0]) {
		s = s[1:]
	}
	return s
}

func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

// indexFold is like strings.Index but ignores case. word must be lowercase and begin with a letter.
func indexFold(s, word string) int {
	for i := 0; i+len(word) <= len(s); i++ {
		if s[i]|0x20 == word[0] && strings.EqualFold(s[i:i+len(word)], word) {
			return i
		}
	}
	return -1
}
