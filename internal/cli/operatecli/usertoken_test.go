package operatecli

import (
	"strings"
	"testing"
)

func TestScopeFlagAcceptsListsAndHasCompletions(t *testing.T) {
	t.Parallel()
	var list []string
	s := scopeList{&list}
	for _, text := range []string{"create, update", "update", "read"} {
		if err := s.Set(text); err != nil {
			t.Error(err)
		}
	}
	if s.String() != "create,update,read" {
		t.Error(s)
	}
	for _, text := range []string{"", "all", "read,", "Read", "create update"} {
		if err := s.Set(text); err == nil || !strings.Contains(err.Error(), "create, update, delete, media, read") {
			t.Errorf("%q: %v", text, err)
		}
	}
	offers, _ := completeScopes(nil, nil, "create,media,r")
	if got := strings.Join(offers, " "); got != "create,media,update create,media,delete create,media,read" {
		t.Error(got)
	}
}
