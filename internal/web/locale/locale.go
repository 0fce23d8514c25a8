// Package locale has the languages of the pages: it chooses one for a request, translates templates
// and texts, and writes numbers, durations and dates.
//
// English is in the templates and in the code of the pages, and its texts are the keys of the
// catalogues. Each other language has a folder with one catalogue for each package of pages, such as
// de/readerui.json. Templates are translated once, before they are parsed, so that a page in another
// language costs no more than one in English; see [Translate]. Texts of the code are [Text] values or
// constants; the templates translate them when they show them. Start with [Match] and [Locale].
package locale

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// Locale is a language of the pages. It is safe for concurrent use.
type Locale struct {
	Code    string // code of the language: "en", "de"
	Name    string // name of the language in the language itself
	words   map[string]string
	scripts map[string]any // texts for the scripts; key: English text
	printer *message.Printer
	reasons func() *reasonWriter // created on first use
	domains func() []domainText  // created on first use
}

// maxHeader is the maximum length in bytes of an Accept-Language header. A longer header is ignored.
const maxHeader = 300

// names lists the languages, the default first. Each language except
// English has a folder named after its code.
var names = [][2]string{{"en", "English"}, {"de", "Deutsch"}}

type languages struct {
	all     []*Locale
	matcher language.Matcher
}

var loaded = sync.OnceValue(func() languages {
	var l languages
	var tags []language.Tag
	for _, n := range names {
		l.all = append(l.all, load(n[0], n[1]))
		tags = append(tags, language.MustParse(n[0]))
	}
	l.matcher = language.NewMatcher(tags)
	return l
})

// All lists the languages, English first.
func All() []*Locale { return loaded().all }

// English returns the language of the keys.
func English() *Locale { return loaded().all[0] }

// Find returns the language with a code, or nil if the pages have no such language.
func Find(code string) *Locale {
	for _, l := range loaded().all {
		if l.Code == code {
			return l
		}
	}
	return nil
}

// Match returns the language for an Accept-Language header. It returns English if the header is empty or
// invalid, or names no language of the pages.
func Match(header string) *Locale {
	if header == "" || len(header) > maxHeader {
		return English()
	}
	tags, _, err := language.ParseAcceptLanguage(header)
	if err != nil || len(tags) == 0 {
		return English()
	}
	_, i, confidence := loaded().matcher.Match(tags...)
	if confidence == language.No {
		return English()
	}
	return loaded().all[i]
}

// IsEnglish reports whether l is the language of the keys. Nil is English.
func (l *Locale) IsEnglish() bool { return l == nil || l.Code == "en" }

// Of returns l, or English for nil.
func Of(l *Locale) *Locale { return cmp.Or(l, English()) }

// Words returns the translation of a constant text. Without a translation, it returns the text itself.
func (l *Locale) Words(key string) string {
	if l.IsEnglish() {
		return key
	}
	if found, ok := l.words[key]; ok {
		return found
	}
	return key
}

// Say translates a format and inserts the arguments. Numbers and plurals follow the language;
// an argument that is a Text, a duration or a number is written in the language too.
func (l *Locale) Say(key string, args ...any) string {
	if len(args) == 0 {
		return l.Words(key)
	}
	args = slices.Clone(args)
	for i, a := range args {
		args[i] = l.Value(a)
	}
	return Of(l).printer.Sprintf(key, args...)
}

// Value translates a Text or a duration to a string. It returns any other value unchanged.
func (l *Locale) Value(v any) any {
	switch v := v.(type) {
	case Text:
		return v.In(l)
	case *Text:
		return v.In(l)
	case time.Duration:
		return l.Duration(v)
	}
	return v
}

// Show is like Value for templates: it also translates constant texts.
func (l *Locale) Show(v any) any {
	if s, ok := v.(string); ok {
		return l.Words(s)
	}
	return l.Value(v)
}

// Join joins words with commas and "and".
func (l *Locale) Join(words []string) string {
	n := len(words)
	if n < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:n-1], ", ") + " " + l.Words("and") + " " + words[n-1]
}
