package readcli

import (
	"reflect"
	"testing"

	"cloudburst/feed/opml"
	"cloudburst/internal/cli/clitest"
)

func TestDocumentedTypesMatchOutputOfOPML(t *testing.T) {
	t.Parallel()
	doc := clitest.Declared(clitest.Section(t, "OPML"))
	doc.Check(t, "OPMLLine", reflect.TypeFor[outlineLine](), reflect.TypeFor[opml.Document]())
	doc.Check(t, "Head", reflect.TypeFor[opml.Head]())
	doc.Check(t, "OPMLOutline", reflect.TypeFor[opml.Outline]())
	doc.Check(t, "Namespace", reflect.TypeFor[opml.Namespace]())
	doc.Check(t, "OPMLProblem", reflect.TypeFor[opml.Problem]())
}
