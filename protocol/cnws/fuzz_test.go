package cnws

import (
	"bytes"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A document that parses can be written, and the written document parses to the same value,
// except that a long title is cut.
func FuzzParse(f *testing.F) {
	for _, doc := range []string{
		subscribeDoc, changeDoc, resultDoc, foreignDoc,
		wrap(`<resourceChange><resourceID>http://a/</resourceID><x xmlns="" b="1"> t<y xmlns="u:1" xml:lang="en"/>u<notification xmlns="` + Namespace + `"/></x></resourceChange>`),
		wrap(`<result><status>1</status></result><result/>`),
	} {
		f.Add([]byte(doc))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		d, err := Parse(bytes.NewReader(doc))
		if err != nil {
			_, syntax := errors.AsType[*SyntaxError](err)
			_, field := errors.AsType[*FieldError](err)
			if !syntax && !field {
				t.Fatalf("neither a *SyntaxError nor a *FieldError: %v", err)
			}
			if d != (Document{}) {
				t.Fatalf("a document was returned with %v", err)
			}
			return
		}
		b, err := d.Marshal()
		if err != nil {
			t.Fatalf("%+v was read and cannot be written: %v", d, err)
		}
		// References and prefixes make the document longer.
		again, err := Decoder{MaxBytes: 64 << 20}.Document(bytes.NewReader(b))
		if err != nil {
			t.Fatalf("%s: %v", b, err)
		}
		switch {
		case d.Change != nil:
			d.Change.Title = CutTitle(d.Change.Title)
		case d.Result != nil:
			d.Result.Title = CutTitle(d.Result.Title)
		}
		if diff := cmp.Diff(d, again); diff != "" {
			t.Fatalf("%s\n%s", b, diff)
		}
	})
}
