package shell

import (
	"encoding/json"
	"html/template"

	"cloudburst/internal/web/locale"
)

// scriptWords returns a block of JSON with the texts of the scripts in a language, by their English
// text. English pages have no such block, because the scripts contain the English texts.
func scriptWords(l *locale.Locale) template.HTML {
	if l.IsEnglish() {
		return ""
	}
	b, err := json.Marshal(l.Scripts()) // it escapes <, > and &
	if err != nil {
		return ""
	}
	return template.HTML(`<script type="application/json" id="words">` + string(b) + "</script>\n")
}
