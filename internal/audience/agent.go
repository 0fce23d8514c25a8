package audience

import (
	"strings"
	"unicode/utf8"
)

// Kind is the category in which a client is counted.
type Kind string

// Kinds of clients.
const (
	Service Kind = "service" // fetches for many subscribers and declares their number
	Program Kind = "program" // feed reader of one person
	Browser Kind = "browser" // web browser
	Robot   Kind = "robot"   // search engines, validators, monitors
	Secret  Kind = "secret"  // any client that opened a private feed with a secret
)

// Agent describes a client by its User-Agent.
type Agent struct {
	Name        string // name without version, at most 60 bytes; "": unknown
	Kind        Kind   // Service, Program, Browser or Robot
	Subscribers int64  // number that a Service declares
	FeedID      string // identifier by which a Service distinguishes feeds; "": none
}

const (
	maxAgentBytes = 512        // length of the parsed beginning of a User-Agent, in bytes
	maxNameBytes  = 60         // maximum length of a name, in bytes
	maxDeclared   = 50_000_000 // a larger declared number of subscribers is ignored
)

// ParseAgent parses a User-Agent. Services declare their number of subscribers in many forms: "500
// subscribers", "1 subscriber", "1,204 readers", "users 12", "subscribers=7". Without a number, the
// client is a program, a browser or a robot.
//
// spec:feedstate-2007#user-agent
func ParseAgent(ua string) Agent {
	if len(ua) > maxAgentBytes {
		ua = ua[:maxAgentBytes]
	}
	ua = strings.ToValidUTF8(strings.TrimSpace(ua), "")
	lower := strings.ToLower(ua)
	a := Agent{Name: agentName(ua), Kind: Program}
	if n, ok := declaredSubscribers(lower); ok {
		a.Kind, a.Subscribers, a.FeedID = Service, n, feedID(lower)
		return a
	}
	reads := containsAny(lower, "rss", "feed", "reader", "podcast", "news", "thunderbird", "aggregator")
	switch {
	case !reads && containsAny(lower, "bot", "crawl", "spider", "slurp", "validator", "monitor", "preview", "archiver"),
		containsAny(lower, "googlebot", "bingbot", "feedvalidator", "w3c_validator"):
		a.Kind = Robot
	case !reads && strings.HasPrefix(lower, "mozilla/") && containsAny(lower, "firefox/", "chrome/", "safari/", "gecko/", "trident/"):
		a.Kind = Browser
	}
	return a
}

func containsAny(s string, words ...string) bool {
	for _, w := range words {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}

// declaredSubscribers returns the number of subscribers that a lowercase User-Agent declares.
func declaredSubscribers(lower string) (int64, bool) {
	for _, form := range []struct {
		word   string
		before bool // the number can precede the word: "12 subscribers"
		after  string
	}{
		{"subscribers", true, ":= "}, {"subscriber(s)", true, ":="}, {"subscriber", true, ":="},
		{"readers", true, ":="}, {"users", true, ":= "}, {"followers", true, ":="},
	} {
		for at := 0; ; {
			i := strings.Index(lower[at:], form.word)
			if i < 0 {
				break
			}
			i += at
			at = i + len(form.word)
			if i > 0 && isLetter(lower[i-1]) || at < len(lower) && isLetter(lower[at]) {
				continue
			}
			if form.before {
				if n, ok := numberBefore(lower[:i]); ok {
					return n, true
				}
			}
			if n, ok := numberAfter(lower[at:], form.after); ok {
				return n, true
			}
		}
	}
	return 0, false
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }

// numberBefore returns the number at the end of s, with or without thousands separators.
func numberBefore(s string) (int64, bool) {
	s = strings.TrimRight(s, " \t")
	start := len(s)
	for start > 0 && (isDigit(s[start-1]) || start > 1 && start < len(s) && strings.IndexByte(",.'", s[start-1]) >= 0 && isDigit(s[start-2]) && thousands(s[start:])) {
		start--
	}
	if start > 0 && (isLetter(s[start-1]) || strings.IndexByte("./-", s[start-1]) >= 0) {
		return 0, false // the number belongs to a version or a name
	}
	return number(s[start:])
}

// thousands reports whether s begins with exactly three digits.
func thousands(s string) bool {
	if len(s) < 3 || !isDigit(s[0]) || !isDigit(s[1]) || !isDigit(s[2]) {
		return false
	}
	return len(s) == 3 || !isDigit(s[3])
}

// numberAfter returns the number at the beginning of s, after one of the separators.
func numberAfter(s, separators string) (int64, bool) {
	rest := strings.TrimLeft(s, " ")
	switch {
	case rest == "":
		return 0, false
	case strings.IndexByte(separators, rest[0]) >= 0:
		rest = strings.TrimLeft(rest[1:], " ")
	case len(rest) == len(s) || strings.IndexByte(separators, ' ') < 0:
		return 0, false
	}
	end := 0
	for end < len(rest) && isDigit(rest[end]) {
		end++
	}
	if end < len(rest) && (isLetter(rest[end]) || rest[end] == '.') {
		return 0, false
	}
	return number(rest[:end])
}

func number(s string) (int64, bool) {
	n, found := int64(0), false
	for i := range len(s) {
		if !isDigit(s[i]) {
			continue
		}
		found = true
		if n = n*10 + int64(s[i]-'0'); n > maxDeclared {
			return 0, false
		}
	}
	return n, found
}

// feedID returns the identifier in a User-Agent by which a service distinguishes its copies of a
// feed.
func feedID(lower string) string {
	for _, word := range []string{"feed-id", "feedid", "feed id"} {
		_, rest, ok := strings.Cut(lower, word)
		if !ok {
			continue
		}
		rest = strings.TrimLeft(rest, ":= ")
		end := strings.IndexFunc(rest, func(r rune) bool {
			return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '_')
		})
		if end < 0 {
			end = len(rest)
		}
		return rest[:min(end, maxNameBytes)]
	}
	return ""
}

// agentName returns the program's name: the word before the version, or the first word after
// "compatible".
func agentName(ua string) string {
	name := ua
	if rest, ok := strings.CutPrefix(ua, "Mozilla/"); ok {
		_, rest, _ = strings.Cut(rest, " ")
		if inner, ok := strings.CutPrefix(rest, "(compatible;"); ok {
			name = strings.TrimSpace(inner)
		} else if i := strings.LastIndexByte(rest, ')'); i >= 0 && strings.TrimSpace(rest[i+1:]) != "" {
			name = lastProduct(rest[i+1:])
		}
	}
	if i := strings.IndexAny(name, "/;(),"); i > 0 {
		name = name[:i]
	}
	for _, end := range []string{" - ", " feed-id", " http", " +http"} {
		name, _, _ = strings.Cut(name, end)
	}
	name = strings.Trim(strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, name), " .")
	for len(name) > maxNameBytes {
		_, size := utf8.DecodeLastRuneInString(name)
		name = name[:len(name)-size]
	}
	return withoutNumber(name)
}

// lastProduct returns the most specific product name of a browser.
func lastProduct(s string) string {
	best := ""
	for word := range strings.FieldsSeq(s) {
		name, _, _ := strings.Cut(word, "/")
		switch name {
		case "Gecko", "Version", "Mobile":
		case "Safari":
			if best == "" {
				best = name
			}
		default:
			best = name
		}
	}
	return best
}

// withoutNumber removes a version at the end of a name.
func withoutNumber(name string) string {
	i := strings.LastIndexByte(name, ' ')
	if i <= 0 {
		return name
	}
	last := strings.TrimPrefix(strings.ToLower(name[i+1:]), "v")
	if last == "" || strings.Trim(last, "0123456789.") != "" {
		return name
	}
	return name[:i]
}
