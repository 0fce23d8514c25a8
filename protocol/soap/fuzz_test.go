package soap

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// equal returns the differences of two values, or "" if they are equal. It ignores the names of
// types, which the writer may choose.
func equal(a, b any) string {
	return cmp.Diff(a, b, cmpopts.EquateEmpty(), cmpopts.EquateNaNs(), cmpopts.IgnoreFields(Param{}, "Type"))
}

// A call that parses can be written, and the written call parses to the same value.
func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("testdata/requests/*.xml")
	if err != nil || len(files) == 0 {
		f.Fatal("no requests to start from", err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte(in(`<a><b e:arrayType="xsd:int[1]"><c>1</c></b><d><e/><e>1</e></d></a>`)))
	f.Fuzz(func(t *testing.T, doc []byte) {
		c, err := Parse(bytes.NewReader(doc))
		if err != nil {
			var bad *SyntaxError
			if asFault(err) == nil && !errors.As(err, &bad) {
				t.Fatalf("neither a *SyntaxError nor a *Fault: %v", err)
			}
			return
		}
		if !Sniff(doc) {
			t.Fatal("Sniff does not detect it")
		}
		b, err := c.Marshal()
		if err != nil {
			t.Fatalf("%#v was read and cannot be written: %v", c, err)
		}
		// The written document can be longer, because it contains types, and shared values several
		// times.
		again, err := Decoder{MaxBytes: 256 << 20}.Call(bytes.NewReader(b))
		if err != nil {
			t.Fatalf("%s: %v", b, err)
		}
		if diff := equal(c, again); diff != "" {
			t.Fatalf("%s: %s", b, diff)
		}
		m := Method{Params: []Def{{Name: "url"}, {Name: "urls", Type: "string[]"}, {Name: "port", Type: "int"}, {Fields: []Def{{Name: "a", Type: "boolean"}}}}}
		for _, v := range m.bind(c) {
			_, _ = Strings(v)
			_, _ = Bool(v)
		}
	})
}

func FuzzParseResponse(f *testing.F) {
	fault := &Fault{Code: CodeClient, String: "no", Actor: "u:x", Detail: "more"}
	f.Add(fault.Marshal(V11))
	f.Add(fault.Marshal(V12))
	b, err := Response{Name: "aResponse", Namespace: "u:x", Params: []Param{{Name: "return", Value: true}}}.Marshal()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Fuzz(func(t *testing.T, doc []byte) {
		r, err := ParseResponse(bytes.NewReader(doc))
		if fault := asFault(err); fault != nil {
			// A received fault code may be invalid. Marshal makes it valid; marshalling again must
			// not change it.
			_, err = ParseResponse(bytes.NewReader(fault.Marshal(r.Version)))
			once := asFault(err)
			if once == nil {
				t.Fatal(err)
			}
			_, err = ParseResponse(bytes.NewReader(once.Marshal(r.Version)))
			if diff := cmp.Diff(error(once), err); diff != "" || once.String != fault.String || once.Detail != fault.Detail {
				t.Fatalf("%+v became %+v: %s", fault, once, diff)
			}
			return
		}
		if err != nil {
			return
		}
		b, err := r.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		again, err := Decoder{MaxBytes: 256 << 20}.Response(bytes.NewReader(b))
		if err != nil {
			t.Fatalf("%s: %v", b, err)
		}
		if diff := equal(r, again); diff != "" {
			t.Fatal(diff)
		}
	})
}
