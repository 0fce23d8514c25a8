package locale

import (
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"sync"

	"golang.org/x/text/feature/plural"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
	"golang.org/x/text/message/catalog"
)

//go:embed de
var files embed.FS

// entry is the translation of one key: a text, or a text for each plural form of the first argument.
type entry struct {
	text  string
	forms map[string]string // key: name of the plural form, "one" or "other"
}

func (e *entry) UnmarshalJSON(b []byte) error {
	if b[0] == '"' {
		return json.Unmarshal(b, &e.text)
	}
	return json.Unmarshal(b, &e.forms)
}

// catalogueOf reads the catalogue of one package of pages.
func catalogueOf(name string) (map[string]entry, error) {
	b, err := files.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var all map[string]entry
	if err := json.Unmarshal(b, &all); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return all, nil
}

// load reads the embedded catalogues of a language. A test loads all catalogues, so an error is a bug.
// The texts of a catalogue with an error stay English.
func load(code, name string) *Locale {
	tag := language.MustParse(code)
	l := &Locale{Code: code, Name: name, words: map[string]string{}, scripts: map[string]any{}}
	builder := catalog.NewBuilder(catalog.Fallback(language.English))
	l.domains = sync.OnceValue(func() []domainText {
		all, _ := catalogueOf(code + "/" + domainFile)
		return newDomainTexts(all)
	})
	list, _ := files.ReadDir(code) // English has no folder
	for _, f := range list {
		all, _ := catalogueOf(code + "/" + f.Name())
		for key, e := range all {
			if rest, ok := strings.CutPrefix(key, "js: "); ok {
				l.scripts[rest] = e.any()
				continue
			}
			l.words[key] = e.text
			if strings.Contains(key, "%") && !strings.ContainsAny(key, "{<") { // the key is a format in the code, not a text in a template
				_ = builder.Set(tag, key, e.messages()...)
			}
		}
	}
	l.printer = message.NewPrinter(tag, message.Catalog(builder))
	l.reasons = sync.OnceValue(func() *reasonWriter { return newReasonWriter(l) })
	return l
}

// any returns the entry as a value for JSON: a string, or a map with a text for each plural form.
func (e entry) any() any {
	if e.forms != nil {
		return e.forms
	}
	return e.text
}

// messages returns the entry in the form that package message needs.
func (e entry) messages() []catalog.Message {
	if e.forms == nil {
		return []catalog.Message{catalog.String(e.text)}
	}
	var cases []any
	for _, form := range []string{"zero", "one", "two", "few", "many", "other"} {
		if text, ok := e.forms[form]; ok {
			cases = append(cases, form, text)
		}
	}
	return []catalog.Message{plural.Selectf(1, "%d", cases...)}
}

// Hash writes all catalogues to w.
func Hash(w io.Writer) {
	_ = fs.WalkDir(files, ".", func(path string, d fs.DirEntry, _ error) error { // the files are embedded, so reading cannot fail
		if !d.IsDir() {
			b, _ := files.ReadFile(path)
			_, _ = w.Write(b)
		}
		return nil
	})
}

// Scripts returns the texts for the scripts. Key: English text; value: the translation, a string or a map
// of plural forms. In the catalogues, the keys of these texts begin with "js: ".
func (l *Locale) Scripts() map[string]any { return l.scripts }
