package author

import (
	"strings"
	"unicode"
)

// longestName is how long a folded name may be, in bytes.
const longestName = 100

// CategoryName is a category as it stands in paths and is compared: in small letters,
// with a hyphen for whatever is neither letter, digit nor one of + # . _. It is "" for a label that has nothing
// else in it, which is no category.
func CategoryName(label string) string { return fold(label, "+#._", longestName) }

// fold keeps the letters and digits of a text, and the runes of more, with hyphens between its words.
func fold(text, more string, most int) string {
	var b strings.Builder
	gap := false
	for _, r := range strings.ToLower(text) {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && !strings.ContainsRune(more, r) {
			gap = true
			continue
		}
		if gap && b.Len() > 0 {
			b.WriteByte('-')
		}
		gap = false
		b.WriteRune(r)
	}
	s := b.String()
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "")
		if at := strings.LastIndexByte(s, '-'); at > most/2 {
			s = s[:at]
		}
	}
	return strings.Trim(s, "-.")
}
