package writecli

import (
	"reflect"
	"testing"

	"cloudburst/client"
	"cloudburst/internal/cli/clitest"
)

func TestDocumentedTypesMatchOutputOfReplies(t *testing.T) {
	t.Parallel()
	doc := clitest.Declared(clitest.Section(t, "Replies"))
	doc.Check(t, "Reply", reflect.TypeFor[client.Reply]())
	doc.Check(t, "SentWebmention", reflect.TypeFor[client.SentWebmention]())
}
