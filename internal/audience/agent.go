package audience

import (
	"strings"
	"unicode/utf8"
)

// Kind says how a reader is counted.
type Kind string

// Kinds of readers.
const (
	Service Kind = "service" // reads for many and says for how many
	Program Kind = "program" // reads for whoever runs it
	Browser Kind = "browser" // somebody looked
	Robot   Kind = "robot"   // search engines, validators, monitors
	Secret  Kind = "secret"  // opened a private feed
)

// Agent is what a User-Agent says about the program that reads.
type Agent struct {
	Name        string // without its version; at most 60 bytes; "" when it does not say
	Kind        Kind   // Service, Program, Browser or Robot
	Subscribers int64  // that a Service says it reads for
	FeedID      string // by which a Service tells apart what it reads; "" when it does not
}

const (
	agentLongest = 512        // bytes of a User-Agent that are looked at
	nameLongest  = 60         // bytes
	maxClaimed   = 50_000_000 // more subscribers than this nobody is believed
)

// ParseAgent reads a User-Agent. The forms in which services say their number are
// many: "500 subscribers", "1 subscriber", "1,204 readers", "users 12",
// "subscribers=7". What says none is a program, a browser or a robot.
//
// spec:feedstate-2007#user-agent
func ParseAgent(ua string) Agent {
	if len(ua) > agentLongest {
		ua = ua[:agentLongest]
	}
	ua = strings.ToValidUTF8(strings.TrimSpace(ua), "")
	low := strings.ToLower(ua)
	a := Agent{Name: agentName(ua), Kind: Program}
	if n, ok := claimed(low); ok {
		a.Kind, a.Subscribers, a.FeedID = Service, n, feedID(low)
		return a
	}
	reads := containsAny(low, "rss", "feed", "reader", "podcast", "news", "thunderbird", "aggregator")
	switch {
	case !reads && containsAny(low, "bot", "crawl", "spider", "slurp", "validator", "monitor", "preview", "archiver"),
		containsAny(low, "googlebot", "bingbot", "feedvalidator", "w3c_validator"):
		a.Kind = Robot
	case !reads && strings.HasPrefix(low, "mozilla/") && containsAny(low, "firefox/", "chrome/", "safari/", "gecko/", "trident/"):
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

// claimed is the number of people that a program says it reads for.
func claimed(low string) (int64, bool) {
	for _, form := range []struct {
		word   string
		before bool // "12 word"
		after  string
	}{
		{"subscribers", true, ":= "}, {"subscriber(s)", true, ":="}, {"subscriber", true, ":="},
		{"readers", true, ":="}, {"users", true, ":= "}, {"followers", true, ":="},
	} {
		for at := 0; ; {
			i := strings.Index(low[at:], form.word)
			if i < 0 {
				break
			}
			i += at
			at = i + len(form.word)
			if i > 0 && letter(low[i-1]) || at < len(low) && letter(low[at]) {
				continue
			}
			if form.before {
				if n, ok := numberBefore(low[:i]); ok {
					return n, true
				}
			}
			if n, ok := numberAfter(low[at:], form.after); ok {
				return n, true
			}
		}
	}
	return 0, false
}

func letter(c byte) bool { return c >= 'a' && c <= 'z' }
func digit(c byte) bool  { return c >= '0' && c <= '9' }

// numberBefore is the number at the end of s, its thousands parted or not.
func numberBefore(s string) (int64, bool) {
	s = strings.TrimRight(s, " \t")
	start := len(s)
	for start > 0 && (digit(s[start-1]) || start > 1 && start < len(s) && strings.IndexByte(",.'", s[start-1]) >= 0 && digit(s[start-2]) && thousands(s[start:])) {
		start--
	}
	if start > 0 && (letter(s[start-1]) || strings.IndexByte("./-", s[start-1]) >= 0) {
		return 0, false // part of a version or a name
	}
	return number(s[start:])
}

// thousands reports that s begins with three digits and then the end or the next three.
func thousands(s string) bool {
	if len(s) < 3 || !digit(s[0]) || !digit(s[1]) || !digit(s[2]) {
		return false
	}
	return len(s) == 3 || !digit(s[3])
}

// numberAfter is the number at the beginning of s, behind a separator.
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
	for end < len(rest) && digit(rest[end]) {
		end++
	}
	if end < len(rest) && (letter(rest[end]) || rest[end] == '.') {
		return 0, false
	}
	return number(rest[:end])
}

func number(s string) (int64, bool) {
	n, any := int64(0), false
	for i := range len(s) {
		if !digit(s[i]) {
			continue
		}
		any = true
		if n = n*10 + int64(s[i]-'0'); n > maxClaimed {
			return 0, false
		}
	}
	return n, any
}

// feedID is the mark by which a service tells its copies of a feed apart.
func feedID(low string) string {
	for _, word := range []string{"feed-id", "feedid", "feed id"} {
		_, rest, ok := strings.Cut(low, word)
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
		return rest[:min(end, nameLongest)]
	}
	return ""
}

// agentName is what the program calls itself: the word before its version, or the
// first thing that "compatible" stands before.
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
	for len(name) > nameLongest {
		_, size := utf8.DecodeLastRuneInString(name)
		name = name[:len(name)-size]
	}
	return withoutNumber(name)
}

// lastProduct is the name that a browser has among all that it claims to be.
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

// withoutNumber takes the version away that stands behind a name.
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
