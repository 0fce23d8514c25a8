package writecli

import (
	"cmp"
	"context"
	"fmt"
	"unicode/utf8"
)

// readText reads a text in UTF-8 from a file, or from standard input for "-".
func (p *commands) readText(ctx context.Context, name string) (string, error) {
	in, err := p.Inputs().Read(ctx, name, nil)
	if name == "-" {
		name = "standard input"
	}
	return string(in.Body), cmp.Or(err, checkText(name, string(in.Body)))
}

// checkText returns an error if one of texts is not UTF-8, because the encoders of JSON and XML
// replace such bytes without an error. name names the texts in the error.
func checkText(name string, texts ...string) error {
	for _, text := range texts {
		for i, r := range text {
			if _, size := utf8.DecodeRuneInString(text[i:]); r == utf8.RuneError && size == 1 {
				return fmt.Errorf("%s is not UTF-8 (byte 0x%02X at offset %d): convert it to UTF-8", name, text[i], i)
			}
		}
	}
	return nil
}
