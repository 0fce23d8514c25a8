package text

import (
	"slices"
	"strings"
	"testing"
)

func TestNamesAreSortedWithoutAccentsAndCase(t *testing.T) {
	t.Parallel()
	list := []string{"Zeit", "zebra", "Ärzte", "apple", "Apple", "Éclair", "Echo", "日本"}
	slices.SortFunc(list, CompareNames)
	if got := strings.Join(list, " "); got != "Apple apple Ärzte Echo Éclair zebra Zeit 日本" {
		t.Error(got)
	}
}
