package xmlsafe

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// show prints a tree with namespaces, prefixes and text.
func show(n *Node) string {
	var b strings.Builder
	var walk func(*Node)
	walk = func(n *Node) {
		fmt.Fprintf(&b, "(%s|%s", n.Space, n.Name())
		for _, a := range n.Attrs {
			fmt.Fprintf(&b, " %s|%s=%q", a.Space, rawName(a.Prefix, a.Local), a.Value)
		}
		if n.Text != "" {
			fmt.Fprintf(&b, " %q", n.Text)
		}
		for _, c := range n.Nodes {
			b.WriteString(" ")
			walk(c)
		}
		b.WriteString(")")
	}
	walk(n)
	return b.String()
}

func TestReadAcceptsWellFormedXML(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ doc, want string }{
		"empty element":             {`<a/>`, `(|a)`},
		"declaration":               {"<?xml version='1.0' encoding=\"utf-8\" standalone = 'yes' ?>\n<a></a >", `(|a)`},
		"version 1.1 is 1.x":        {`<?xml version="1.1"?><a/>`, `(|a)`},
		"comments and PIs":          {"<!-- - --><?x?><?y a?b?><a><!--c-->x<?z?>y</a> <!----> <?q ?>\r\n", `(|a "xy")`},
		"mixed text in order":       {`<a>1<b>2</b>3<c/>4</a>`, `(|a "134" (|b "2") (|c))`},
		"references":                {`<a x='&lt;&#9;&apos;'>&amp;&#x41;&#0066;&gt;&quot;&#x1F600;</a>`, `(|a |x="<\t'" "&AB>\"😀")`},
		"CDATA":                     {`<a>x<![CDATA[<b>&amp;]]]]><![CDATA[>]]></a>`, `(|a "x<b>&amp;]]>")`},
		"line ends":                 {"<a x='1\r\n2\r3\n4\t5'>1\r\n2\r3\n4&#13;</a>", `(|a |x="1 2 3 4 5" "1\n2\n3\n4\r")`},
		"default namespace":         {`<a xmlns="u" x="1"><b/><c xmlns=""/></a>`, `(u|a |x="1" (u|b) (|c))`},
		"prefixes":                  {`<p:a xmlns:p="u" p:x="1" x="2" xml:lang="en"><p:b xmlns:p="v"/><p:c/></p:a>`, `(u|p:a u|p:x="1" |x="2" http://www.w3.org/XML/1998/namespace|xml:lang="en" (v|p:b) (u|p:c))`},
		"prefix after its use":      {`<p:a p:x="1" xmlns:p="u"/>`, `(u|p:a u|p:x="1")`},
		"names beyond ASCII":        {`<élan ça="1"><名前/></élan>`, `(|élan |ça="1" (|名前))`},
		"UTF-8 mark":                {"\uFEFF<?xml version='1.0'?><a>é</a>", `(|a "é")`},
		"ISO-8859-1":                {"<?xml version='1.0' encoding='ISO-8859-1'?><a>\xe9\x93</a>", `(|a "é“")`},
		"Windows-1252":              {"<?xml version='1.0' encoding=\"windows-1252\"?><a>\x80</a>", `(|a "€")`},
		"US-ASCII":                  {"<?xml version='1.0' encoding='us-ascii'?><a>&#233;</a>", `(|a "é")`},
		"UTF-16 with mark, big":     {"\xfe\xff" + wide("<?xml version='1.0' encoding='UTF-16'?><a>é😀</a>", true), `(|a "é😀")`},
		"UTF-16 with mark":          {"\xff\xfe" + wide("<a>é</a>", false), `(|a "é")`},
		"UTF-16 without mark":       {wide("<?xml version='1.0' encoding='UTF-16'?><a/>", false), `(|a)`},
		"declares UTF-16, is UTF-8": {"<?xml version='1.0' encoding='utf-16'?><a>é</a>", `(|a "é")`},
		"encoding in other case":    {"<?xml version='1.0' encoding='LATIN1'?><a>\xe9</a>", `(|a "é")`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n, err := Read(strings.NewReader(c.doc), Options{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, show(n)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// wide returns s in UTF-16 without a byte order mark.
func wide(s string, big bool) string {
	var b bytes.Buffer
	put := func(u rune) {
		hi, lo := byte(u>>8), byte(u)
		if !big {
			hi, lo = lo, hi
		}
		b.Write([]byte{hi, lo})
	}
	for _, r := range s {
		if r >= 0x10000 {
			r -= 0x10000
			put(0xD800 + r>>10)
			r = 0xDC00 + r&0x3FF
		}
		put(r)
	}
	return b.String()
}

func TestReadRejectsMalformedXML(t *testing.T) {
	t.Parallel()
	deep := func(n int) string { return strings.Repeat("<a>", n) + strings.Repeat("</a>", n) }
	for name, c := range map[string]struct {
		doc  string
		kind error
	}{
		"nothing":                       {"", nil},
		"only space":                    {" \n", nil},
		"only a comment":                {"<!--x-->", nil},
		"plain text":                    {"hello", nil},
		"text before":                   {"x<a/>", nil},
		"text after":                    {"<a/>x", nil},
		"NUL after":                     {"<a/>\x00", nil},
		"CDATA after":                   {"<a/><![CDATA[]]>", nil},
		"reference after":               {"<a/>&#32;", nil},
		"second root":                   {"<a/><b/>", nil},
		"not closed":                    {"<a><b></b>", nil},
		"closed crosswise":              {"<a><b></a></b>", nil},
		"closed twice":                  {"<a/></a>", nil},
		"prefix differs at the end":     {"<a:b xmlns:a='u' xmlns:c='u'></c:b>", nil},
		"tag not ended":                 {"<a", nil},
		"end tag not ended":             {"<a></a", nil},
		"end tag with attribute":        {"<a></a x='1'>", nil},
		"space before name":             {"< a/>", nil},
		"digit starts name":             {"<1a/>", nil},
		"two colons":                    {"<a:b:c xmlns:a='u'/>", nil},
		"colon first":                   {"<:a/>", nil},
		"colon last":                    {"<a:></a:>", nil},
		"attribute without value":       {"<a x/>", nil},
		"attribute without quotes":      {"<a x=1/>", nil},
		"attribute not ended":           {"<a x='1/>", nil},
		"attributes without space":      {"<a x='1'y='2'/>", nil},
		"attribute twice":               {"<a x='1' x='2'/>", nil},
		"attribute twice by namespace":  {"<a xmlns:p='u' xmlns:q='u' p:x='1' q:x='2'/>", nil},
		"less-than in attribute":        {"<a x='<'/>", nil},
		"namespace twice":               {"<a xmlns:p='u' xmlns:p='v'/>", nil},
		"prefix undeclared":             {"<p:a/>", nil},
		"attribute's prefix undeclared": {"<a p:x='1'/>", nil},
		"prefix out of scope":           {"<a><b xmlns:p='u'/><p:c/></a>", nil},
		"prefix bound to an empty URI":  {"<a xmlns:p=''/>", nil},
		"xmlns as prefix":               {"<a xmlns:xmlns='u'/>", nil},
		"xml bound to another URI":      {"<a xmlns:xml='u'/>", nil},
		"unknown entity":                {"<a>&nbsp;</a>", nil},
		"bare ampersand":                {"<a>a & b</a>", nil},
		"ampersand at the end":          {"<a>&", nil},
		"reference without digits":      {"<a>&#;</a>", nil},
		"reference to NUL":              {"<a>&#0;</a>", nil},
		"reference to a control":        {"<a>&#x1;</a>", nil},
		"reference to a surrogate":      {"<a>&#xD800;</a>", nil},
		"reference to a noncharacter":   {"<a>&#xFFFF;</a>", nil},
		"reference too large":           {"<a>&#x110000;</a>", nil},
		"reference overflows":           {"<a>&#x100000041;</a>", nil},
		"reference in capital X":        {"<a>&#X41;</a>", nil},
		"hex digit in decimal":          {"<a>&#4A;</a>", nil},
		"CDATA end in text":             {"<a>]]></a>", nil},
		"CDATA not ended":               {"<a><![CDATA[x</a>", nil},
		"comment not ended":             {"<a><!--x</a>", nil},
		"two dashes in comment":         {"<a><!--x--y--></a>", nil},
		"three dashes end comment":      {"<a><!--x---></a>", nil},
		"PI not ended":                  {"<a><?x</a>", nil},
		"PI without name":               {"<a><? x?></a>", nil},
		"declaration not at start":      {" <?xml version='1.0'?><a/>", nil},
		"declaration twice":             {"<?xml version='1.0'?><?xml version='1.0'?><a/>", nil},
		"declaration inside":            {"<a><?xml version='1.0'?></a>", nil},
		"declaration after":             {"<a/><?xml version='1.0'?>", nil},
		"declaration in capitals":       {"<?XML version='1.0'?><a/>", nil},
		"declaration without version":   {"<?xml encoding='utf-8'?><a/>", nil},
		"declaration empty":             {"<?xml ?><a/>", nil},
		"declaration in wrong order":    {"<?xml version='1.0' standalone='no' encoding='utf-8'?><a/>", nil},
		"declaration with duplicate":    {"<?xml version='1.0' version='1.0'?><a/>", nil},
		"declaration not ended":         {"<?xml version='1.0'", nil},
		"version 2":                     {"<?xml version='2.0'?><a/>", nil},
		"standalone maybe":              {"<?xml version='1.0' standalone='maybe'?><a/>", nil},
		"element declaration":           {"<!ELEMENT a ANY><a/>", nil},
		"control character":             {"<a>\x01</a>", nil},
		"control character in comment":  {"<a><!--\x01--></a>", nil},
		"noncharacter":                  {"<a>\uFFFE</a>", nil},
		"not UTF-8":                     {"<a>\xff</a>", nil},
		"overlong UTF-8":                {"<a>\xc0\xbc/a></a>", nil},
		"surrogate in UTF-8":            {"<a>\xed\xa0\x80</a>", nil},
		"not UTF-8 in an attribute":     {"<a x='\xe9'/>", nil},
		"second byte order mark":        {"\uFEFF\uFEFF<a/>", nil},
		"not ASCII":                     {"<?xml version='1.0' encoding='us-ascii'?><a>\xe9</a>", nil},
		"UTF-16 with odd length":        {"\xfe\xff" + wide("<a/>", true) + "\x00", nil},
		"UTF-16 with half a pair":       {"\xfe\xff" + wide("<a>", true) + "\xd8\x00" + wide("</a>", true), nil},
		"UTF-16 ends in half a pair":    {"\xfe\xff" + wide("<a/>", true) + "\xd8\x00", nil},
		"unknown encoding":              {"<?xml version='1.0' encoding='utf-7'?><a/>", ErrEncoding},
		"EBCDIC":                        {"<?xml version='1.0' encoding='cp037'?><a/>", ErrEncoding},
		"DOCTYPE":                       {"<!DOCTYPE a><a/>", ErrDoctype},
		"doctype in lowercase":          {"<!doctype a><a/>", ErrDoctype},
		"DOCTYPE with entities":         {"<?xml version='1.0'?><!DOCTYPE a [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><a>&x;</a>", ErrDoctype},
		"DOCTYPE inside":                {"<a><!DOCTYPE a></a>", ErrDoctype},
		"too deep":                      {deep(101), ErrTooComplex},
		"too deep, never closed":        {strings.Repeat("<a>", 50000), ErrTooComplex},
		"too many attributes":           {"<a" + manyAttrs(257, " a%d=''") + "/>", ErrTooComplex},
		"too many namespaces":           {"<a" + manyAttrs(200, " xmlns:a%d='u'") + "><b" + manyAttrs(57, " xmlns:b%d='u'") + "/></a>", ErrTooComplex},
		"too many elements":             {"<a>" + strings.Repeat("<a/>", 65500) + strings.Repeat("<b>", 5), nil},
		"too large":                     {"<a>" + strings.Repeat("x", 256<<10) + "</a>", ErrTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n, err := Read(strings.NewReader(c.doc), Options{})
			var bad *Error
			if !errors.As(err, &bad) {
				t.Fatalf("got %v, %v; want an *Error", n, err)
			}
			if bad.Kind != c.kind || bad.Line < 1 || bad.Msg == "" {
				t.Errorf("got kind %v, line %d, %q; want kind %v", bad.Kind, bad.Line, bad.Msg, c.kind)
			}
		})
	}
}

func manyAttrs(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

func TestDocumentAboveTheSizeLimitIsRejected(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		doc  string
		o    Options
		kind error
	}{
		"depth reached":                 {"<a><a><a/></a></a>", Options{MaxDepth: 3}, nil},
		"depth exceeded":                {"<a><a><a/></a></a>", Options{MaxDepth: 2}, ErrTooComplex},
		"bytes reached":                 {"<a>12</a>", Options{MaxBytes: 9}, nil},
		"bytes exceeded":                {"<a>12</a>", Options{MaxBytes: 8}, ErrTooLarge},
		"attributes":                    {"<a x='' y=''/>", Options{MaxAttrs: 2}, nil},
		"attributes exceeded":           {"<a x='' y=''/>", Options{MaxAttrs: 1}, ErrTooComplex},
		"elements":                      {"<a><b/><c/></a>", Options{MaxElements: 3}, nil},
		"elements exceeded":             {"<a><b/><c/></a>", Options{MaxElements: 2}, ErrTooComplex},
		"namespaces of closed elements": {"<a><b xmlns='u'/><b xmlns='v'></b><b xmlns='w'/></a>", Options{MaxAttrs: 1}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := Read(strings.NewReader(c.doc), c.o); !errors.Is(err, c.kind) {
				t.Errorf("got %v, want %v", err, c.kind)
			}
		})
	}
}

func TestErrorsContainTheLineNumber(t *testing.T) {
	t.Parallel()
	for doc, want := range map[string]int{
		"<a>\n\n<b>\n</a>":    4,
		"<a>\n&x;</a>":        2,
		"<a>\n\n\x01</a>":     3,
		"<a>\n</a>\n<b/>":     3,
		"<a\nx='1'\nx='2'\n>": 4,
	} {
		_, err := Read(strings.NewReader(doc), Options{})
		var bad *Error
		if !errors.As(err, &bad) || bad.Line != want {
			t.Errorf("%q: got %v, want line %d", doc, err, want)
		}
	}
}

func TestByteOrderMarkAndContentTypeOverrideXMLDeclaration(t *testing.T) {
	t.Parallel()
	const latin = "<?xml version='1.0' encoding='iso-8859-1'?><a>\xc3\xa9</a>"
	for name, c := range map[string]struct{ doc, charset, want string }{
		"declaration":               {latin, "", "Ã©"},
		"transport over it":         {latin, "utf-8", "é"},
		"mark over both":            {"\uFEFF" + latin, "iso-8859-1", "é"},
		"transport without a word":  {"<a>\xe9</a>", "ISO-8859-1", "é"},
		"UTF-16 is big by default":  {wide(" <a>é</a>", true), "utf-16", "é"},
		"UTF-16LE by the transport": {wide(" <a>é</a>", false), "utf-16le", "é"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n, err := Read(strings.NewReader(c.doc), Options{Charset: c.charset})
			if err != nil {
				t.Fatal(err)
			}
			if n.Text != c.want {
				t.Errorf("got %q, want %q", n.Text, c.want)
			}
		})
	}
}

func TestUndeclaredPrefixesAreKeptInNames(t *testing.T) {
	t.Parallel()
	n, err := Read(strings.NewReader(`<ex:nil ex:a="1" fx:a="2"/>`), Options{LoosePrefixes: true})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := show(n), `(|ex:nil |ex:a="1" |fx:a="2")`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestNamespacePrefixesInValuesAreResolved(t *testing.T) {
	t.Parallel()
	n, err := Read(strings.NewReader(`<a xmlns="d" xmlns:x="u"><b xmlns:x="v" xmlns=""><c/></b></a>`), Options{})
	if err != nil {
		t.Fatal(err)
	}
	c := n.Nodes[0].Nodes[0]
	for _, row := range []struct {
		n           *Node
		name        string
		space, want string
		ok          bool
	}{
		{n, "x:int", "u", "int", true},
		{c, " x:int ", "v", "int", true},
		{n, "int", "d", "int", true},
		{c, "int", "", "int", true},
		{c, "y:int", "", "int", false},
		{c, "xml:lang", XMLSpace, "lang", true},
	} {
		space, local, ok := row.n.Resolve(row.name)
		if space != row.space || local != row.want || ok != row.ok {
			t.Errorf("%s at %s: got %q %q %v", row.name, row.n.Local, space, local, ok)
		}
	}
}

func TestReaderErrorsAreReturned(t *testing.T) {
	t.Parallel()
	_, err := Read(iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader("<a></a>"))), Options{})
	if !errors.Is(err, iotest.ErrTimeout) {
		t.Errorf("got %v", err)
	}
}

func TestRootElementNameIsRead(t *testing.T) {
	t.Parallel()
	for doc, want := range map[string]string{
		"<a/>":                     "a",
		"<?xml version='1.0'?><a>": "a",
		" \n<!-- <b> --><?p <c>?>\n<p:methodCall\txmlns": "methodCall",
		"\uFEFF<a>":                      "a",
		"\xfe\xff" + wide("<a>", true):   "a",
		wide("<a>x", false) + "\x00":     "a",
		"<a":                             "",
		"url=http://x/":                  "",
		"":                               "",
		"<!DOCTYPE a><a>":                "",
		"<!-- <a>":                       "",
		"<?xml":                          "",
		"</a>":                           "",
		"\xff\xfe" + "\x00\xd8\x00\xd8<": "",
	} {
		got, ok := Root([]byte(doc))
		if !ok {
			got = ""
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", doc, got, want)
		}
	}
}

func TestTextSurvivesRoundTrip(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "a<b>&\"'\r\n\t]]>é😀\uFFFD", "\r", "\n\n", " x "} {
		doc, err := AppendText([]byte("<a>"), s)
		if err != nil {
			t.Fatal(err)
		}
		attr, err := AppendAttr([]byte(`<a x="`), s)
		if err != nil {
			t.Fatal(err)
		}
		n, err := Read(strings.NewReader(string(doc)+"</a>"), Options{})
		if err != nil || n.Text != s {
			t.Errorf("%q as text: got %v, %v", s, n, err)
		}
		n, err = Read(strings.NewReader(string(attr)+`"/>`), Options{})
		if err != nil || n.Attrs[0].Value != s {
			t.Errorf("%q as attribute: got %v, %v", s, n, err)
		}
	}
}

func TestCharactersForbiddenInXMLAreNotWritten(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"a\x00", "\x1b[0m", "\xff", "\uFFFE", "\xed\xa0\x80"} {
		for name, f := range map[string]func([]byte, string) ([]byte, error){"text": AppendText, "attr": AppendAttr} {
			if b, err := f([]byte("<a>"), "é\n"+s); !errors.Is(err, ErrChar) || string(b) != "<a>" {
				t.Errorf("%s of %q: got %q, %v", name, s, b, err)
			}
		}
		if b, err := AppendText(nil, Clean(s)); err != nil {
			t.Errorf("Clean(%q) left %q: %v", s, b, err)
		}
	}
}

// FuzzRead compares Read with the standard library: the standard library must accept every accepted
// document, with the same names and text.
func FuzzRead(f *testing.F) {
	for _, s := range []string{
		`<a/>`, `<?xml version="1.0" encoding="iso-8859-1"?><a x="1">é</a>`,
		`<p:a xmlns:p="u" p:x="&lt;"><![CDATA[x]]>&#65;<!-- c --></p:a>`,
		"<a>\r\n<b xmlns='u'/></a>", "<a x='1\n2\r\n&#10;\t'/>", "<!DOCTYPE a><a/>", "\xfe\xff\x00<\x00a\x00/\x00>",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		n, err := Read(bytes.NewReader(doc), Options{})
		if err != nil {
			return
		}
		if root, ok := Root(doc); !ok || root != n.Local {
			t.Fatalf("Root returns %q, %v; the root is %q", root, ok, n.Local)
		}
		text, err := decode(doc, "")
		if err != nil {
			t.Fatal(err)
		}
		flatten(n)
		if got, want := show(n), standard(t, text); got != want {
			t.Fatalf("here  %s\nthere %s", got, want)
		}
	})
}

// standard parses with encoding/xml and prints the result like show.
func standard(t *testing.T, doc []byte) string {
	d := xml.NewDecoder(bytes.NewReader(doc))
	d.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil }
	root := &Node{}
	open := []*Node{root}
	for {
		tok, err := d.RawToken()
		if err == io.EOF {
			break
		}
		if err != nil {
			if strings.Contains(err.Error(), "unsupported version") {
				t.Skip("encoding/xml requires version 1.0")
			}
			if _, name, ok := strings.Cut(err.Error(), "invalid XML name: "); ok && strings.ContainsFunc(name, func(r rune) bool { return r >= utf8.RuneSelf }) {
				t.Skip("encoding/xml supports only names of the fourth edition")
			}
			t.Fatalf("encoding/xml refuses it: %v", err)
		}
		top := open[len(open)-1]
		switch tok := tok.(type) {
		case xml.StartElement:
			n := &Node{Prefix: tok.Name.Space, Local: tok.Name.Local, parent: top}
			for _, a := range tok.Attr {
				switch {
				case a.Name.Space == "xmlns":
					n.decls = append(n.decls, binding{a.Name.Local, a.Value})
				case a.Name.Space == "" && a.Name.Local == "xmlns":
					n.decls = append(n.decls, binding{"", a.Value})
				default:
					n.Attrs = append(n.Attrs, Attr{Prefix: a.Name.Space, Local: a.Name.Local, Value: a.Value})
				}
			}
			n.Space, _ = n.lookup(n.Prefix)
			for i := range n.Attrs {
				if a := &n.Attrs[i]; a.Prefix != "" {
					a.Space, _ = n.lookup(a.Prefix)
				}
			}
			top.Nodes = append(top.Nodes, n)
			open = append(open, n)
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			top.Text += string(tok)
		}
	}
	flatten(root)
	return show(root.Nodes[0])
}

// flatten normalizes white space in attributes, because the standard library does not.
func flatten(n *Node) {
	for i, a := range n.Attrs {
		n.Attrs[i].Value = strings.NewReplacer("\r", " ", "\n", " ", "\t", " ").Replace(a.Value)
	}
	for _, c := range n.Nodes {
		flatten(c)
	}
}

func BenchmarkRead(b *testing.B) {
	doc := []byte(`<?xml version="1.0"?><methodCall><methodName>rssCloud.pleaseNotify</methodName><params>` +
		strings.Repeat(`<param><value><string>http://example.com/?a=1&amp;b=2</string></value></param>`, 5) +
		`</params></methodCall>`)
	b.SetBytes(int64(len(doc)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Read(bytes.NewReader(doc), Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
