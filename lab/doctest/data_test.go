package doctest

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
	"go.yaml.in/yaml/v3"
)

// read fails the test if the content of the block cannot be parsed as its kind.
func (b block) read(t *testing.T) {
	t.Helper()
	var err error
	switch b.kind {
	case "xml":
		err = wellFormed(b.text)
	case "json":
		err = wholeJSON(b.text)
	case "toml":
		_, err = toml.Decode(b.text, &map[string]any{})
	case "yaml":
		err = yaml.Unmarshal([]byte(b.text), &map[string]any{})
	}
	if err != nil {
		t.Errorf("%s:%d is not valid %s: %v\n%s", b.page, b.line, b.kind, err, b.text)
	}
}

// wellFormed returns an error if text is not a well-formed XML document or fragment.
func wellFormed(text string) error {
	d := xml.NewDecoder(strings.NewReader(text))
	for depth := 0; ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch token := token.(type) {
		case xml.StartElement:
			depth++
		case xml.EndElement:
			depth--
		case xml.CharData:
			if depth == 0 && strings.TrimSpace(string(token)) != "" {
				return errors.New("text outside of all elements")
			}
		}
	}
}

// wholeJSON returns an error if text is not a sequence of JSON values. Each value must begin on a
// new line.
func wholeJSON(text string) error {
	d := json.NewDecoder(strings.NewReader(text))
	for {
		var value any
		err := d.Decode(&value)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
