package readerui

import (
	"net/http"
	"strings"
	"unicode"

	"cloudburst/internal/web/content"
	"cloudburst/internal/web/shell"
)

// initial returns the letter for a feed without an icon.
func initial(name string) string {
	for _, r := range name {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return string(unicode.ToUpper(r))
		}
	}
	return ""
}

// icon returns the URL of an icon that the page may load; "": none.
func (s *base) icon(url string) string {
	if !shell.IsSafeURL(url) {
		return ""
	}
	switch s.ImageMode() {
	case content.ImagesProxy:
		return s.ProxyURL(url)
	case content.ImagesDirect:
		return url
	}
	return ""
}

// iconHeaders extends the policy of a page for feed icons from any server, if the setting is
// ImagesDirect.
func (s *base) iconHeaders(rw http.ResponseWriter) {
	if s.ImageMode() == content.ImagesDirect {
		rw.Header().Set("Content-Security-Policy", strings.Replace(shell.Policy, "img-src 'self' data:", "img-src 'self' data: http: https:", 1))
	}
}
