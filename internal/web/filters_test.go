package web

import (
	"maps"
	"strconv"
	"strings"
	"testing"

	"cloudburst/internal/river"
	"cloudburst/internal/river/filter"
)

func TestFilterIsPreviewedSavedMovedDisabledAndDeleted(t *testing.T) {
	t.Parallel()
	g := newFollowHarness(t)
	g.fakeRiver.addListsAndNotices("alice")
	id := river.SourceID("http://scripting.com/rss.xml")
	source := strconv.FormatInt(id, 10)
	g.fakeRiver.arrive(river.Item{SourceID: id, GUID: "1", Content: river.Content{Title: "Rain in Spain", Link: "https://example.org/rain"}},
		river.Item{SourceID: id, GUID: "2", Content: river.Content{Title: "Sunny, hidden", Link: "javascript:alert(1)"}})
	has(t, g.look("/feeds/filters"), "You have no filters yet.", `href="/feeds/filters/new"`)
	has(t, g.look("/feeds/filters/new?source="+source), `<option value="s:`+source+`" selected>Scripting News<`, "/filters.", `value="preview">Preview<`, "anna@example.org")
	form := []string{"what", "s:" + source, "field0", "title", "op0", "word", "values0", "rain\r\nsnow", "field1", "any", "op1", "not-contains", "values1", " ", "hide", "yes", "forward", "2"}
	page := g.wrong(200, "/feeds/filters/save", append(form, "do", "preview")...)
	has(t, page, "The filter would have matched 1 of the last 2 items. Nothing is saved yet.", `href="https://example.org/rain"`, "rain\nsnow</textarea>", `value="yes" checked><label for="x-hide">`)
	if len(g.fakeRiver.filters.list) != 0 {
		t.Fatal("a preview saves the filter")
	}
	has(t, g.look(g.done("/feeds/filters/save", form...)), "Saved. The filter applies to new items.", "Hide and forward to anna@example.org", "Scripting News", "Title has the word “rain” or “snow”", "0 matches")
	g.done("/feeds/filters/save", "values0", "wind", "field0", "any", "op0", "contains", "star", "yes", "read", "yes", "name", " Windy ", "what", "c:News", "apply", "yes")
	page = g.look("/feeds/filters")
	has(t, page, "Mark read and star", "category News", "Title or text contains “wind”", "Windy")
	if f := g.fakeRiver.filters.list[1]; !f.Applying || f.Category != "News" || f.Name != "Windy" {
		t.Errorf("saved: %+v", f)
	}
	g.done("/feeds/filters/move", "id", "2", "to", "up")
	if g.fakeRiver.filters.list[0].ID != 2 {
		t.Error("the filter did not move")
	}
	has(t, g.look(g.done("/feeds/filters/switch", "id", "2")), "The filter is off.", ">off<", "Turn on")
	page = g.look("/feeds/filters/edit?id=1")
	has(t, page, "rain\nsnow</textarea>", "The filter hides these items.", "Sunny, hidden", `name="id" value="1"`, "Show all again")
	lacks(t, page, "javascript:")
	hidden := strconv.FormatInt(river.ItemID(id, "2"), 10)
	has(t, g.look(g.done("/feeds/filters/show", "id", "1", "item", hidden, "item", "x")), "The items are in the river again, as read.")
	if len(g.fakeRiver.filters.shown) != 1 {
		t.Errorf("shown: %v", g.fakeRiver.filters.shown)
	}
	g.done("/feeds/filters/save", "id", "1", "values0", "fog", "field0", "author", "op0", "not-word", "read", "yes")
	if f := g.fakeRiver.filters.list[1]; f.ID != 1 || f.Hide || !f.Conditions[0].Not || f.Conditions[0].Field != filter.Author {
		t.Errorf("changed: %+v", f)
	}
	page = g.look(g.done("/feeds/filters/delete", "id", "1"))
	has(t, page, "Filter deleted.", `action="/feeds/filters/undo"`, `name="id" value="1"`)
	lacks(t, page, "fog")
	has(t, g.look(g.done("/feeds/filters/undo", "id", "1")), "Undone: the filter is back.", "fog")
	has(t, g.look("/feeds/"+source+"/settings"), `href="/feeds/filters/new?source=`+source+`"`)
}

func TestInvalidFilterShowsTheErrorNextToItsField(t *testing.T) {
	t.Parallel()
	g := newFollowHarness(t)
	g.fakeRiver.addListsAndNotices("alice")
	valid := map[string]string{"what": "", "field0": "title", "op0": "word", "values0": "x", "read": "yes"}
	for name, c := range map[string]struct {
		field, value, at, text string
	}{
		"no words":          {"values0", " \n ", "x-values0-wrong", "A filter needs a condition"},
		"invalid pattern":   {"op0", "regexp", "x-values0-wrong", "The regular expression is invalid"},
		"5,000 characters":  {"values0", strings.Repeat("x", 5000), "x-values0-wrong", "at most 200"},
		"no action":         {"read", "", "x-actions-wrong", "Choose what the filter does"},
		"unknown feed":      {"what", "s:x", "x-what-wrong", "Choose a feed"},
		"long name":         {"name", strings.Repeat("n", 150), "x-name-wrong", "at most 100 characters"},
		"wrong forwarding":  {"forward", "x", "x-forward-wrong", "Choose a forwarding"},
		"unknown op":        {"op0", "like", "x-values0-wrong", "A condition compares by"},
		"too large pattern": {"op0", "regexp", "x-values0-wrong", "too large"},
	} {
		values := map[string]string{}
		maps.Copy(values, valid)
		values[c.field] = c.value
		switch name {
		case "invalid pattern":
			values["values0"] = "a(b"
		case "too large pattern":
			values["values0"] = "((a{9}){9}){9}"
		}
		for _, do := range []string{"save", "preview"} {
			fields := []string{"do", do}
			for k, v := range values {
				fields = append(fields, k, v)
			}
			_, after, ok := strings.Cut(g.wrong(400, "/feeds/filters/save", fields...), `id="`+c.at+`">`)
			if after, _, _ = strings.Cut(after, "</div>"); !ok || !strings.Contains(after, c.text) {
				t.Errorf("%s, %s: %q is at the field, not %q", name, do, after, c.text)
			}
		}
	}
	if len(g.fakeRiver.filters.list) != 0 {
		t.Error("an invalid filter is saved")
	}
	for _, path := range []string{"save", "switch", "move", "delete", "show"} {
		g.wrong(404, "/feeds/filters/"+path, "id", "77", "values0", "x", "read", "yes")
	}
	g.wrong(404, "/feeds/filters/undo", "id", "x")
	if rec := g.open("/feeds/filters/edit?id=77"); rec.Code != 404 {
		t.Errorf("unknown filter: %d", rec.Code)
	}
}
