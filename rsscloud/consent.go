package rsscloud

import (
	"errors"
	"html"
	"mime"
	"strings"
)

var (
	// ErrRefused means that a callback did not consent: an error status, or an
	// answer without the challenge.
	ErrRefused = errors.New("rsscloud: the callback did not consent")
	// ErrEcho means that the answer is a web page that shows whatever it is
	// asked; that is no consent.
	ErrEcho = errors.New("rsscloud: the callback is a page that repeats what it is asked")
	// ErrLoop means that the callback is a cloud's own ping door.
	ErrLoop = errors.New("rsscloud: the callback is the ping door of a cloud")
)

// maxConsent is how much of a challenge's answer counts, in bytes.
const maxConsent = 4 << 10

// CheckConsent says whether an answer to the GET of [ChallengeURL] is consent:
// nil, [ErrRefused] or [ErrEcho]. Only the first 4 KiB of body count.
func CheckConsent(status int, contentType string, body []byte, challenge string) error {
	// spec:rsscloud-2009#challenge-accepted
	// spec:rsscloud-2009#challenge-refused
	if status < 200 || status > 299 || challenge == "" {
		return ErrRefused
	}
	text := string(body[:min(len(body), maxConsent)])
	if !strings.Contains(text, challenge) {
		return ErrRefused
	}
	kind, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		kind, _, _ = strings.Cut(contentType, ";")
		kind = strings.ToLower(strings.TrimSpace(kind))
	}
	if kind != "text/html" && kind != "application/xhtml+xml" {
		return nil
	}
	// spec:cloudburst#challenge-echo
	// A search page repeats its query in links, in form fields and in its text. An
	// aggregator in PHP answers the bare challenge and calls it text/html. So only
	// what a reader sees counts, and there only a challenge that is not the value
	// of the parameter.
	if standsAlone(visible(text), challenge) {
		return nil
	}
	return ErrEcho
}

// visible is the text of a page without tags, comments, scripts and styles. It
// need not be exact: what is hidden by mistake refuses, and the aggregator can
// answer text/plain.
func visible(page string) string {
	var b strings.Builder
	lower := lowerASCII(page) // as long as page, byte for byte, unlike what strings.ToLower makes
	for {
		i := strings.IndexByte(page, '<')
		if i < 0 {
			b.WriteString(page)
			return html.UnescapeString(b.String())
		}
		b.WriteString(page[:i])
		page, lower = page[i:], lower[i:]
		end := ">"
		switch {
		case strings.HasPrefix(lower, "<!--"):
			end = "-->"
		case strings.HasPrefix(lower, "<script"):
			end = "</script>"
		case strings.HasPrefix(lower, "<style"):
			end = "</style>"
		case strings.HasPrefix(lower, "<title"):
			end = "</title>"
		case strings.HasPrefix(lower, "<textarea"):
			end = "</textarea>"
		}
		j := strings.Index(lower, end)
		if j < 0 {
			return html.UnescapeString(b.String())
		}
		page, lower = page[j+len(end):], lower[j+len(end):]
	}
}

func lowerASCII(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

// standsAlone reports whether text has the challenge anywhere but behind
// "challenge=", however often the equals sign is percent-encoded.
func standsAlone(text, challenge string) bool {
	before := ""
	for {
		head, rest, ok := strings.Cut(text, challenge)
		if !ok {
			return false
		}
		before += head
		near := strings.ToLower(before[max(0, len(before)-64):])
		for range 3 {
			near = strings.ReplaceAll(near, "%25", "%")
		}
		near = strings.ReplaceAll(near, "%3d", "=")
		near = strings.TrimRight(near, " \t\r\n\"'")
		if !strings.HasSuffix(near, "challenge=") {
			return true
		}
		text = rest
	}
}
