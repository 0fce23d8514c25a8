package markup

import (
	"strings"
	"testing"
)

func TestTaskListsHaveVisibleBoxes(t *testing.T) {
	t.Parallel()
	got, err := Render("- [x] done\n- [ ] *open*\n- [y] no task\n- [x](https://x.example/)\n- [x]word\n\n[x] no list", Markdown)
	if err != nil {
		t.Fatal(err)
	}
	want := "<ul>\n<li>☑ done</li>\n<li>☐ <em>open</em></li>\n<li>[y] no task</li>\n<li><a href=\"https://x.example/\">x</a></li>\n<li>[x]word</li>\n</ul>\n<p>[x] no list</p>"
	if got != want {
		t.Errorf("rendered as %s\nwant %s", got, want)
	}
	if again, err := Render(ToMarkdown(got, HTML), Markdown); err != nil || !strings.Contains(again, "☑ done") {
		t.Errorf("edited as Markdown: %s, %v", again, err)
	}
}
