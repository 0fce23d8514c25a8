package date

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// asciiDigits returns s with the digits of all scripts as ASCII digits.
func asciiDigits(s string) string {
	return strings.Map(func(c rune) rune {
		if c >= utf8.RuneSelf && unicode.IsDigit(c) {
			for _, digits := range unicode.Nd.R16 { // each range contains the ten digits of a script, in order
				if lo, hi := rune(digits.Lo), rune(digits.Hi); lo <= c && c <= hi {
					return '0' + (c-lo)%10
				}
			}
		}
		return c
	}, s)
}
