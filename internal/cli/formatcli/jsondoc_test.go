package formatcli

import (
	"cmp"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"cloudburst/feed/discover"
	"cloudburst/internal/advice"
	"cloudburst/internal/cli/clitest"
	"cloudburst/internal/cli/shell"
)

func TestDocumentedTypesMatchOutputOfParse(t *testing.T) {
	t.Parallel()
	doc := clitest.Declared(clitest.Section(t, "Parse"))
	types := map[reflect.Type]bool{}
	clitest.PrintedTypes(reflect.TypeFor[feedLine](), types)
	clitest.PrintedTypes(reflect.TypeFor[shell.FailureLine](), types)
	// These types have other names in the documentation.
	names := map[reflect.Type]string{
		reflect.TypeFor[shell.InputError]():  "Error",
		reflect.TypeFor[discover.Link]():     "FoundLink",
		reflect.TypeFor[feedLine]():          "FeedLine",
		reflect.TypeFor[shell.FailureLine](): "ErrorLine",
	}
	// The problems in the line hide the problems of the feed.
	doc["Feed"] = append(doc["Feed"], clitest.Field{Name: "problems", Type: "Problem[]", Optional: true})
	for typ := range types {
		doc.Check(t, cmp.Or(names[typ], typ.Name()), typ)
	}
	if len(types) < 40 || len(types) != len(doc) {
		t.Errorf("%d types are printed, %d are declared", len(types), len(doc))
	}
}

func TestDocumentedTypesMatchOutputOfDiscover(t *testing.T) {
	t.Parallel()
	doc := clitest.Declared(clitest.Section(t, "Discover"))
	doc.Check(t, "Discovery", reflect.TypeFor[discovered](), reflect.TypeFor[discover.Result]())
}

func TestDocumentedTypesMatchOutputOfValidate(t *testing.T) {
	t.Parallel()
	doc := clitest.Declared(clitest.Section(t, "Validate"))
	doc.Check(t, "Validation", reflect.TypeFor[report]())
	doc.Check(t, "Finding", reflect.TypeFor[advice.Finding]())
	doc.Check(t, "Place", reflect.TypeFor[advice.Place]())
}

func TestDocumentedJSONExamplesDecode(t *testing.T) {
	t.Parallel()
	lines := 0
	for line := range strings.Lines(clitest.Section(t, "Parse")) {
		if !strings.HasPrefix(line, `{"input":`) {
			continue
		}
		lines++
		into := any(new(feedLine))
		if strings.Contains(line, `","error":{`) {
			into = new(shell.FailureLine)
		}
		dec := json.NewDecoder(strings.NewReader(line))
		dec.DisallowUnknownFields()
		if err := dec.Decode(into); err != nil {
			t.Errorf("%s: %v", line, err)
		}
	}
	if lines < 3 {
		t.Errorf("only %d examples", lines)
	}
}
