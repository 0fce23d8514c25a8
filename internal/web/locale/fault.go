package locale

import (
	"regexp"
	"slices"
	"strings"
)

// domainFile is the catalogue of the texts of the domains, such as errors. The domains write English, also
// for the protocols, the JSON API and the commands. A key is a text or its format.
const domainFile = "domains.json"

// domainText recognizes the texts with one format.
type domainText struct {
	pattern     *regexp.Regexp // with a group for each value
	translation string
}

var verb = regexp.MustCompile(`%(?:\.\d+)?[sqd]`)

func newDomainText(key, translation string) domainText {
	key, translation = strings.ReplaceAll(key, "%%", "%"), strings.ReplaceAll(translation, "%%", "%")
	values := map[byte]string{'s': `(.*?)`, 'q': `(".*?")`, 'd': `([\d,]+)`}
	var p strings.Builder
	from := 0
	for _, at := range verb.FindAllStringIndex(key, -1) {
		p.WriteString(regexp.QuoteMeta(key[from:at[0]]) + values[key[at[1]-1]])
		from = at[1]
	}
	return domainText{regexp.MustCompile(`^` + p.String() + regexp.QuoteMeta(key[from:]) + `$`), translation}
}

// newDomainTexts returns the texts that have values. Texts with more words of their own come first.
func newDomainTexts(all map[string]entry) (texts []domainText) {
	keys := make([]string, 0, len(all))
	for key := range all {
		if verb.MatchString(key) {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, func(a, b string) int { return len(verb.ReplaceAllString(b, "")) - len(verb.ReplaceAllString(a, "")) })
	for _, key := range keys {
		texts = append(texts, newDomainText(key, all[key].text))
	}
	return texts
}

// Fault translates an error or another text of a domain. Values stay as they are, except for lengths of
// time and for texts of the catalogues. A text that is in no catalogue stays English.
func (l *Locale) Fault(text string) string {
	if l.IsEnglish() {
		return text
	}
	if found := l.words[text]; found != "" {
		return found
	}
	for _, f := range l.domains() {
		m := f.pattern.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		values := m[1:]
		return verb.ReplaceAllStringFunc(f.translation, func(string) string {
			value := values[0]
			values = values[1:]
			if lengthPart.FindString(value) == value {
				return l.reasons().length(value)
			}
			return l.Fault(value)
		})
	}
	if first, again, ok := strings.Cut(text, " Try again in "); ok {
		return l.Fault(first) + " " + l.Fault("Try again in "+again)
	}
	if first, rest, ok := strings.Cut(text, ": "); ok && l.Fault(first) != first && l.Fault(rest) != rest {
		return l.Fault(first) + ": " + l.Fault(rest)
	}
	return text
}
