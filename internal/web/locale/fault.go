package locale

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"time"
)

// domainFile is the catalogue of the texts of the domains, such as errors. The domains write English, also
// for the protocols, the JSON API and the commands. A key is a text or its format.
const domainFile = "domains.json"

// domainText recognizes the texts with one format.
type domainText struct {
	start, end  string         // the text begins and ends with these words
	pattern     *regexp.Regexp // with a group for each value
	translation string
}

var verb = regexp.MustCompile(`%(?:\.\d+)?[sqd]`)

func newDomainText(key, translation string) domainText {
	key, translation = strings.ReplaceAll(key, "%%", "%"), strings.ReplaceAll(translation, "%%", "%")
	values := map[byte]string{'s': `(.*?)`, 'q': `(".*?")`, 'd': `([\d,]+)`}
	d := domainText{start: key, translation: translation}
	var p strings.Builder
	from := 0
	for _, at := range verb.FindAllStringIndex(key, -1) {
		if from == 0 {
			d.start = key[:at[0]]
		}
		p.WriteString(regexp.QuoteMeta(key[from:at[0]]) + values[key[at[1]-1]])
		from = at[1]
	}
	d.end = key[from:]
	groups := p.String()
	if short, ok := strings.CutSuffix(groups, `(.*?)`); ok && d.end == "." && len(verb.ReplaceAllString(key, "")) < 16 {
		groups = short + `((?:[^.]|\.\S)*)` // "The callback %s." is one sentence
	}
	d.pattern = regexp.MustCompile(`^` + groups + regexp.QuoteMeta(d.end) + `$`)
	return d
}

// newDomainTexts returns the texts that have values or a percent sign. Texts that begin with a value come
// last, because another text can be this value. Otherwise, texts with more words of their own come first.
func newDomainTexts(all map[string]entry) (texts []domainText) {
	keys := make([]string, 0, len(all))
	for key := range all {
		if verb.MatchString(key) || strings.Contains(key, "%%") {
			keys = append(keys, key)
		}
	}
	rank := func(key string) int {
		if n := len(verb.ReplaceAllString(key, "")); key[0] == '%' {
			return n - 1000
		} else {
			return n
		}
	}
	slices.SortFunc(keys, func(a, b string) int { return rank(b) - rank(a) })
	for _, key := range keys {
		texts = append(texts, newDomainText(key, all[key].text))
	}
	return texts
}

// values returns the values in text, or nil if text has another format.
func (d domainText) values(text string) []string {
	if !strings.HasPrefix(text, d.start) || !strings.HasSuffix(text, d.end) { // most texts, without the cost of the pattern
		return nil
	}
	return d.pattern.FindStringSubmatch(text)
}

// Fault translates an error or another text of a domain. Values stay as they are, except for lengths of
// time, times and texts of the catalogues. A text that is in no catalogue stays English.
func (l *Locale) Fault(text string) string {
	if l.IsEnglish() {
		return text
	}
	return l.fault(text, 5)
}

// fault translates a text with at most depth levels of texts in it, because others write parts of some texts.
func (l *Locale) fault(text string, depth int) string {
	if found := l.words[text]; found != "" || depth == 0 {
		return cmp.Or(found, text)
	}
	for _, f := range l.domains() {
		m := f.values(text)
		if m == nil {
			continue
		}
		values := m[1:]
		return verb.ReplaceAllStringFunc(f.translation, func(string) string {
			value := values[0]
			values = values[1:]
			return l.faultValue(value, depth-1)
		})
	}
	if first, again, ok := strings.Cut(text, " Try again in "); ok {
		return l.fault(first, depth-1) + " " + l.fault("Try again in "+again, depth-1)
	}
	for _, between := range []string{": ", ". ", " "} {
		if found := l.faultParts(text, between, depth-1); found != "" {
			return found
		}
	}
	return text
}

// faultParts translates a text with two parts that are texts, or with a name or a URL as its first part.
// It returns "" if it cannot.
func (l *Locale) faultParts(text, between string, depth int) string {
	first, rest, ok := strings.Cut(text, between)
	if !ok {
		return ""
	}
	switch between {
	case ". ": // each part is a sentence
		first, between = first+".", " "
	case " ": // "http://a.example/ is longer than 2048 bytes."
		if clause, stop := strings.CutSuffix(rest, "."); stop && strings.Contains(first, "://") {
			if found := l.fault(clause, depth); found != clause {
				return first + " " + found + "."
			}
		}
		return ""
	}
	translated := l.fault(first, depth)
	if translated == first && !strings.HasSuffix(first, ")") { // "hub.example.org (websub)" is a name
		return ""
	}
	if found := l.fault(rest, depth); found != rest {
		return translated + between + found
	}
	return ""
}

// faultTimes lists the layouts of the times in texts of the domains.
var faultTimes = []string{"15:04 on 2 January", "15:04:05 on 2 January", "15:04 on 2 January 2006"}

// faultValue translates a value in a text of a domain.
func (l *Locale) faultValue(value string, depth int) string {
	if lengthPart.FindString(value) == value {
		return l.reasons().length(value)
	}
	if _, err := time.ParseDuration(value); err == nil { // "1m0s" becomes "1 min"
		value = strings.Replace(strings.Replace(value, "m0s", "m", 1), "h0m", "h", 1)
		return l.reasons().length(strings.TrimSpace(strings.NewReplacer("h", " h ", "ms", " ms ", "µs", " µs ", "m", " min ", "s", " s ").Replace(value)))
	}
	for _, layout := range faultTimes {
		if t, err := time.Parse(layout, value); err == nil {
			return l.Date(t, layout)
		}
	}
	if text := l.fault(value, depth); text != value || !strings.Contains(value, " ") {
		return text
	}
	return strings.TrimSuffix(l.fault(value+".", depth), ".") // a sentence without its full stop
}
