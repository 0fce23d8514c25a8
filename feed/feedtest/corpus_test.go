package feedtest

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"io"
	"testing"
	"unicode/utf8"
)

func TestCorpusHasTheDocumentedSizesAndEncodings(t *testing.T) {
	t.Parallel()
	docs := Corpus(1)
	total, crlf, latin1, foreign := 0, 0, 0, 0
	names := map[string]bool{}
	for _, d := range docs {
		total += len(d.Body)
		if names[d.Name] {
			t.Errorf("two are named %s", d.Name)
		}
		names[d.Name] = true
		if n := len(d.Body); n < 3e3 || n > 2.3e6 {
			t.Errorf("%s has %d bytes", d.Name, n)
		}
		if bytes.Contains(d.Body, []byte("\r\n")) {
			crlf++
		}
		if d.Latin1 {
			latin1++
		} else if !utf8.Valid(d.Body) {
			t.Errorf("%s is not UTF-8", d.Name)
		}
		if !bytes.Contains(d.Body, []byte(`"en"`)) && !bytes.Contains(d.Body, []byte(">en<")) {
			foreign++
		}
		if err := wellFormed(d); err != nil {
			t.Errorf("%s: %v", d.Name, err)
		}
	}
	if len(docs) != 63 || total < 12e6 || total > 16e6 {
		t.Errorf("%d documents of %d bytes", len(docs), total)
	}
	if crlf < 2 || latin1 < 1 || latin1 > 4 || foreign < 10 {
		t.Errorf("%d with CRLF, %d in Latin-1, %d not in English", crlf, latin1, foreign)
	}
}

// wellFormed parses a document with the strict parsers of the standard library.
func wellFormed(d Document) error {
	if d.Kind == JSON {
		var v any
		return json.Unmarshal(d.Body, &v)
	}
	dec := xml.NewDecoder(bytes.NewReader(d.Body))
	dec.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) {
		b, err := io.ReadAll(r)
		var out []byte
		for _, c := range b {
			out = utf8.AppendRune(out, rune(c))
		}
		return bytes.NewReader(out), err
	}
	for {
		if _, err := dec.Token(); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}

func TestSameSeedProducesTheSameDocuments(t *testing.T) {
	t.Parallel()
	for _, kind := range Kinds() {
		a, b, c := Make(kind, 30e3, 7), Make(kind, 30e3, 7), Make(kind, 30e3, 8)
		if !bytes.Equal(a.Body, b.Body) || bytes.Equal(a.Body, c.Body) {
			t.Errorf("%s: the bytes do not depend on the seed alone", kind)
		}
	}
}
