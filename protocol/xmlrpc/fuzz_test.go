package xmlrpc

import (
	"bytes"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// A call that parses can be written, and the written call parses to the same value.
func FuzzParseCall(f *testing.F) {
	f.Add([]byte(call("<value><i4>1</i4></value>")))
	f.Add([]byte(call("<value><struct><member><name>a</name><value><array><data><value/></data></array></value></member></struct></value>")))
	f.Add([]byte(call("<value><dateTime.iso8601>19980717T14:08:55+01:00</dateTime.iso8601></value>")))
	f.Add([]byte(call("<value><base64>eW91</base64></value></param><param><value><ex:nil/></value>")))
	f.Add([]byte(call("<value><double>-1.5e10</double></value></param><param><value><boolean>0</boolean></value>")))
	f.Fuzz(func(t *testing.T, doc []byte) {
		c, err := ParseCall(bytes.NewReader(doc))
		if err != nil {
			var bad *SyntaxError
			if !errors.As(err, &bad) || bad.Line < 1 {
				t.Fatalf("not a *SyntaxError: %v", err)
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
		// A document that was in UTF-16 or had empty-element tags is longer after writing.
		again, err := Decoder{MaxBytes: 64 << 20}.Call(bytes.NewReader(b))
		if err != nil {
			t.Fatalf("%s: %v", b, err)
		}
		if diff := cmp.Diff(c, again, cmpopts.EquateEmpty()); diff != "" {
			t.Fatal(diff)
		}
		for _, v := range c.Params {
			_, _ = String(v)
			_, _ = Int(v)
			_, _ = Bool(v)
			_, _ = Strings(v)
		}
	})
}

func FuzzParseResponse(f *testing.F) {
	b, err := MarshalResponse([]any{"a", 1, map[string]any{"b": nil}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add(MarshalFault(&Fault{Code: 4, String: "no"}))
	f.Fuzz(func(t *testing.T, doc []byte) {
		v, err := ParseResponse(bytes.NewReader(doc))
		var b []byte
		var fault, fault2 *Fault
		switch {
		case errors.As(err, &fault):
			b = MarshalFault(fault)
		case err != nil:
			return
		default:
			if b, err = MarshalResponse(v); err != nil {
				t.Fatal(err)
			}
		}
		v2, err := Decoder{MaxBytes: 64 << 20}.Response(bytes.NewReader(b))
		if errors.As(err, &fault2); (fault == nil) != (fault2 == nil) || fault == nil && err != nil {
			t.Fatalf("%s: %v", b, err)
		}
		if diff := cmp.Diff([]any{v, fault}, []any{v2, fault2}); diff != "" {
			t.Fatal(diff)
		}
	})
}
