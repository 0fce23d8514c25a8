package soap

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
	"github.com/google/go-cmp/cmp/cmpopts"
)

var update = flag.Bool("update", false, "write the golden files")

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

const cloud = "http://127.0.0.1/cloud"

func TestRequestsOfClientsAreParsed(t *testing.T) {
	t.Parallel()
	feeds := []any{"http://127.0.0.1/rss.xml", "http://127.0.0.1/b.xml"}
	want := map[string]Call{
		"radio-2003": {Name: "rssPleaseNotify", Params: []Param{
			{"notifyProcedure", "river.rssUpdate", "string"}, {"port", int64(5335), "int"}, {"path", "/RPC2", "string"},
			{"protocol", "soap", "string"}, {"urlList", []any{"http://127.0.0.1/rss.xml", "http://127.0.0.1/b.xml?x=1&y=2"}, "Array"}}},
		"php-without-wsdl": {Name: "pleaseNotify", Namespace: cloud, Params: []Param{
			{"param0", "notify", "string"}, {"param1", int64(80), "int"}, {"param2", "/é", "string"}, {"param3", "soap", "string"},
			{"param4", []any{"http://127.0.0.1/rss.xml"}, "Array"}, {"param5", nil, ""}}},
		"dotnet-document": {Name: "pleaseNotify", Namespace: cloud, Literal: true, Params: []Param{
			{"notifyProcedure", "notify", ""}, {"port", "80", ""}, {"path", "/", ""}, {"protocol", "soap", ""},
			{"urls", map[string]any{"string": feeds}, ""}, {"domain", nil, ""}}},
		"dotnet-encoded": {Name: "pleaseNotify", Namespace: cloud, Params: []Param{
			{"notifyProcedure", "notify", "string"}, {"port", int64(80), "unsignedShort"}, {"urls", feeds, "Array"}}},
		"axis-multiref": {Name: "ping", Namespace: cloud, Params: []Param{
			{"arg0", map[string]any{"url": "http://127.0.0.1/", "count": int64(5000000000)}, "Weblog"}, {"arg1", int64(5000000000), "long"}}},
		"zeep-literal": {Name: "pleaseNotify", Namespace: cloud, Literal: true, Params: []Param{
			{"notifyProcedure", "notify", ""}, {"port", "80", ""}, {"urls", map[string]any{"item": "http://127.0.0.1/rss.xml"}, ""}}},
		"suds-literal": {Name: "ping", Namespace: cloud, Literal: true, Params: []Param{{"url", "http://127.0.0.1/rss.xml", ""}}},
		"gsoap": {Name: "ping", Namespace: cloud, Params: []Param{
			{"url", "http://127.0.0.1/rss.xml", ""}, {"fast", "true", ""}, {"when", time.Date(2003, 7, 17, 12, 0, 0, 0, time.UTC), "dateTime"}}},
		"soap-lite": {Name: "ping", Namespace: cloud, Params: []Param{
			{"c-gensym3", "Name & é", "string"}, {"c-gensym5", []byte("é"), "base64Binary"}, {"c-gensym7", []any{int64(1), []any{1.5}}, "Array"}}},
		"soap12": {Name: "ping", Namespace: cloud, Version: V12, Params: []Param{
			{"url", "http://127.0.0.1/rss.xml", "string"}, {"again", "http://127.0.0.1/rss.xml", "string"},
			{"list", []any{int64(1), int64(2)}, "Array"}, {"none", map[string]any{}, ""}}},
	}
	files, err := filepath.Glob("testdata/requests/*.xml")
	if err != nil || len(files) != len(want) {
		t.Fatalf("%d files for %d wants, %v", len(files), len(want), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got, err := Parse(bytes.NewReader(b))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want[strings.TrimSuffix(filepath.Base(file), ".xml")], got); diff != "" {
				t.Error(diff)
			}
			if !Sniff(b) {
				t.Error("Sniff does not detect it")
			}
		})
	}
}

// in returns an envelope whose body contains the given text. The envelope declares the prefixes of
// this test.
func in(body string) string { return envelope("", body) }

func envelope(header, body string) string {
	return `<s:Envelope xmlns:s="` + env11 + `" xmlns:e="` + enc11 + `" xmlns:xsd="` + xsd + `" xmlns:i="` + xsi + `">` +
		header + "<s:Body>" + body + "</s:Body></s:Envelope>"
}

func TestDocumentsOfOtherFormatsAreRejected(t *testing.T) {
	t.Parallel()
	for name, doc := range map[string]string{
		"another root":               "<html/>",
		"no body":                    `<s:Envelope xmlns:s="` + env11 + `"/>`,
		"two bodies":                 strings.Replace(in("<a/>"), "</s:Envelope>", "<s:Body/></s:Envelope>", 1),
		"header behind":              strings.Replace(in("<a/>"), "</s:Envelope>", "<s:Header/></s:Envelope>", 1),
		"plain trailer":              strings.Replace(in("<a/>"), "</s:Envelope>", "<x/></s:Envelope>", 1),
		"body in no namespace":       `<s:Envelope xmlns:s="` + env11 + `"><Body><a/></Body></s:Envelope>`,
		"empty body":                 in(""),
		"text in body":               in("x<a/>"),
		"text in envelope":           envelope("x", "<a/>"),
		"two calls":                  in("<a/><b/>"),
		"only shared values":         in(`<a e:root="0" id="x"/>`),
		"fault":                      in("<s:Fault/>"),
		"namespace of XML":           in("<xml:a/>"),
		"text among parameters":      in("<a>x<b/></a>"),
		"text in a structure":        in("<a><b>x<c/></b></a>"),
		"text in an array":           in(`<a><b e:arrayType="xsd:int[1]">x<c>1</c></b></a>`),
		"no int":                     in(`<a><b i:type="xsd:int">x</b></a>`),
		"no boolean":                 in(`<a><b i:type="xsd:boolean">yes</b></a>`),
		"no int in array":            in(`<a><b e:arrayType="xsd:int[1]"><c>x</c></b></a>`),
		"no date":                    in(`<a><b i:type="xsd:dateTime">today</b></a>`),
		"no base64":                  in(`<a><b i:type="xsd:base64Binary">?</b></a>`),
		"no double":                  in(`<a><b i:type="xsd:double">inf</b></a>`),
		"reference outside":          in(`<a><b href="http://127.0.0.1/x"/></a>`),
		"reference to a file":        in(`<a><b href="file:///etc/passwd"/></a>`),
		"reference to nothing":       in(`<a><b href="#x"/></a>`),
		"reference and value":        in(`<a><b href="#x">1</b></a><c id="x"/>`),
		"id twice":                   in(`<a><b href="#x"/></a><c id="x"/><c id="x"/>`),
		"reference to itself":        in(`<a><b id="x" href="#x"/></a>`),
		"references in a ring":       in(`<a><b href="#x"/></a><c id="x" href="#y"/><c id="y" href="#x"/>`),
		"value contains itself":      in(`<a><b href="#x"/></a><c id="x"><d href="#x"/></c>`),
		"value refers to its parent": in(`<a><b id="x"><c href="#x"/></b></a>`),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := Parse(strings.NewReader(doc))
			var bad *SyntaxError
			if !errors.As(err, &bad) || !errors.Is(err, ErrInvalid) {
				t.Errorf("got %v, %v", c, err)
			}
		})
	}
}

func TestHostileDocumentsAreRejectedWithReason(t *testing.T) {
	t.Parallel()
	// Each of the shared lists refers ten times to the next list.
	var laughs, chain strings.Builder
	laughs.WriteString(`<a><b href="#x0"/></a>`)
	chain.WriteString(`<a><b href="#x0"/></a>`)
	for i := range 10 {
		fmt.Fprintf(&laughs, `<c id="x%d">`+strings.Repeat(fmt.Sprintf(`<d href="#x%d"/>`, i+1), 10)+"</c>", i)
	}
	laughs.WriteString(`<c id="x10">ha</c>`)
	for i := range 200 {
		fmt.Fprintf(&chain, `<c id="x%d"><d href="#x%d"/></c>`, i, i+1)
	}
	chain.WriteString(`<c id="x200"/>`)
	for name, c := range map[string]struct {
		doc  string
		want error
	}{
		"larger than 256 KiB":           {in("<a>" + strings.Repeat("x", 256<<10) + "</a>"), ErrTooLarge},
		"deep":                          {in(strings.Repeat("<a>", 99) + strings.Repeat("</a>", 99)), ErrTooComplex},
		"deep by reference":             {in(chain.String()), ErrTooComplex},
		"multiplied":                    {in(laughs.String()), ErrTooComplex},
		"shared too often":              {in("<a>" + strings.Repeat(`<b href="#x"/>`, 100) + `</a><c id="x" i:type="xsd:base64Binary">` + strings.Repeat("YWFh", 25000) + "</c>"), ErrTooComplex},
		"DOCTYPE":                       {`<!DOCTYPE a [<!ENTITY b "c">]>` + in("<a/>"), ErrDoctype},
		"encoding":                      {"<?xml version='1.0' encoding='utf-7'?>" + in("<a/>"), ErrEncoding},
		"entity":                        {in("<a>&b;</a>"), nil},
		"trailing envelope":             {in("<a/>") + in("<a/>"), nil},
		"trailing text":                 {in("<a/>") + "x", nil},
		"undeclared prefix":             {in("<x:a/>"), nil},
		"cut":                           {in("<a/>")[:40], nil},
		"declaration after a line feed": {"\n<?xml version='1.0'?>" + in("<a/>"), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Parse(strings.NewReader(c.doc))
			var bad *SyntaxError
			if !errors.As(err, &bad) || bad.Err != c.want || errors.Is(err, ErrInvalid) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
}

func TestUnknownMustUnderstandHeaderReturnsFault(t *testing.T) {
	t.Parallel()
	header := func(attrs string) string {
		return envelope(`<s:Header><x:t xmlns:x="u" `+attrs+`>1</x:t></s:Header>`, "<a/>")
	}
	for attrs, refused := range map[string]bool{
		``:                                   false,
		`s:mustUnderstand="0"`:               false,
		`mustUnderstand="1"`:                 false,
		`s:mustUnderstand="1"`:               true,
		`s:mustUnderstand="true"`:            true,
		`s:mustUnderstand="1" s:actor=""`:    true,
		`s:mustUnderstand="1" s:actor="u:x"`: false,
		`s:mustUnderstand="1" s:actor="` + next11 + `"`: true,
	} {
		_, err := Parse(strings.NewReader(header(attrs)))
		var f *Fault
		if errors.As(err, &f) != refused || refused && f.Code != CodeMustUnderstand {
			t.Errorf("%s: got %v", attrs, err)
		}
	}
}

func TestUnknownSOAPVersionReturnsVersionMismatchFault(t *testing.T) {
	t.Parallel()
	for _, space := range []string{"", "http://www.w3.org/2001/12/soap-envelope"} {
		_, err := Parse(strings.NewReader(`<Envelope xmlns="` + space + `"><Body><a/></Body></Envelope>`))
		var f *Fault
		if !errors.As(err, &f) || f.Code != CodeVersionMismatch {
			t.Errorf("%q: got %v", space, err)
		}
	}
}

func TestValuesOfEveryTypeAreParsed(t *testing.T) {
	t.Parallel()
	for doc, want := range map[string]any{
		`<v i:type="xsd:string"> a </v>`:                                       " a ",
		`<v i:type="xsd:integer"> -5 </v>`:                                     int64(-5),
		`<v i:type="e:int">5</v>`:                                              int64(5),
		`<e:int>5</e:int>`:                                                     int64(5),
		`<v i:type="xsd:boolean">1</v>`:                                        true,
		`<v i:type="xsd:float">-INF</v>`:                                       math.Inf(-1),
		`<v i:type="xsd:decimal">1.50</v>`:                                     1.5,
		`<v i:type="xsd:dateTime">2003-07-17T12:00:00.5+02:00</v>`:             time.Date(2003, 7, 17, 10, 0, 0, 0, time.UTC),
		`<v i:type="e:base64">YQ==</v>`:                                        []byte("a"),
		`<v i:type="xsd:anyURI">http://127.0.0.1/</v>`:                         "http://127.0.0.1/",
		`<v i:type="xsd:anyType">1</v>`:                                        "1",
		`<v i:type="nobody:knows">1</v>`:                                       "1",
		`<v i:type="xsd:double">INF</v>`:                                       math.Inf(1),
		`<v i:nil="1"/>`:                                                       nil,
		`<v i:nil="0"></v>`:                                                    "",
		`<v><a>1</a><b/></v>`:                                                  map[string]any{"a": "1", "b": ""},
		`<v><a>1</a><a>2</a><a>3</a><b/></v>`:                                  map[string]any{"a": []any{"1", "2", "3"}, "b": ""},
		`<v i:type="e:Struct"/>`:                                               map[string]any{},
		`<v e:arrayType="xsd:int[0]"/>`:                                        []any{},
		`<v i:type="e:Array"/>`:                                                []any{},
		`<v e:arrayType="xsd:int[2]"><a>1</a><a i:type="xsd:string">2</a></v>`: []any{int64(1), "2"},
		`<v e:arrayType="xsd:int[][1]"><a e:arrayType="xsd:int[1]"><b>1</b></a></v>`: []any{[]any{int64(1)}},
	} {
		c, err := Parse(strings.NewReader(in("<a>" + doc + "</a>")))
		if err != nil || len(c.Params) != 1 {
			t.Errorf("%s: got %v, %v", doc, c, err)
			continue
		}
		if diff := cmp.Diff(want, c.Params[0].Value); diff != "" {
			t.Errorf("%s: %s", doc, diff)
		}
	}
}

func everything() []Param {
	return []Param{
		{Name: "text", Value: "a <b> & é"}, {Value: 80}, {Name: "long", Value: int64(1) << 40}, {Name: "yes", Value: true},
		{Name: "half", Value: 0.5}, {Name: "when", Value: time.Date(2003, 7, 17, 12, 0, 0, 5, time.UTC)}, {Name: "bytes", Value: []byte("é")},
		{Name: "list", Value: []string{"a", "b"}}, {Name: "mixed", Value: []any{"a", 1, []any{}, nil}}, {Name: "none"},
		{Name: "struct", Value: map[string]any{"b": uint8(1), "a": map[string]any{}}},
		{Name: "ordered", Value: []Param{{Name: "z", Value: "1"}, {Name: "a", Value: "2"}}}, {Name: "uri", Value: "u:x", Type: "anyURI"},
	}
}

func TestCallIsEncodedForEachVersionAndStyle(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]Call{
		"call-11.xml":         {Version: V11},
		"call-12.xml":         {Version: V12},
		"call-11-literal.xml": {Version: V11, Literal: true},
	} {
		c.Name, c.Namespace, c.Params = "ping", cloud+"?a=1&b=\"2\"", everything()
		b, err := c.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		golden(t, name, bytes.ReplaceAll(b, []byte("><"), []byte(">\n<")))
		again, err := Parse(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		if again.Name != c.Name || again.Namespace != c.Namespace || again.Version != c.Version || again.Literal != c.Literal {
			t.Errorf("%s: got %+v", name, again)
		}
		if c.Literal {
			continue
		}
		want := []any{"a <b> & é", int64(80), int64(1) << 40, true, 0.5, time.Date(2003, 7, 17, 12, 0, 0, 0, time.UTC), []byte("é"),
			[]any{"a", "b"}, []any{"a", int64(1), []any{}, nil}, nil, map[string]any{"b": int64(1), "a": map[string]any{}},
			map[string]any{"z": "1", "a": "2"}, "u:x"}
		if diff := cmp.Diff(want, again.Bind()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestMarshalRejectsInvalidValues(t *testing.T) {
	t.Parallel()
	loop := []any{nil}
	loop[0] = loop
	for name, c := range map[string]Call{
		"name":        {Name: "a b"},
		"no name":     {},
		"param name":  {Name: "a", Params: []Param{{Name: "1"}}},
		"member name": {Name: "a", Params: []Param{{Value: map[string]any{"a:b": 1}}}},
		"control":     {Name: "a", Params: []Param{{Value: "\x00"}}},
		"namespace":   {Name: "a", Namespace: "\x00"},
		"XML's own":   {Name: "a", Namespace: "http://www.w3.org/XML/1998/namespace"},
		"channel":     {Name: "a", Params: []Param{{Value: make(chan int)}}},
		"large":       {Name: "a", Params: []Param{{Value: uint64(math.MaxUint64)}}},
		"year":        {Name: "a", Params: []Param{{Value: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)}}},
		"loop":        {Name: "a", Params: []Param{{Value: loop}}},
		"wrong type":  {Name: "a", Params: []Param{{Value: "x", Type: "int"}}},
	} {
		if b, err := c.Marshal(); !errors.Is(err, ErrValue) || b != nil {
			t.Errorf("%s: got %s, %v", name, b, err)
		}
	}
}

func TestMarshalNamesTheReasonOfAnInvalidValue(t *testing.T) {
	t.Parallel()
	for want, v := range map[string]any{
		"v: the number 18446744073709551615 has more than 63 bits": uint64(math.MaxUint64),
		"v: the year 10000":                        time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC),
		"v: there is no SOAP type for map[int]int": map[int]int{},
	} {
		_, err := Call{Name: "a", Params: []Param{{Name: "v", Value: v}}}.Marshal()
		if err == nil || err.Error() != ErrValue.Error()+": "+want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestFaultRoundTripInBothVersions(t *testing.T) {
	t.Parallel()
	for _, v := range []Version{V11, V12} {
		for _, f := range []Fault{
			{Code: CodeClient, String: "no <such> é"},
			{Code: CodeServer, String: "x", Actor: "http://127.0.0.1/", Detail: "much & more"},
			{Code: CodeVersionMismatch, String: "x"},
			{Code: CodeMustUnderstand, String: "x"},
		} {
			_, err := ParseResponse(bytes.NewReader(f.Marshal(v)))
			var got *Fault
			if !errors.As(err, &got) || *got != f {
				t.Errorf("%v: got %v, want %v", v, err, f)
			}
		}
	}
	for code, want := range map[string]string{"Client.Login": "Client.Login", "Special": "Special", "a b": "Server", "": "Server"} {
		_, err := ParseResponse(bytes.NewReader((&Fault{Code: code, String: "bad \x00"}).Marshal(V11)))
		var got *Fault
		if !errors.As(err, &got) || got.Code != want || got.String != "bad \uFFFD" {
			t.Errorf("%q: got %v", code, err)
		}
	}
	golden(t, "fault-11.xml", (&Fault{Code: "Client", String: "no", Actor: "u:x", Detail: "more"}).Marshal(V11))
	golden(t, "fault-12.xml", (&Fault{Code: "Client", String: "no", Actor: "u:x", Detail: "more"}).Marshal(V12))
}

func TestFaultsOfOtherServersAreParsed(t *testing.T) {
	t.Parallel()
	_, err := ParseResponse(strings.NewReader(in(`<s:Fault><faultcode>s:Server</faultcode>
		<faultstring> it broke </faultstring><detail><x:a xmlns:x="u"><b>one</b> <b>two</b></x:a></detail></s:Fault>`)))
	want := &Fault{Code: "Server", String: "it broke", Detail: "one two"}
	if diff := cmp.Diff(error(want), err); diff != "" {
		t.Error(diff)
	}
	if _, err := ParseResponse(strings.NewReader(in("<s:Fault/>"))); !errors.Is(err, ErrInvalid) {
		t.Errorf("an empty fault: got %v", err)
	}
}

func TestOptionalParameterIsBoundOnlyByItsName(t *testing.T) {
	t.Parallel()
	m := Method{Params: []Def{{Name: "url"}, {Name: "domain", Optional: true}}}
	for name, want := range map[string][]any{"version": {"u"}, "Domain": {"u", "x"}} {
		got := m.bind(Call{Params: []Param{{Name: "url", Value: "u"}, {Name: name, Value: "x"}}})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestParametersAreBoundByNameOrPosition(t *testing.T) {
	t.Parallel()
	names := []string{"url", "port", "domain"}
	for name, c := range map[string]struct {
		params []Param
		want   []any
	}{
		"names in another order": {[]Param{{Name: "port", Value: 1}, {Name: "URL", Value: "u"}}, []any{"u", 1}},
		"one missing":            {[]Param{{Name: "domain", Value: "d"}}, []any{nil, nil, "d"}},
		"last one missing":       {[]Param{{Name: "port", Value: 1}}, []any{nil, 1}},
		"one other name":         {[]Param{{Name: "domain", Value: "d"}, {Name: "feed", Value: "u"}, {Name: "port", Value: 1}}, []any{"u", 1, "d"}},
		"two other names":        {[]Param{{Name: "feed", Value: "u"}, {Name: "tcpPort", Value: 1}, {Name: "domain", Value: "d"}}, []any{"u", 1, "d"}},
		"other name, repeated":   {[]Param{{Name: "port", Value: 1}, {Name: "feed", Value: "a"}, {Name: "FEED", Value: "b"}}, []any{[]any{"a", "b"}, 1}},
		"other name, too many":   {[]Param{{Name: "url", Value: "u"}, {Name: "port", Value: 1}, {Name: "domain", Value: "d"}, {Name: "x", Value: "x"}}, []any{"u", 1, "d"}},
		"repeated":               {[]Param{{Name: "url", Value: "a"}, {Name: "url", Value: "b"}}, []any{[]any{"a", "b"}}},
		"by position":            {[]Param{{Name: "param1", Value: "u"}, {Name: "param2", Value: 1}}, []any{"u", 1}},
		"by position, one name":  {[]Param{{Name: "p", Value: "u"}, {Name: "p", Value: 1}}, []any{"u", 1}},
		"too many":               {[]Param{{Name: "a"}, {Name: "b"}, {Name: "c"}, {Name: "d"}}, []any{nil, nil, nil, nil}},
		"none":                   {nil, []any{}},
	} {
		if diff := cmp.Diff(c.want, Call{Params: c.params}.Bind(names...), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestStringListIsAcceptedInEveryEncoding(t *testing.T) {
	t.Parallel()
	for _, r := range []struct {
		in   any
		want []string
	}{
		{"a", []string{"a"}}, {" ", []string{}}, {int64(1), []string{"1"}}, {[]any{"a", "b"}, []string{"a", "b"}}, {[]any{}, []string{}},
		{map[string]any{"item": []any{"a", "b"}}, []string{"a", "b"}}, {map[string]any{"item": "a"}, []string{"a"}},
		{map[string]any{"a": "1", "b": "2"}, nil}, {map[string]any{}, nil}, {[]any{nil}, nil}, {nil, nil}, {true, nil},
	} {
		got, ok := Strings(r.in)
		if diff := cmp.Diff(r.want, got); diff != "" || ok != (r.want != nil) {
			t.Errorf("%v: %v %s", r.in, ok, diff)
		}
	}
}
