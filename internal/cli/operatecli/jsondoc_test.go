package operatecli

import (
	"reflect"
	"testing"

	"cloudburst/docs"
	"cloudburst/internal/cli/clitest"
	"cloudburst/internal/doctor"
)

func TestDocumentedTypesMatchOutputOfDoctor(t *testing.T) {
	t.Parallel()
	text, err := docs.Files.ReadFile("reference/doctor.md")
	if err != nil {
		t.Fatal(err)
	}
	doc := clitest.Declared(string(text))
	doc.Check(t, "Diagnosis", reflect.TypeFor[doctor.Report]())
	doc.Check(t, "Finding", reflect.TypeFor[doctor.Check]())
}
