package scan

import (
	"strings"
	"testing"
)

// siblings returns the events of doc, whose root has the children name, and the kinds of problems.
func siblings(doc, name string, o Options) (got, problems string) {
	o.Problem = func(kind string, _ int, _ string) bool {
		problems += kind + " "
		return true
	}
	r := New(doc, o)
	var b strings.Builder
	for k := r.Next(); k != EOF; k = r.Next() {
		switch k {
		case Start:
			if r.Depth() == 1 {
				r.Siblings(name, 1)
			}
			b.WriteString("<" + r.Name + ">")
		case Text:
			b.WriteString(r.Chars())
		case End:
			b.WriteString("</" + r.Name + ">")
		}
	}
	return b.String(), problems
}

// spaceNumber numbers namespaces: 0 is the format, 1 is another vocabulary.
func spaceNumber(_, uri string, _ int) int { return min(len(uri), 1) }

func TestCompleteSiblingsInsideAnotherVocabularyAreItsContent(t *testing.T) {
	t.Parallel()
	for _, doc := range []string{
		"<c><i><x:l><i>1</i></x:l><t>2</t></i><i>3</i></c>",
		"<c><i><x:l><i>1</i><i>2</i></x:l><t>3</t></i></c>",
		"<c><x:l><i>1</i></x:l><i>2</i></c>",
		"<c><i><l><x:m><f><i><l>1</l></i></f></x:m></l>2</i></c>",
		"<c><i><x:l><x:l><i>1</i></x:l></x:l>2</i></c>",
	} {
		if got, problems := siblings(doc, "i", Options{}); got != doc || problems != "" {
			t.Errorf("%s is read as %s, problems %s", doc, got, problems)
		}
	}
	const empty = "<c><i><x:l><i/><!-- </x:l> --><i/><![CDATA[</x:l>]]></x:l>2</i></c>"
	if got, problems := siblings(empty, "i", Options{}); got != "<c><i><x:l><i></i><i></i></x:l></x:l>2</i></c>" || problems != "" {
		t.Errorf("%s is read as %s, problems %s", empty, got, problems)
	}
	const byName = `<c><i><l xmlns="u"><i>1</i></l>2</i></c>`
	if got, problems := siblings(byName, "i", Options{Space: spaceNumber}); got != "<c><i><l><i>1</i></l>2</i></c>" || problems != "" {
		t.Errorf("%s is read as %s, problems %s", byName, got, problems)
	}
}

func TestSiblingClosesAnElementOfAnotherVocabularyWithoutEnd(t *testing.T) {
	t.Parallel()
	for doc, want := range map[string]string{
		"<c><i><x:l>1<i>2</i></c>":                                            "<c><i><x:l>1</x:l></i><i>2</i></c>",
		"<c><i><x:l>1<i><x:l>2</x:l></i></c>":                                 "<c><i><x:l>1</x:l></i><i><x:l>2</x:l></i></c>",
		"<c><i><x:l><t>1<i>2</x:l></i></c>":                                   "<c><i><x:l><t>1</t></x:l></i><i>2</i></c>",
		"<c><i><t>1<i><x:l>2</x:l></i></c>":                                   "<c><i><t>1</t></i><i><x:l>2</x:l></i></c>",
		"<c><i><x:l>1<i>" + strings.Repeat("2", maxNested) + "</i></x:l></c>": "",
	} {
		got, problems := siblings(doc, "i", Options{})
		if want != "" && got != want || !strings.Contains(problems, Unclosed) {
			t.Errorf("%.80s is read as %.80s, problems %s", doc, got, problems)
		}
	}
}

func TestProblemsAtTheEndOfACutDocumentAreNotReported(t *testing.T) {
	t.Parallel()
	for _, doc := range []string{"<c><i>1", "<c><i>1</", "<c><i a='", "<c><i><![CDATA[1", "<c><!-- ", "<c>&am"} {
		if _, problems := siblings(doc, "i", Options{Cut: 3}); problems != "" {
			t.Errorf("%s: problems %s", doc, problems)
		}
	}
	if _, problems := siblings("<c>&x <i>1", "i", Options{Cut: 6}); problems != Entity+" " {
		t.Errorf("problems %s, want only the one before the end", problems)
	}
}
