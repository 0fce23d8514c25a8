package rsscloud

import (
	"encoding/json"
	"errors"
	"html"
	"mime"
	"strconv"
	"strings"
	"unicode/utf8"
)

var (
	// ErrRefused means that a callback did not consent: the status is an error, or the
	// response lacks the challenge.
	ErrRefused = errors.New("rsscloud: the callback did not consent")
	// ErrEcho means that the response repeats the query of the request, which is not
	// consent.
	ErrEcho = errors.New("rsscloud: the callback repeats the query of the request")
	// ErrLoop means that the callback is the ping endpoint of a cloud.
	ErrLoop = errors.New("rsscloud: the callback is the ping endpoint of a cloud")
)

// MaxConsent is the number of bytes of a response that are searched for the challenge.
const MaxConsent = 64 << 10

// CheckConsent decides whether a response to the GET of [ChallengeURL] for feed is consent.
// It returns nil, [ErrRefused] or [ErrEcho]. Only the first [MaxConsent] bytes of body
// are searched.
//
// A response that is the challenge and nothing else is consent in any media type: as text,
// as a JSON string, as the only member of a JSON object, or as the only text of a page. In
// a longer response the challenge is accepted only where it is not the value of a parameter, and
// only if the response does not repeat the URL of the feed.
func CheckConsent(status int, contentType string, body []byte, challenge, feed string) error {
	// spec:rsscloud-2009#challenge-accepted
	// spec:rsscloud-2009#challenge-refused
	if status < 200 || status > 299 || challenge == "" {
		return ErrRefused
	}
	text := string(body[:min(len(body), MaxConsent)])
	if !strings.Contains(text, challenge) {
		return ErrRefused
	}
	// spec:cloudburst#challenge-echo
	// Search pages, error pages, debug pages and APIs repeat the query of a request in
	// links, fields, headings and members. That is not consent.
	shown := text
	if isHTML(contentType) || strings.HasPrefix(strings.TrimLeft(text, "\ufeff \t\r\n"), "<") {
		shown = visible(text)
	}
	alone := isOnly(text, challenge) || isOnly(shown, challenge) ||
		outsideParameter(shown, challenge) && outsideParameter(text, challenge)
	if !alone || repeats(text, feed) {
		return ErrEcho
	}
	return nil
}

// isHTML reports whether a Content-Type is that of a page. Aggregators in PHP send the bare
// challenge as text/html.
func isHTML(contentType string) bool {
	kind, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		kind, _, _ = strings.Cut(contentType, ";")
		kind = strings.ToLower(strings.TrimSpace(kind))
	}
	return kind == "text/html" || kind == "application/xhtml+xml"
}

// isOnly reports whether text is the challenge and nothing else: bare, in quotes, or as the
// only member of a JSON object.
func isOnly(text, challenge string) bool {
	if strings.Trim(text, "\ufeff \t\r\n\"'") == challenge {
		return true
	}
	var object map[string]any
	return json.Unmarshal([]byte(text), &object) == nil && len(object) == 1 && object["challenge"] == challenge
}

// visible returns the text of a page without tags, comments, scripts and styles. It may remove too
// much. Then the response is a refusal, but the aggregator can respond with text/plain instead.
func visible(page string) string {
	var b strings.Builder
	lower := lowerASCII(page) // same length as page, unlike the result of strings.ToLower
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

// nameDistance is the number of bytes before a challenge that may contain its parameter name. Quotes
// and an equals sign that were encoded several times can separate the two.
const nameDistance = 128

// outsideParameter reports whether the challenge occurs anywhere in text where it is not the value
// of a parameter. A parameter value follows the word "challenge" and any punctuation.
func outsideParameter(text, challenge string) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], challenge)
		if i < 0 {
			return false
		}
		i += from
		before := decoded(text[max(0, i-nameDistance):i])
		before = strings.TrimRightFunc(before, func(r rune) bool { return !isAlnum(r) })
		if !strings.HasSuffix(lowerASCII(before), "challenge") {
			return true
		}
		from = i + len(challenge)
	}
}

// maxCompared is the maximum number of letters and digits of a URL that are compared. It is limited
// because pages truncate long URLs.
const maxCompared = 48

// repeats reports whether text contains the URL, possibly encoded, wrapped or truncated. It
// compares letters and digits only, up to the first character of the URL that starts an
// encoding.
func repeats(text, url string) bool {
	if i := strings.IndexAny(url, `%&\`); i >= 0 {
		url = url[:i]
	}
	want := letters(url)
	return want != "" && strings.Contains(letters(decoded(text)), want[:min(len(want), maxCompared)])
}

// decoded removes percent-encoding, character references and backslashes, up to three
// layers.
func decoded(s string) string {
	for range 3 {
		was := s
		s = unescaped(html.UnescapeString(s))
		if s == was {
			break
		}
	}
	return s
}

// unescaped replaces %2f, \u002f and \x2f by the characters they encode, and removes all
// other backslashes.
func unescaped(s string) string {
	if !strings.ContainsAny(s, `%\`) {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		digits, skip := 0, 0
		switch {
		case s[i] == '%':
			digits, skip = 2, 1
		case s[i] == '\\' && i+1 < len(s) && s[i+1] == 'u':
			digits, skip = 4, 2
		case s[i] == '\\' && i+1 < len(s) && s[i+1] == 'x':
			digits, skip = 2, 2
		case s[i] == '\\':
			continue
		}
		if digits > 0 && i+skip+digits <= len(s) {
			if n, err := strconv.ParseUint(s[i+skip:i+skip+digits], 16, 16); err == nil {
				if digits == 4 {
					b = utf8.AppendRune(b, rune(n))
				} else {
					b = append(b, byte(n))
				}
				i += skip + digits - 1
				continue
			}
		}
		b = append(b, s[i])
	}
	return string(b)
}

// letters returns the ASCII letters and digits of s, in lowercase.
func letters(s string) string {
	return lowerASCII(strings.Map(func(r rune) rune {
		if isAlnum(r) {
			return r
		}
		return -1
	}, s))
}
