package naming

import (
	"strings"
	"testing"
)

func TestErrorForTooLongCategoryNameStatesItsLength(t *testing.T) {
	t.Parallel()
	if _, err := Category(strings.Repeat("é", 5000)); err == nil || !strings.Contains(err.Error(), "at most 60 characters; this one has 5000") {
		t.Error(err)
	}
	for _, bad := range []string{"", " ", "a/b", "..", "a\x00b"} {
		if got, err := Category(bad); err == nil {
			t.Errorf("%q becomes %q", bad, got)
		}
	}
	if got, err := Category(" שלום  News "); err != nil || got != "שלום News" {
		t.Errorf("%q, %v", got, err)
	}
}
