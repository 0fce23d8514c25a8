package cnws

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"cloudburst/internal/xmlsafe"

	"github.com/google/go-cmp/cmp"
)

func wrap(inner string) string {
	return `<notification version="1.0" xmlns="` + Namespace + `">` + inner + `</notification>`
}

const (
	subscribeDoc = `<notification version="1.0" xmlns="` + Namespace + `">
<subscribe>
<resourceID>http://news.example.com/</resourceID>
<notificationURL>http://subscriber.example.net:8888/</notificationURL>
</subscribe>
</notification>`
	changeDoc = `<notification version="1.0" xmlns="` + Namespace + `">
<resourceChange>
<resourceID>http://news.example.com/</resourceID>
<changeTime>Mon, 07 Apr 2003 22:59:33 BST</changeTime>
<title>A new post</title>
<description>What it says &amp; more.</description>
</resourceChange>
</notification>`
	resultDoc = `<notification version="1.0" xmlns="` + Namespace + `">
<result>
<status>true</status>
<title>News</title>
<description>All of them.</description>
</result>
</notification>`
	foreignDoc = `<?xml version="1.0"?><c:notification xmlns:c="` + Namespace + `" xmlns:h="http://www.w3.org/1999/xhtml" xmlns:x="urn:x">
<x:outside>not kept</x:outside>
<c:resourceChange><c:resourceID>http://news.example.com/</c:resourceID>
<h:div class="a" x:mark="1">one <h:b>two</h:b> three<h:br/></h:div>
<plain>p</plain>
<x:point><x:x>1</x:x><c:title>inside</c:title></x:point>
</c:resourceChange></c:notification>`
)

func parse(t *testing.T, doc string) Document {
	t.Helper()
	d, err := Parse(strings.NewReader(doc))
	if err != nil {
		t.Fatalf("%s: %v", doc, err)
	}
	return d
}

func TestMessagesFromTheSpecificationAreParsed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, doc string
		want      Document
	}{
		{"subscribe", subscribeDoc, Document{Subscribe: &Subscribe{"http://news.example.com/", "http://subscriber.example.net:8888/"}}},
		{"change", changeDoc, Document{Change: &Change{
			ResourceID: "http://news.example.com/", ChangeTime: time.Date(2003, 4, 7, 21, 59, 33, 0, time.UTC),
			Title: "A new post", Description: "What it says & more.",
		}}},
		{"result", resultDoc, Document{Result: &Result{Status: true, Title: "News", Description: "All of them."}}},
		{"nothing but a status", wrap("<result><status>\n FALSE </status></result>"), Document{Result: &Result{}}},
		{"1", wrap("<result><status>1</status></result>"), Document{Result: &Result{Status: true}}},
		{"0", wrap("<result><status>0</status></result>"), Document{Result: &Result{}}},
		{"no version", strings.Replace(resultDoc, ` version="1.0"`, "", 1), Document{Result: &Result{Status: true, Title: "News", Description: "All of them."}}},
		{"order, foreign elements and unknown names", wrap(`<x:a xmlns:x="u"><subscribe/></x:a><future/><subscribe>
			<notificationURL> http://s.example/cb?a=1&amp;b </notificationURL><y/><resourceID xmlns="u">no</resourceID>
			<resourceID>https://n.example/a#b</resourceID></subscribe>`), Document{Subscribe: &Subscribe{"https://n.example/a#b", "http://s.example/cb?a=1&b"}}},
		{"no time", wrap("<resourceChange><resourceID>http://n.example/</resourceID></resourceChange>"), Document{Change: &Change{ResourceID: "http://n.example/"}}},
		{"an invalid time", wrap("<resourceChange><resourceID>http://n.example/</resourceID><changeTime>yesterday</changeTime></resourceChange>"), Document{Change: &Change{ResourceID: "http://n.example/"}}},
		{"another zone", wrap("<resourceChange><resourceID>http://n.example/</resourceID><changeTime>Mon, 7 Apr 03 22:59 EDT</changeTime></resourceChange>"), Document{Change: &Change{ResourceID: "http://n.example/", ChangeTime: time.Date(2003, 4, 8, 2, 59, 0, 0, time.UTC)}}},
		{"markup in a text", wrap("<result><status>true</status><title> a <b>b<i>c</i></b> d</title><description><![CDATA[1 < 2]]></description></result>"), Document{Result: &Result{Status: true, Title: "a bc d", Description: "1 < 2"}}},
		{"elements of others", foreignDoc, Document{Change: &Change{ResourceID: "http://news.example.com/", Other: []Element{
			{Space: "http://www.w3.org/1999/xhtml", Name: "div", Attrs: []Attr{{"", "class", "a"}, {"urn:x", "mark", "1"}}, Text: "one  three", Nodes: []Element{
				{Space: "http://www.w3.org/1999/xhtml", Name: "b", Text: "two", At: 4},
				{Space: "http://www.w3.org/1999/xhtml", Name: "br", At: 10},
			}},
			{Name: "plain", Text: "p"},
			{Space: "urn:x", Name: "point", Nodes: []Element{{Space: "urn:x", Name: "x", Text: "1"}, {Space: Namespace, Name: "title", Text: "inside"}}},
		}}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := parse(t, c.doc)
			if d := cmp.Diff(c.want, got); d != "" {
				t.Fatal(d)
			}
			b, err := got.Marshal()
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(got, parse(t, string(b))); d != "" {
				t.Errorf("%s\n%s", b, d)
			}
		})
	}
}

func TestMarshalMatchesTheSpecification(t *testing.T) {
	t.Parallel()
	head := "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n"
	for _, doc := range []string{subscribeDoc, resultDoc, strings.Replace(changeDoc, "Mon, 07 Apr 2003 22:59:33 BST", "Mon, 07 Apr 2003 21:59:33 GMT", 1)} {
		b, err := parse(t, doc).Marshal()
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(head+doc+"\n", string(b)); d != "" {
			t.Error(d)
		}
	}
	b, err := parse(t, foreignDoc).Marshal()
	if err != nil {
		t.Fatal(err)
	}
	want := head + `<notification version="1.0" xmlns="` + Namespace + `" xmlns:n1="http://www.w3.org/1999/xhtml" xmlns:n2="urn:x" xmlns:n3="` + Namespace + `">
<resourceChange>
<resourceID>http://news.example.com/</resourceID>
<n1:div class="a" n2:mark="1">one <n1:b>two</n1:b> three<n1:br/></n1:div>
<plain xmlns="">p</plain>
<n2:point><n2:x>1</n2:x><n3:title>inside</n3:title></n2:point>
</resourceChange>
</notification>
`
	if d := cmp.Diff(want, string(b)); d != "" {
		t.Error(d)
	}
}

func TestKnownEncodingsAreDecoded(t *testing.T) {
	t.Parallel()
	doc := wrap("<result><status>true</status><title>Grüße €</title></result>")
	latin := []byte(`<?xml version="1.0" encoding="windows-1252"?>` + strings.NewReplacer("ü", "\xfc", "ß", "\xdf", "€", "\x80").Replace(doc))
	wide := []byte{0xff, 0xfe}
	for _, u := range utf16.Encode([]rune(doc)) {
		wide = append(wide, byte(u), byte(u>>8))
	}
	for name, b := range map[string][]byte{"UTF-8": []byte(doc), "Windows-1252": latin, "UTF-16": wide} {
		d, err := Parse(bytes.NewReader(b))
		if err != nil || d.Result == nil || d.Result.Title != "Grüße €" {
			t.Errorf("%s: %+v, %v", name, d.Result, err)
		}
	}
	d, err := Decoder{Charset: "iso-8859-1"}.Document(bytes.NewReader([]byte(strings.Replace(doc, "Grüße €", "\xfc", 1))))
	if err != nil || d.Result.Title != "ü" {
		t.Errorf("the charset of the transport: %+v, %v", d.Result, err)
	}
}

func TestDocumentsOfOtherFormatsAreRejected(t *testing.T) {
	t.Parallel()
	change := "<resourceChange><resourceID>http://n.example/</resourceID>"
	var spaces strings.Builder
	for i := range maxSpaces + 1 {
		fmt.Fprintf(&spaces, `<a xmlns="u:%d"/>`, i)
	}
	for _, c := range []struct {
		name, doc, want string
		cause           error
	}{
		{"nothing", "", "no XML element", nil},
		{"a page", "<html><body>Hello</body></html>", "the document is a <html>", nil},
		{"an old cloud", "<notifyResult success=\"true\" msg=\"\"/>", "<notifyResult>", nil},
		{"no namespace", strings.Replace(resultDoc, ` xmlns="`+Namespace+`"`, "", 1), "has no namespace; write xmlns=", nil},
		{"another namespace", strings.Replace(resultDoc, "cnws-2003-04-08", "cnws-2004", 1), `cnws-2004.html", not in`, nil},
		{"another version", strings.Replace(resultDoc, `"1.0"`, `"2.0"`, 1), `the version is "2.0"`, nil},
		{"no action", wrap("<hello/>"), "there is no <subscribe>", nil},
		{"an action of another namespace", wrap(`<subscribe xmlns="u"/>`), "there is no <subscribe>", nil},
		{"two actions", wrap("<result><status>true</status></result>\n<subscribe/>"), "line 2: there is a <subscribe> after the <result> of line 1", nil},
		{"an action twice", wrap("<result><status>true</status></result><result><status>true</status></result>"), "<result> after the <result>", nil},
		{"a second root", resultDoc + resultDoc, "second root", nil},
		{"truncated document", changeDoc[:len(changeDoc)-len("</notification>")], "ends inside", nil},
		{"DOCTYPE", "<!DOCTYPE notification>" + resultDoc, "DOCTYPE", xmlsafe.ErrDoctype},
		{"entities", `<!DOCTYPE a [<!ENTITY x "y">]>` + strings.Replace(resultDoc, "News", "&x;", 1), "DOCTYPE", xmlsafe.ErrDoctype},
		{"300 KiB", strings.Replace(changeDoc, "What", strings.Repeat("x", 300<<10), 1), "256 KiB", xmlsafe.ErrTooLarge},
		{"deep nesting", wrap(change + strings.Repeat("<a>", 5000) + strings.Repeat("</a>", 5000) + "</resourceChange>"), "nested more than 100 deep", xmlsafe.ErrTooComplex},
		{"many namespaces", wrap(change + spaces.String() + "</resourceChange>"), "more than 64 namespaces", xmlsafe.ErrTooComplex},
		{"many attributes", wrap(change + "<x:a xmlns:x='u'" + manyAttrs(maxAttrs+1) + "/></resourceChange>"), "more than 100 attributes", xmlsafe.ErrTooComplex},
		{"an unknown encoding", `<?xml version="1.0" encoding="ebcdic"?>` + resultDoc, "ebcdic", xmlsafe.ErrEncoding},
	} {
		d, err := Parse(strings.NewReader(c.doc))
		bad, ok := errors.AsType[*SyntaxError](err)
		if !ok || !strings.Contains(err.Error(), c.want) || d != (Document{}) {
			t.Errorf("%s: %+v, %v", c.name, d, err)
		} else if c.cause != nil && !errors.Is(bad, c.cause) {
			t.Errorf("%s: %v is not %v", c.name, err, c.cause)
		}
	}
}

func manyAttrs(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, " a%d=''", i)
	}
	return b.String()
}

func TestErrorNamesTheInvalidField(t *testing.T) {
	t.Parallel()
	subscribe := func(id, url string) string {
		return wrap("<subscribe><resourceID>" + id + "</resourceID><notificationURL>" + url + "</notificationURL></subscribe>")
	}
	const good = "http://n.example/"
	long := good + strings.Repeat("x", MaxURL)
	for _, c := range []struct{ doc, field, want string }{
		{subscribe("", good), "resourceID", "missing"},
		{wrap("<subscribe/>"), "resourceID", "missing"},
		{wrap("<resourceChange/>"), "resourceID", "missing"},
		{subscribe(good, " "), "notificationURL", "missing"},
		{subscribe(long, good), "resourceID", "longer than 2048 bytes"},
		{subscribe(good, long), "notificationURL", "longer than 2048 bytes"},
		{subscribe(good, "http://s.example/#x"), "notificationURL", "fragment"},
		{subscribe(good, "http://s.example:99999/"), "notificationURL", "65535"},
		{subscribe("http://s.example:0/", good), "resourceID", "65535"},
		{subscribe(good, "ftp://s.example/"), "notificationURL", "http:// or https://"},
		{subscribe("urn:isbn:3", good), "resourceID", "http:// or https://"},
		{subscribe(good, "http:///cb"), "notificationURL", "names no host"},
		{subscribe(good, "http://u:p@s.example/"), "notificationURL", "user name"},
		{subscribe(good, "http://s.example/a b"), "notificationURL", "space"},
		{subscribe(good, "http://s.example/%zz"), "notificationURL", "not a URL"},
		{subscribe(good+"</resourceID><resourceID>"+good, good), "resourceID", "more than one"},
		{subscribe(good+"<b/>", good), "resourceID", "without elements"},
		{wrap("<result/>"), "status", `"" ; it must`},
		{wrap("<result><status>yes</status></result>"), "status", `"yes"`},
		{wrap("<result><status>true</status><status>false</status></result>"), "status", "more than one"},
		{wrap("<result><status>true</status><title/><title/></result>"), "title", "more than one"},
	} {
		d, err := Parse(strings.NewReader(c.doc))
		f, ok := errors.AsType[*FieldError](err)
		if want := strings.Replace(c.want, " ;", ";", 1); !ok || f.Field != c.field || !strings.Contains(f.Msg, want) || d != (Document{}) {
			t.Errorf("%.200s: %+v, %v", c.doc, d, err)
		}
	}
}

func TestLongTitleIsReadAndCutWhenWritten(t *testing.T) {
	t.Parallel()
	words := strings.Repeat("schöne neue Welt, ", 400)
	d := parse(t, wrap("<result><status>true</status><title>"+words+"</title></result>"))
	if n := utf8.RuneCountInString(d.Result.Title); n > maxTitle || n < maxTitle-1 {
		t.Errorf("%d characters were read", n)
	}
	for _, c := range []struct{ title, want string }{
		{strings.Repeat("é", 255), strings.Repeat("é", 255)},
		{strings.Repeat("é", 256), strings.Repeat("é", 254) + "…"},
		{strings.Repeat("word ", 60), strings.TrimSpace(strings.Repeat("word ", 50)) + "…"},
		{"  a\n", "a"},
		{"a\x00b", "a\uFFFDb"},
		{"short " + strings.Repeat("y", 300), "short " + strings.Repeat("y", 248) + "…"},
	} {
		if got := CutTitle(c.title); got != c.want {
			t.Errorf("%.20q: %q", c.title, got)
		}
	}
	b, err := d.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	again := parse(t, string(b)).Result.Title
	if n := utf8.RuneCountInString(again); n > MaxTitle || !strings.HasSuffix(again, "…") || strings.HasSuffix(again, ",…") {
		t.Errorf("%d characters were written: %q", n, again)
	}
}

func TestMarshalRejectsValuesThatParseWouldReject(t *testing.T) {
	t.Parallel()
	deep := Element{Space: "u", Name: "a"}
	for range maxDepth {
		deep = Element{Space: "u", Name: "a", Nodes: []Element{deep}}
	}
	change := func(e ...Element) Document {
		return Document{Change: &Change{ResourceID: "http://n.example/", Other: e}}
	}
	var many []Element
	for i := range maxSpaces + 1 {
		many = append(many, Element{Space: fmt.Sprint("u:", i), Name: "a"})
	}
	for name, d := range map[string]Document{
		"nothing":                            {},
		"two":                                {Subscribe: &Subscribe{"http://a/", "http://b/"}, Result: &Result{}},
		"no resource":                        {Change: &Change{}},
		"a fragment":                         {Subscribe: &Subscribe{"http://a/", "http://b/#c"}},
		"an element of the protocol":         change(Element{Space: Namespace, Name: "title"}),
		"an invalid name":                    change(Element{Space: "u", Name: "a b"}),
		"a declaration as attribute":         change(Element{Space: "u", Name: "a", Attrs: []Attr{{"", "xmlns", "v"}}}),
		"an attribute twice":                 change(Element{Space: "u", Name: "a", Attrs: []Attr{{"", "b", "1"}, {"", "b", "2"}}}),
		"the namespace of namespaces":        change(Element{Space: xmlsafe.XMLNSSpace, Name: "a"}),
		"a character that is invalid in XML": change(Element{Space: "u", Name: "a", Text: "\x00"}),
		"too deep":                           change(deep),
		"too many namespaces":                change(many...),
	} {
		if b, err := d.Marshal(); err == nil {
			t.Errorf("%s was written: %s", name, b)
		}
	}
	odd := change(Element{Space: "u", Name: "a", Text: "aé", Nodes: []Element{{Space: "u", Name: "b", At: 2}, {Space: "u", Name: "c", At: -1}, {Space: "u", Name: "d", At: 99}}})
	b, err := odd.Marshal()
	if err != nil || !strings.Contains(string(b), "<n1:a>aé<n1:b/><n1:c/><n1:d/></n1:a>") {
		t.Errorf("invalid offsets: %s, %v", b, err)
	}
}

func TestParseResultRequiresCompleteDocument(t *testing.T) {
	t.Parallel()
	r, err := ParseResult("text/xml; charset=utf-8", []byte(resultDoc))
	if err != nil || !r.Status {
		t.Errorf("%+v, %v", r, err)
	}
	for name, body := range map[string]string{
		"nothing": "", "a page": "<html/>", "OK": "OK", "another message": changeDoc,
		"no status": wrap("<result/>"), "half": resultDoc[:len(resultDoc)-3],
	} {
		if r, err := ParseResult("text/html", []byte(body)); !errors.Is(err, ErrInvalidResponse) || r.Status {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
}

func TestSubscriptionIsRenewedAfterThirtyDaysWithoutNotification(t *testing.T) {
	t.Parallel()
	now := time.Date(2003, 5, 1, 12, 0, 0, 0, time.UTC)
	day := 24 * time.Hour
	for _, c := range []struct {
		name                string
		received, confirmed time.Time
		outage              bool
		want                time.Time
	}{
		{"no notification, never confirmed", time.Time{}, time.Time{}, false, now},
		{"confirmed today", time.Time{}, now, false, now.Add(30 * day)},
		{"notification after the confirmation", now.Add(-day), now.Add(-9 * day), false, now.Add(29 * day)},
		{"confirmation after the notification", now.Add(-40 * day), now.Add(-day), false, now.Add(29 * day)},
		{"silent for 30 days", now.Add(-30 * day), now.Add(-31 * day), false, now},
		{"silent for longer", now.Add(-45 * day), time.Time{}, false, now.Add(-15 * day)},
		{"an outage", now.Add(-time.Hour), now.Add(-time.Hour), true, now},
		{"a clock that was set back", now.Add(90 * day), now, false, now.Add(30 * day)},
	} {
		if got := ConfirmAt(now, c.received, c.confirmed, c.outage); !got.Equal(c.want) {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	for _, c := range []struct {
		alive    time.Time
		patience time.Duration
		want     bool
	}{
		{time.Time{}, 0, true}, {now, 0, false}, {now.Add(-5 * time.Minute), 0, false}, {now.Add(-6 * time.Minute), 0, true},
		{now.Add(-6 * time.Minute), time.Hour, false}, {now.Add(time.Hour), 0, false},
	} {
		if got := Outage(c.alive, now, c.patience); got != c.want {
			t.Errorf("%+v: %t", c, got)
		}
	}
}
