package writecli

import (
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cloudburst/client"
	"cloudburst/internal/cli/clitest"
)

func TestDocumentedTypesMatchOutputOfReplies(t *testing.T) {
	t.Parallel()
	doc := clitest.Declared(clitest.Section(t, "Replies"))
	doc.Check(t, "Reply", reflect.TypeFor[client.Reply]())
	doc.Check(t, "SentWebmention", reflect.TypeFor[client.SentWebmention]())
}

func TestHelpOfPostsListsTheFieldsOfTheirJSON(t *testing.T) {
	t.Parallel()
	var want []string
	for f := range reflect.TypeFor[client.Post]().Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		want = append(want, name)
	}
	if d := cmp.Diff(want, strings.Split(strings.ReplaceAll(postFields, "\n", " "), ", ")); d != "" {
		t.Error(d)
	}
}
