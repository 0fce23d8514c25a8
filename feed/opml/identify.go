package opml

import (
	"net/http"
	"strings"
)

// identify determines the format of a document that is not OPML from its first bytes.
func identify(doc []byte, text string) *NotOPMLError {
	text = strings.TrimSpace(text)
	if text == "" && len(strings.TrimSpace(string(doc[:min(len(doc), 512)]))) == 0 {
		return &NotOPMLError{Looks: "empty"}
	}
	if text != "" && (text[0] == '{' || text[0] == '[') {
		return &NotOPMLError{Looks: "json"}
	}
	kind := http.DetectContentType(doc)
	class, name, _ := strings.Cut(kind, "/")
	name, _, _ = strings.Cut(name, ";")
	switch {
	case class == "image", class == "audio", class == "video":
		return &NotOPMLError{Looks: class}
	case name == "pdf", name == "zip", name == "html":
		return &NotOPMLError{Looks: name}
	case name == "x-gzip":
		return &NotOPMLError{Looks: "gzip"}
	case name == "octet-stream" || class == "font":
		return &NotOPMLError{Looks: "binary"}
	case strings.HasPrefix(text, "<"):
		return &NotOPMLError{Looks: "xml", Detail: rootName(text)}
	}
	return &NotOPMLError{Looks: "text"}
}

func rootName(text string) string {
	for len(text) > 1 && text[0] == '<' && (text[1] == '?' || text[1] == '!') {
		_, after, ok := strings.Cut(text, ">")
		if !ok {
			return "?"
		}
		text = strings.TrimSpace(after)
	}
	text = strings.TrimPrefix(text, "<")
	if end := strings.IndexAny(text, " \t\r\n/>"); end > 0 {
		return text[:min(end, 100)]
	}
	return "?"
}
