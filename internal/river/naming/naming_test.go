package naming

import (
	"fmt"
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

func TestImportReportsNamesOfCategoriesThatItChanges(t *testing.T) {
	t.Parallel()
	var reports []string
	report := func(format string, args ...any) { reports = append(reports, fmt.Sprintf(format, args...)) }
	same := strings.Repeat("y", 60)
	for in, want := range map[string]string{"News": "News", " Two  words ": "Two words", same + "-sport": same, same + "-politics": same, "Auto/Moto": "Auto-Moto", "..": "", "": ""} {
		if got := ImportedCategory(in, report); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
	all := strings.Join(reports, "\n")
	for _, want := range []string{
		"“" + same + "-sport” is called “" + same + "”: names have at most 60 characters", "“" + same + "-politics” is called “" + same + "”",
		"“Auto/Moto” is called “Auto-Moto”: names have no slash.",
	} {
		if !strings.Contains(all, want) || len(reports) != 3 {
			t.Errorf("%q is not in:\n%s", want, all)
		}
	}
}
