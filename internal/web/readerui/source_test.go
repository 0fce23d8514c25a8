package readerui

import (
	"testing"

	"cloudburst/internal/web/shell"
)

func TestListOfRecommendedFeedsIsWellFormedOPML(t *testing.T) {
	t.Parallel()
	folders, err := startFolders()
	if err != nil {
		t.Fatal(err)
	}
	n, seen := 0, map[string]bool{}
	for _, f := range folders {
		for _, feed := range f.Feeds {
			n++
			if !shell.IsWebURL(feed.URL) || !shell.IsWebURL(feed.Home) || feed.Title == "" || feed.Text == "" || seen[feed.URL] {
				t.Errorf("%+v", feed)
			}
			seen[feed.URL] = true
		}
	}
	if n != 12 {
		t.Errorf("%d feeds", n)
	}
}
