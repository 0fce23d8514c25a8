package xmlrpc

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files")

func call(value string) string {
	return "<?xml version=\"1.0\"?><methodCall><methodName>m</methodName><params><param>" +
		value + "</param></params></methodCall>"
}

func TestValuesOfEveryTypeAreParsed(t *testing.T) {
	t.Parallel()
	when := time.Date(1998, 7, 17, 14, 8, 55, 0, time.UTC)
	for in, want := range map[string]any{
		"<value><i4>-12</i4></value>":                  int64(-12),
		"<value><int>+7</int></value>":                 int64(7),
		"<value>\n  <int>\n 7 </int>\n</value>":        int64(7),
		"<value><int>5000000000</int></value>":         int64(5000000000),
		"<value><i8>-9223372036854775808</i8></value>": int64(math.MinInt64),
		"<value><ex:i8 xmlns:ex='http://ws.apache.org/xmlrpc/namespaces/extensions'>1</ex:i8></value>": int64(1),
		"<value><i1>1</i1></value>":                                                              int64(1),
		"<value><boolean>1</boolean></value>":                                                    true,
		"<value><boolean> false </boolean></value>":                                              false,
		"<value><boolean>True</boolean></value>":                                                 true,
		"<value><string>a &lt;b&gt; &amp; é\n</string></value>":                                  "a <b> & é\n",
		"<value> untyped &#233; </value>":                                                        " untyped é ",
		"<value><![CDATA[<x>]]></value>":                                                         "<x>",
		"<value/>":                                                                               "",
		"<value></value>":                                                                        "",
		"<value><string/></value>":                                                               "",
		"<value><double>-1.5</double></value>":                                                   -1.5,
		"<value><double>1e3</double></value>":                                                    1000.0,
		"<value><double>1</double></value>":                                                      1.0,
		"<value><dateTime.iso8601>19980717T14:08:55</dateTime.iso8601></value>":                  when,
		"<value><dateTime.iso8601>1998-07-17T14:08:55Z</dateTime.iso8601></value>":               when,
		"<value><dateTime.iso8601>1998-07-17T14:08:55.123Z</dateTime.iso8601></value>":           when,
		"<value><dateTime.iso8601>1998-07-17 14:08:55</dateTime.iso8601></value>":                when,
		"<value><dateTime.iso8601>19980717T16:08:55+0200</dateTime.iso8601></value>":             when,
		"<value><dateTime.iso8601>1998-07-17T10:08:55-04:00</dateTime.iso8601></value>":          when,
		"<value><dateTime.iso8601>19980717T140855</dateTime.iso8601></value>":                    when,
		"<value><base64>eW91\n IGNhbid0</base64></value>":                                        []byte("you can't"),
		"<value><base64>YQ</base64></value>":                                                     []byte("a"),
		"<value><base64/></value>":                                                               []byte{},
		"<value><nil/></value>":                                                                  nil,
		"<value><ex:nil/></value>":                                                               nil,
		"<value><array><data/></array></value>":                                                  []any{},
		"<value><array/></value>":                                                                []any{},
		"<value><array><data><value><i4>1</i4></value>\n<value>x</value></data></array></value>": []any{int64(1), "x"},
		"<value><struct/></value>":                                                               map[string]any{},
		"<value><struct><member><name>a b</name><value>1</value></member>\n<member><value><nil/></value><name/></member></struct></value>": map[string]any{"a b": "1", "": nil},
	} {
		c, err := ParseCall(strings.NewReader(call(in)))
		if err != nil {
			t.Errorf("%s: %v", in, err)
			continue
		}
		if diff := cmp.Diff([]any{want}, c.Params); diff != "" {
			t.Errorf("%s: %s", in, diff)
		}
	}
}

func TestDocumentsOfOtherFormatsAreRejected(t *testing.T) {
	t.Parallel()
	for _, in := range []string{
		"<foo/>", "<methodResponse/>", "<methodCall/>", "<x:methodCall/>",
		"<methodCall><methodName/></methodCall>",
		"<methodCall><methodName>a b</methodName></methodCall>",
		"<methodCall><methodName><b/>a</methodName></methodCall>",
		"<methodCall><methodName>" + strings.Repeat("a", 256) + "</methodName></methodCall>",
		"<methodCall>x<methodName>a</methodName></methodCall>",
		"<methodCall><methodName>a</methodName><params/><params/></methodCall>",
		"<methodCall><methodName>a</methodName><param/></methodCall>",
		"<methodCall><params/><methodName>a</methodName></methodCall>",
		"<methodCall><methodName>a</methodName><params>x</params></methodCall>",
		"<methodCall><methodName>a</methodName><params><value/></params></methodCall>",
		"<methodCall><methodName>a</methodName><params><param/></params></methodCall>",
		"<methodCall><methodName>a</methodName><params><param><value/><value/></param></params></methodCall>",
		call("<value>1<i4>1</i4></value>"), call("<value><i4>1</i4><i4>1</i4></value>"),
		call("<value><i4/></value>"), call("<value><i4>a</i4></value>"), call("<value><i4>1.0</i4></value>"),
		call("<value><i4>1_0</i4></value>"), call("<value><i4>0x1</i4></value>"), call("<value><i4>9223372036854775808</i4></value>"),
		call("<value><i4><b/>1</i4></value>"), call("<value><string><b/></string></value>"),
		call("<value><boolean>2</boolean></value>"), call("<value><boolean/></value>"),
		call("<value><double>nan</double></value>"), call("<value><double>1e999</double></value>"),
		call("<value><double>0x1p2</double></value>"), call("<value><double>inf</double></value>"),
		call("<value><dateTime.iso8601>1998-07-17</dateTime.iso8601></value>"),
		call("<value><dateTime.iso8601>19980732T14:08:55</dateTime.iso8601></value>"),
		call("<value><dateTime.iso8601>00000101T00:00:00+0100</dateTime.iso8601></value>"),
		call("<value><dateTime.iso8601>19980717T14:08:55.x</dateTime.iso8601></value>"),
		call("<value><base64>?</base64></value>"), call("<value><base64>a</base64></value>"), call("<value><base64>YQ===</base64></value>"),
		call("<value><nil>1</nil></value>"), call("<value><date>1</date></value>"),
		call("<value><array><value/></array></value>"), call("<value><array><data><i4>1</i4></data></array></value>"),
		call("<value><array><data/><data/></array></value>"), call("<value><array><data>x</data></array></value>"), call("<value><array>x</array></value>"),
		call("<value><struct>x</struct></value>"), call("<value><struct><member><name>a</name></member></struct></value>"),
		call("<value><struct><member><name>a</name><name>b</name></member></struct></value>"),
		call("<value><struct><member><name>a</name><value/></member><member><name>a</name><value/></member></struct></value>"),
		call("<value><struct><value/></struct></value>"),
	} {
		c, err := ParseCall(strings.NewReader(in))
		var bad *SyntaxError
		if !errors.As(err, &bad) || !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: got %v, %v; want ErrInvalid", in, c, err)
		}
	}
}

func TestHostileDocumentsAreRejectedWithReason(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		doc  string
		want error
	}{
		"larger than 256 KiB": {call("<value>" + strings.Repeat("x", 256<<10) + "</value>"), ErrTooLarge},
		"nested arrays":       {call(strings.Repeat("<value><array><data>", 60) + strings.Repeat("</data></array></value>", 60)), ErrTooComplex},
		"attributes":          {"<methodCall" + attrs(300) + "/>", ErrTooComplex},
		"DOCTYPE":             {`<!DOCTYPE m [<!ENTITY a "b">]>` + "<methodCall/>", ErrDoctype},
		"encoding":            {"<?xml version='1.0' encoding='utf-7'?><methodCall/>", ErrEncoding},
		"entity":              {call("<value>&a;</value>"), nil},
		"trailing call":       {call("<value/>") + call("<value/>"), nil},
		"trailing text":       {call("<value/>") + "x", nil},
		"declaration twice":   {"<?xml version='1.0'?>" + call("<value/>"), nil},
		"control character":   {call("<value>\x00</value>"), nil},
		"not UTF-8":           {call("<value>\xff</value>"), nil},
		"cut":                 {call("<value/>")[:60], nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := ParseCall(strings.NewReader(c.doc))
			var bad *SyntaxError
			if !errors.As(err, &bad) {
				t.Fatalf("got %v", err)
			}
			if bad.Err != c.want || errors.Is(err, ErrInvalid) {
				t.Errorf("got %v, want %v", bad.Err, c.want)
			}
		})
	}
}

func attrs(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, " a%d=''", i)
	}
	return b.String()
}

func TestDeclaredEncodingIsDecoded(t *testing.T) {
	t.Parallel()
	doc := "<?xml version='1.0' encoding='ISO-8859-1'?>" + call("<value>caf\xe9</value>")[len(`<?xml version="1.0"?>`):]
	c, err := ParseCall(strings.NewReader(doc))
	if err != nil || c.Params[0] != "café" {
		t.Errorf("got %q, %v", c.Params, err)
	}
	c, err = Decoder{Charset: "iso-8859-1"}.Call(strings.NewReader(call("<value>caf\xe9</value>")))
	if err != nil || c.Params[0] != "café" {
		t.Errorf("by the transport: got %q, %v", c.Params, err)
	}
}

func TestResponseIsParsedOrReturnedAsError(t *testing.T) {
	t.Parallel()
	for doc, want := range map[string]any{
		"<methodResponse><params><param><value>x</value></param></params></methodResponse>": "x",
		"<methodResponse><params/></methodResponse>":                                        nil,
	} {
		got, err := ParseResponse(strings.NewReader(doc))
		if err != nil || got != want {
			t.Errorf("%s: got %v, %v", doc, got, err)
		}
	}
	for _, doc := range []string{
		"<methodCall/>", "<methodResponse/>", "<methodResponse><value/></methodResponse>",
		"<methodResponse><params/><fault/></methodResponse>", "<methodResponse><fault/></methodResponse>",
		"<methodResponse><fault><value>x</value></fault></methodResponse>",
		"<methodResponse><fault><value><struct/></value></fault></methodResponse>",
		"<methodResponse><params><param><value/></param><param><value/></param></params></methodResponse>",
	} {
		if v, err := ParseResponse(strings.NewReader(doc)); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: got %v, %v", doc, v, err)
		}
	}
}

func TestFaultIsReturnedAsError(t *testing.T) {
	t.Parallel()
	for _, f := range []Fault{{4, "Too many <parameters> & é."}, {-32601, ""}, {0, "\n"}} {
		_, err := ParseResponse(bytes.NewReader(MarshalFault(&f)))
		var got *Fault
		if !errors.As(err, &got) || *got != f {
			t.Errorf("got %v, want %v", err, f)
		}
	}
	_, err := ParseResponse(strings.NewReader("<methodResponse><fault><value><struct>" +
		"<member><name>faultCode</name><value>4</value></member>" +
		"<member><name>faultString</name><value>x</value></member></struct></value></fault></methodResponse>"))
	if err == nil || err.Error() != "xmlrpc: fault 4: x" {
		t.Errorf("a code without a type: got %v", err)
	}
	_, err = ParseResponse(bytes.NewReader(MarshalFault(&Fault{1, "bell \a, bad \xff"})))
	if err == nil || err.Error() != "xmlrpc: fault 1: bell \uFFFD, bad \uFFFD" {
		t.Errorf("a text that XML cannot carry: got %q", err)
	}
}

func TestMarshalMatchesSpecification(t *testing.T) {
	t.Parallel()
	type name string
	c := Call{Method: "examples.getStateName", Params: []any{
		41, int8(-1), uint32(4000000000), int64(1) << 40, true, name("South <Dakota>"), float32(0.5), 1e21, -3.0,
		time.Date(1998, 7, 17, 16, 8, 55, 999, time.FixedZone("", 7200)), []byte("you can't"), [2]byte{1, 2},
		[]string{"a", "b"}, [][]any{{1}, {}}, map[string]any{"b": nil, "a": []any{}}, map[name]int{"x": 1}, []any(nil),
	}}
	got, err := c.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "call.xml", bytes.ReplaceAll(got, []byte("<param>"), []byte("\n<param>")))
	again, err := ParseCall(bytes.NewReader(got))
	if err != nil {
		t.Fatal(err)
	}
	want := []any{
		int64(41), int64(-1), int64(4000000000), int64(1) << 40, true, "South <Dakota>", 0.5, 1e21, -3.0,
		time.Date(1998, 7, 17, 14, 8, 55, 0, time.UTC), []byte("you can't"), []byte{1, 2},
		[]any{"a", "b"}, []any{[]any{int64(1)}, []any{}}, map[string]any{"b": nil, "a": []any{}}, map[string]any{"x": int64(1)}, []any{},
	}
	if diff := cmp.Diff(want, again.Params); diff != "" {
		t.Error(diff)
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Error(diff)
	}
}

func TestMarshalRejectsInvalidValues(t *testing.T) {
	t.Parallel()
	loop := []any{nil}
	loop[0] = loop
	for name, v := range map[string]any{
		"NaN": math.NaN(), "infinity": math.Inf(1), "large": uint64(math.MaxUint64), "channel": make(chan int),
		"function": func() {}, "number as key": map[int]int{}, "escape": "\x1b", "bytes": "\xff", "key": map[string]any{"\x00": 1},
		"year": time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), "loop": loop, "inside": []any{map[string]any{"a": math.NaN()}},
	} {
		if _, err := (Call{Method: "m", Params: []any{v}}).Marshal(); !errors.Is(err, ErrValue) {
			t.Errorf("%s: got %v", name, err)
		}
		if _, err := MarshalResponse(v); !errors.Is(err, ErrValue) {
			t.Errorf("%s as a response: got %v", name, err)
		}
	}
	dst, err := Call{Method: "no spaces"}.Append([]byte("kept"))
	if !errors.Is(err, ErrValue) || string(dst) != "kept" {
		t.Errorf("got %q, %v", dst, err)
	}
	var b bytes.Buffer
	if n, err := (Call{Method: "m", Params: []any{loop}}).WriteTo(&b); n != 0 || err == nil || b.Len() != 0 {
		t.Errorf("got %d, %v, %q", n, err, &b)
	}
}

func TestMarshalAndParseHaveTheSameDepthLimit(t *testing.T) {
	t.Parallel()
	var arrays, structs any = "x", "x"
	for i := range 40 {
		arrays, structs = []any{arrays}, map[string]any{"a": structs}
		for name, v := range map[string]any{"array": arrays, "struct": structs} {
			b, err := Call{Method: "m", Params: []any{v}}.Marshal()
			if err != nil {
				if i < 30 {
					t.Fatalf("%d %ss: %v", i+1, name, err)
				}
				continue
			}
			if _, err := ParseCall(bytes.NewReader(b)); err != nil {
				t.Fatalf("%d %ss are written but not parsed: %v", i+1, name, err)
			}
		}
	}
}

func TestCallParametersAreConvertedToGoTypes(t *testing.T) {
	t.Parallel()
	type row struct {
		in   any
		want any
	}
	read := func(f func(any) (any, bool), rows []row) {
		t.Helper()
		for _, r := range rows {
			got, ok := f(r.in)
			if !ok {
				got = nil
			}
			if diff := cmp.Diff(r.want, got); diff != "" {
				t.Errorf("%#v: %s", r.in, diff)
			}
		}
	}
	read(func(v any) (any, bool) { return wrap(String(v)) }, []row{
		{"a", "a"}, {int64(80), "80"}, {[]byte("é"), "é"}, {[]byte{0xff}, nil}, {true, nil}, {nil, nil}})
	read(func(v any) (any, bool) { return wrap(Int(v)) }, []row{
		{int64(80), int64(80)}, {" 80\n", int64(80)}, {80.0, int64(80)}, {80.5, nil}, {math.Inf(1), nil}, {math.NaN(), nil}, {"", nil}, {"8o", nil}, {nil, nil}, {true, nil}})
	read(func(v any) (any, bool) { return wrap(Bool(v)) }, []row{
		{true, true}, {int64(0), false}, {int64(2), nil}, {"TRUE", true}, {"0", false}, {"yes", nil}, {nil, nil}})
	read(func(v any) (any, bool) { return wrap(Strings(v)) }, []row{
		{"a", []string{"a"}}, {[]any{"a", int64(1)}, []string{"a", "1"}}, {[]any{}, []string{}}, {[]any{"a", nil}, nil}, {nil, nil}, {map[string]any{}, nil}})
}

func wrap[T any](v T, ok bool) (any, bool) { return v, ok }

func TestMethodCallIsRecognizedByItsFirstBytes(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]bool{
		"<?xml version='1.0'?>\n<methodCall><methodN": true, "<methodCall>": true, "\uFEFF<!-- x --><methodCall >": true,
		"url=http%3A%2F%2Fexample.com": false, "": false, "<methodResponse>": false, "<html><methodCall>": false, "<methodCal": false,
	} {
		if Sniff([]byte(in)) != want {
			t.Errorf("%q: got %v", in, !want)
		}
	}
}

// TestCallIndentedWithNoBreakSpacesIsParsed parses calls that were copied from web pages.
func TestCallIndentedWithNoBreakSpacesIsParsed(t *testing.T) {
	t.Parallel()
	call := "\u00a0<methodCall>\n\u00a0<methodName>\u00a0weblogUpdates.ping</methodName>\n\u00a0<params>\n\u00a0 <param>\n\u00a0\u00a0 <value>The RSS Blog</value>\n\u00a0 </param>\n" +
		"\u00a0 <param>\n\u00a0\u00a0 <value>\u00a0<int>\u00a07\u00a0</int>\u00a0</value>\n\u00a0 </param>\n\u00a0</params>\n</methodCall>\u00a0\n"
	got, err := ParseCall(strings.NewReader(call))
	if err != nil || got.Method != "weblogUpdates.ping" || len(got.Params) != 2 || got.Params[0] != "The RSS Blog" || got.Params[1] != int64(7) {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err = ParseCall(strings.NewReader("<methodCall><methodName>a</methodName><params><param><value>\u00a0x\u00a0</value></param></params></methodCall>")); err != nil || got.Params[0] != "\u00a0x\u00a0" {
		t.Errorf("a text loses its own spaces: %+v, %v", got, err)
	}
}
