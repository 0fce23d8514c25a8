package render

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"strings"
	"testing"
)

// stripes parses an RSS 1.0 document as RDF does, and reports elements that are not allowed.
// It follows the grammar of RDF/XML, in which resources (nodeElement) and properties
// (propertyElt) alternate.
func stripes(doc []byte) error {
	d := xml.NewDecoder(bytes.NewReader(doc))
	for {
		token, err := d.Token()
		if err != nil {
			return err
		}
		if start, ok := token.(xml.StartElement); ok {
			if start.Name != (xml.Name{Space: rdfSpace, Local: "RDF"}) {
				return fmt.Errorf("the root is %s", start.Name.Local)
			}
			return things(d, "rdf:RDF")
		}
	}
}

// things reads the resources in an element up to its end. Text between them is an error.
func things(d *xml.Decoder, path string) error {
	for {
		token, err := d.Token()
		if err != nil {
			return err
		}
		switch token := token.(type) {
		case xml.StartElement:
			if err := properties(d, path+"/"+token.Name.Local); err != nil {
				return err
			}
		case xml.CharData:
			if len(bytes.TrimSpace(token)) > 0 {
				return fmt.Errorf("%s: text between resources: %q", path, token)
			}
		case xml.EndElement:
			return nil
		}
	}
}

// properties reads the properties of a resource up to its end.
func properties(d *xml.Decoder, path string) error {
	for {
		token, err := d.Token()
		if err != nil {
			return err
		}
		switch token := token.(type) {
		case xml.StartElement:
			if err := oneProperty(d, token, path+"/"+token.Name.Local); err != nil {
				return err
			}
		case xml.CharData:
			if len(bytes.TrimSpace(token)) > 0 {
				return fmt.Errorf("%s: text between properties: %q", path, token)
			}
		case xml.EndElement:
			return nil
		}
	}
}

func oneProperty(d *xml.Decoder, start xml.StartElement, path string) error {
	if start.Name.Space == "" {
		return fmt.Errorf("%s: a property without a namespace", path)
	}
	kind, attrs := "", 0
	for _, a := range start.Attr {
		switch {
		case a.Name == xml.Name{Space: rdfSpace, Local: "parseType"}:
			kind = a.Value
		case a.Name.Space == "xmlns" || a.Name.Local == "xmlns" || a.Name.Space == "http://www.w3.org/XML/1998/namespace":
		case a.Name.Space == "" && (a.Name.Local == "ID" || a.Name.Local == "about" || a.Name.Local == "parseType" || a.Name.Local == "bagID"):
			return fmt.Errorf("%s: the attribute %s means something to RDF", path, a.Name.Local)
		default:
			attrs++
		}
	}
	switch {
	case kind != "" && attrs > 0:
		return fmt.Errorf("%s: attributes next to parseType", path)
	case kind == "Literal":
		return d.Skip()
	case kind == "Resource":
		return properties(d, path)
	}
	text, inside := false, 0
	for {
		token, err := d.Token()
		if err != nil {
			return err
		}
		switch token := token.(type) {
		case xml.StartElement:
			if inside++; inside > 1 || text || attrs > 0 {
				return fmt.Errorf("%s: %s is a second resource, or is next to text or attributes", path, token.Name.Local)
			}
			if err := properties(d, path+"/"+token.Name.Local); err != nil {
				return err
			}
		case xml.CharData:
			if text = text || len(bytes.TrimSpace(token)) > 0; text && inside > 0 {
				return fmt.Errorf("%s: text next to a resource", path)
			}
		case xml.EndElement:
			return nil
		}
	}
}

func TestRSS10DocumentIsValidRDF(t *testing.T) {
	t.Parallel()
	for name, f := range corpus(t) {
		if err := stripes(written(t, f, "rdf")); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for seed := range uint64(200) {
		if err := stripes(written(t, randomFeed(seed), "rdf")); err != nil {
			t.Errorf("random %d: %v", seed, err)
		}
	}
}

func TestNestedElementsAreConvertedForRDF(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ in, want string }{
		"a file with a title": {`<media:content url="http://h.example/a.png"><media:title>A</media:title></media:content>`,
			`<media:content url="http://h.example/a.png"/>` + "\n    " + `<media:title type="plain">A</media:title>`},
		"without attributes": {`<x:a><x:b>1</x:b><x:c d="2"/></x:a>`, `<x:a xmlns:x="urn:x" rdf:parseType="Resource"><x:b>1</x:b><x:c d="2"/></x:a>`},
		"without, twice": {`<x:a><x:b><x:c>1</x:c><x:d/></x:b><x:e/></x:a>`,
			`<x:a xmlns:x="urn:x" rdf:parseType="Resource"><x:b rdf:parseType="Resource"><x:c>1</x:c><x:d/></x:b><x:e/></x:a>`},
		"text between elements":   {`<x:a>1 <x:b/> 2</x:a>`, `<x:a xmlns:x="urn:x" rdf:parseType="Literal">1 <x:b/> 2</x:a>`},
		"attributes and elements": {`<x:a b="1"><x:c/></x:a>`, `<ext:xml xmlns:ext="urn:x-cloudburst:extension" rdf:parseType="Literal"><x:a xmlns:x="urn:x" b="1"><x:c/></x:a></ext:xml>`},
		"attributes further within": {`<x:a><x:b c="1"><x:d/></x:b><x:e/></x:a>`,
			`<x:a xmlns:x="urn:x" rdf:parseType="Literal"><x:b c="1"><x:d/></x:b><x:e/></x:a>`},
		"an attribute of RDF": {`<x:a ID="no name"/>`, `<ext:xml xmlns:ext="urn:x-cloudburst:extension" rdf:parseType="Literal"><x:a xmlns:x="urn:x" ID="no name"/></ext:xml>`},
		"already striped":     {`<x:a><x:Thing b="1"><x:c/><x:d>2</x:d></x:Thing></x:a>`, `<x:a xmlns:x="urn:x"><x:Thing b="1"><x:c/><x:d>2</x:d></x:Thing></x:a>`},
		"a leaf":              {`<x:a b="1">2</x:a>`, `<x:a xmlns:x="urn:x" b="1">2</x:a>`},
	} {
		doc := `<rss version="2.0" xmlns:x="urn:x" xmlns:media="http://search.yahoo.com/mrss/"><channel><title>C</title><link>http://h.example/</link><item>` +
			`<link>http://h.example/1</link><title>I</title>` + c.in + `</item></channel></rss>`
		f := reread(t, []byte(doc))
		out := written(t, f, "rdf")
		if !strings.Contains(string(out), c.want) {
			t.Errorf("%s: %s is missing in\n%s", name, c.want, out)
		}
		if err := stripes(out); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if name == "a file with a title" {
			continue
		}
		if again := reread(t, out); len(again.Items[0].Unknown) != 1 || meaning(&again.Items[0].Unknown[0]) != meaning(&f.Items[0].Unknown[0]) {
			t.Errorf("%s is parsed as %+v", name, again.Items[0].Unknown)
		}
	}
}

func TestRDFCheckDetectsInvalidNesting(t *testing.T) {
	t.Parallel()
	const head = `<rdf:RDF xmlns="http://purl.org/rss/1.0/" xmlns:x="urn:x" xmlns:rdf="` + rdfSpace + `"><item rdf:about="u">`
	for in, want := range map[string]bool{
		`<x:a b="1"><x:c/></x:a>`:                          false,
		`<x:a><x:b/><x:c/></x:a>`:                          false,
		`<x:a>text<x:b/></x:a>`:                            false,
		`<x:a><x:b>text</x:b></x:a>`:                       false,
		`<x:a rdf:parseType="Resource" b="1"/>`:            false,
		`<x:a rdf:parseType="Resource"><x:b/><x:c/></x:a>`: true,
		`<x:a><x:B><x:c/></x:B></x:a>`:                     true,
	} {
		if err := stripes([]byte(head + in + `</item></rdf:RDF>`)); (err == nil) != want {
			t.Errorf("%s: %v", in, err)
		}
	}
}
