package text

import (
	"cmp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// CompareNames compares names in the order in which people expect them in a list: without regard to
// case and accents. Names that differ only in these are compared by bytes.
func CompareNames(a, b string) int {
	return cmp.Or(strings.Compare(SortKey(a), SortKey(b)), strings.Compare(a, b))
}

// SortKey returns a title in lowercase and without accents, to sort by: "Ärzte" comes before "Zeit".
func SortKey(title string) string {
	if !strings.ContainsFunc(title, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return strings.ToLower(title)
	}
	return strings.ToLower(strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, norm.NFKD.String(title)))
}
