package scan

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// read reads a document to its end.
func read(r *Reader) {
	for r.Next() != EOF {
		if r.Kind() == Text {
			r.Chars()
		}
	}
}

func TestProblemsAreCountedAfterReportingStops(t *testing.T) {
	t.Parallel()
	doc := "<r>" + strings.Repeat("& ", 50) + strings.Repeat("</x>", 50) + "</r>"
	reported := 0
	r := New(doc, Options{Problem: func(string, int, string) bool { reported++; return reported < 10 }})
	if read(r); reported != 10 || r.Unreported() != 90 {
		t.Errorf("%d problems were reported and %d were not", reported, r.Unreported())
	}
	r = New(doc, Options{})
	if read(r); r.Unreported() != 100 {
		t.Errorf("%d problems without a Problem function", r.Unreported())
	}
}

func TestLimitProblemsAreReportedAfterReportingStops(t *testing.T) {
	t.Parallel()
	doc := "<r>" + strings.Repeat("&", 50) + strings.Repeat("<a><b><c></c></b></a>", 50) + "</r>"
	kinds := map[string]int{}
	r := New(doc, Options{Depth: 3, Problem: func(kind string, _ int, _ string) bool {
		kinds[kind]++
		return false
	}})
	if read(r); kinds[Entity] != 1 || kinds[Limit] != maxLimits || r.Unreported() != 49+50-maxLimits {
		t.Errorf("%v, and %d unreported", kinds, r.Unreported())
	}
}

func TestProblemMessagesContainOnlyShortExcerpts(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ä", 100_000)
	for _, doc := range []string{
		"<r></" + long + ">", "<" + long + "></r>", "<r><" + long, "<r " + long + ">", "<r a='1'><b " + long + "=1></b></r>",
		"<r></r><" + long + "/>", "<r " + long + "='1' " + long + "='2'/>", "<R></r><" + long + "></" + strings.ToUpper(long) + ">",
		"<r/>" + long,
	} {
		reported := 0
		read(New(doc, Options{Problem: func(_ string, _ int, message string) bool {
			if reported++; len(message) > 300 || !utf8.ValidString(message) {
				t.Errorf("%.20s: a message of %d bytes: %.100q", doc, len(message), message)
			}
			return true
		}}))
		if reported == 0 {
			t.Errorf("%.20s: no problem is reported", doc)
		}
	}
}

func TestNumberOfNamespacesIsLimited(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 10 {
		b.WriteString("<r")
		for k := range 100 {
			b.WriteString(" xmlns:n" + strings.Repeat("x", 1+i) + strings.Repeat("y", 1+k) + "='u'")
		}
		b.WriteString(">")
	}
	limited := 0
	r := New(b.String(), Options{Problem: func(kind string, _ int, _ string) bool {
		if kind == Limit {
			limited++
		}
		return true
	}})
	for r.Next() == Start {
	}
	if limited != 1000-maxBindings {
		t.Errorf("%d reports of too many namespaces", limited)
	}
	r = New(`<r xmlns:a="`+strings.Repeat("u", maxURI+1)+`"><a:b/></r>`, Options{})
	if seekTo(t, r, "a:b"); r.URI("a") != "" {
		t.Error("a namespace URI beyond the limit is stored")
	}
}

func TestLongLanguageTagsAreIgnored(t *testing.T) {
	t.Parallel()
	r := New(`<r xml:lang="de"><a xml:lang="`+strings.Repeat("x", 101)+`"/></r>`, Options{})
	if seekTo(t, r, "a"); r.Lang() != "de" {
		t.Errorf("language %q", r.Lang())
	}
}

func TestDuplicatesAmongManyAttributesAreDetected(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 300 {
		b.WriteString(" a" + strings.Repeat("b", i%200) + "='" + strings.Repeat("v", i) + "'")
	}
	twice := 0
	r := New("<r"+b.String()+"><c"+b.String()+"/></r>", Options{Attributes: 1000, Problem: func(kind string, _ int, _ string) bool {
		if kind == Attribute {
			twice++
		}
		return true
	}})
	for r.Next() == Start {
		if len(r.Attrs) != 200 || r.Attrs[150].Raw != strings.Repeat("v", 150) {
			t.Errorf("%d attributes", len(r.Attrs))
		}
	}
	if twice != 200 {
		t.Errorf("%d duplicates", twice)
	}
}

func BenchmarkAmpersands(b *testing.B) {
	for name, doc := range map[string]string{
		"and nothing else": "<r>" + strings.Repeat("&", 1<<20) + "</r>",
		"before words":     "<r>" + strings.Repeat("a&b c", 1<<18) + "</r>",
		"of XML":           "<r>" + strings.Repeat("&lt;b&gt;", 1<<17) + "</r>",
		"of HTML":          "<r>" + strings.Repeat("&eacute;", 1<<17) + "</r>",
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(doc)))
			for b.Loop() {
				read(New(doc, Options{}))
			}
		})
	}
}
