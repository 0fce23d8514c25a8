package render

import "strings"

// mime returns a media type. For an invalid type it returns "" and adds a warning.
func (w *writer) mime(s, where string) string {
	if s == "" || s == w.lastMIME {
		return s
	}
	if validMIME(s) {
		w.lastMIME = s
		return s
	}
	if quoted := quotedMIME(s); validMIME(quoted) {
		w.warn("media-type", where, "A parameter of this media type needs quotes; they are added: ", short(s), ".")
		return quoted
	}
	w.warn("media-type", where, "This is not a valid media type and is omitted: ", short(s), ".")
	return ""
}

// quotedMIME adds quotes to parameter values that need them. For example, BitTorrent feeds contain
// application/x-bittorrent;enclosed=audio/mpeg without quotes.
func quotedMIME(s string) string {
	kind, params, has := strings.Cut(s, ";")
	for has {
		var p string
		p, params, has = strings.Cut(params, ";")
		name, value, _ := strings.Cut(p, "=")
		if !token(value) && !strings.ContainsAny(value, "\"\\") {
			p = name + `="` + value + `"`
		}
		kind += ";" + p
	}
	return kind
}

// validMIME reports whether s has the form type/subtype, with or without parameters.
func validMIME(s string) bool {
	s, params, has := strings.Cut(s, ";")
	kind, sub, ok := strings.Cut(strings.TrimRight(s, " "), "/")
	if !ok || !token(kind) || !token(sub) {
		return false
	}
	for has {
		var p string
		p, params, has = strings.Cut(params, ";")
		name, value, ok := strings.Cut(strings.TrimSpace(p), "=")
		if n := len(value); n > 1 && value[0] == '"' && value[n-1] == '"' && strings.IndexByte(value[1:n-1], '"') < 0 && value[n-2] != '\\' {
			value = "v"
		}
		if !ok || !token(name) || !token(value) {
			return false
		}
	}
	return true
}
