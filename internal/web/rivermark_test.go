package web

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestItemsAreMarkedByForms(t *testing.T) {
	t.Parallel()
	x := newRiverHarness(t).as("alice")
	a, b := x.fakeRiver.items[0].ID, x.fakeRiver.items[1].ID
	id := strconv.FormatInt(a, 10)
	rec := x.send("/river/mark", "star", id, "back", "/river?category=Weblogs")
	if rec.Code != 303 || rec.Header().Get("Location") != "/river?category=Weblogs#i"+id {
		t.Errorf("%d %s", rec.Code, rec.Header().Get("Location"))
	}
	_ = x.send("/river/mark", "read", id+","+strconv.FormatInt(b, 10))
	if m := x.fakeRiver.marks["alice"]; !m[a].Starred || !m[a].Read || !m[b].Read || m[b].Starred {
		t.Errorf("%+v %+v", m[a], m[b])
	}
	if doc := check(t, x.open("/river?starred=1")); len(find(doc, "article", "item")) != 1 {
		t.Error("the starred one is not shown")
	}
	_ = x.send("/river/mark", "unstar", id, "unread", id)
	if m := x.fakeRiver.marks["alice"][a]; m.Starred || m.Read {
		t.Errorf("%+v", m)
	}
	if len(x.fakeRiver.marks[""]) != 0 {
		t.Error("another reader's marks changed")
	}
}

func TestMarkRequestOfAScriptReturnsNoContent(t *testing.T) {
	t.Parallel()
	x := newRiverHarness(t).as("alice")
	r := httptest.NewRequest("POST", "/river/mark", strings.NewReader("star="+strconv.FormatInt(x.fakeRiver.items[0].ID, 10)))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Accept", "text/plain")
	if rec := x.do(r); rec.Code != 204 {
		t.Error(rec.Code)
	}
}

func TestMarkRequestWithInvalidValuesIsRejected(t *testing.T) {
	t.Parallel()
	x := newRiverHarness(t).as("alice")
	many := strings.Repeat("7,", 1000) + "7"
	for _, c := range []struct {
		fields []string
		want   int
	}{{nil, 400}, {[]string{"star", "x"}, 400}, {[]string{"star", "-1"}, 400}, {[]string{"star", ""}, 400}, {[]string{"read", many}, 429}, {[]string{"star", strings.Repeat("1", 70<<10)}, 400}} {
		if rec := x.send("/river/mark", c.fields...); rec.Code != c.want {
			t.Errorf("%.30v: %d, not %d", c.fields, rec.Code, c.want)
		}
	}
	if len(x.fakeRiver.marks["alice"]) != 0 {
		t.Error("something was marked")
	}
	for _, back := range []string{"//evil.example/", "https://evil.example/", "/logout", `/river\..\..`, "/river#x"} {
		if rec := x.send("/river/mark", "star", "7", "back", back); !strings.HasPrefix(rec.Header().Get("Location"), "/river#") {
			t.Errorf("back to %q: %s", back, rec.Header().Get("Location"))
		}
	}
	r := httptest.NewRequest("POST", "/river/mark", strings.NewReader("star=7"))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Origin", "https://evil.example")
	r.Header.Set("Sec-Fetch-Site", "cross-site")
	if rec := x.do(r); rec.Code != 403 {
		t.Errorf("a form of another site: %d", rec.Code)
	}
}

func TestDisplaySettingsAreStoredWithTheAccount(t *testing.T) {
	t.Parallel()
	x := newRiverHarness(t).as("alice")
	body := x.open("/river").Body.String()
	for _, want := range []string{"readmark", "Mark all 72 read", "72<span class=\"sr\"> unread</span>", `class="river marking"`} {
		if !strings.Contains(body, want) {
			t.Errorf("by default the page has no %q", want)
		}
	}
	rec := x.send("/river/display", "density", "titles", "text", "huge", "font", "serif", "theme", "sepia", "width", "everywhere", "back", "/river?q=rain")
	if rec.Header().Get("Location") != "/river?q=rain" || len(rec.Result().Cookies()) != 0 {
		t.Errorf("%v", rec.Header())
	}
	body = x.open("/river").Body.String()
	for _, want := range []string{`class="river show-titles text-huge serif"`, "/static/sepia."} {
		if !strings.Contains(body, want) {
			t.Errorf("the page has no %q", want)
		}
	}
	for _, refused := range []string{"readmark", "Mark all"} {
		if strings.Contains(body, refused) {
			t.Errorf("read tracking is off, and the page has %q", refused)
		}
	}
	if body := x.open("/river/display").Body.String(); !strings.Contains(body, `<option value="titles" selected>`) || !strings.Contains(body, `<option value="" selected>Normal<`) {
		t.Error("the form does not show the settings")
	}
}

func TestDisplaySettingsAreStoredInACookieWithoutAccount(t *testing.T) {
	t.Parallel()
	x := newRiverHarness(t)
	c := x.send("/river/display", "theme", "dark", "marks", "1", "counts", "1").Result().Cookies()
	if len(c) != 1 || c[0].Name != "display" || !c[0].HttpOnly || c[0].Path != "/" {
		t.Fatalf("%v", c)
	}
	r := httptest.NewRequest("GET", "/hub", nil)
	r.AddCookie(&http.Cookie{Name: c[0].Name, Value: c[0].Value})
	if body := x.do(r).Body.String(); !strings.Contains(body, `href="/static/tint/-dark.css"`) {
		t.Error("the page has no dark colours")
	}
	if c := x.send("/river/display", "marks", "1", "counts", "1").Result().Cookies(); len(c) != 1 || c[0].MaxAge >= 0 {
		t.Errorf("the cookie of defaults: %v", c)
	}
}

func TestMarkAllReadAffectsOnlyItemsOlderThanThePage(t *testing.T) {
	t.Parallel()
	x := newRiverHarness(t).as("alice")
	at := x.fake.now.Add(-time.Hour)
	if rec := x.send("/river/read", "category", "Weblogs", "to", strconv.FormatInt(at.UnixMilli(), 10)); rec.Code != 303 {
		t.Fatal(rec.Code)
	}
	for _, f := range x.fakeRiver.subs["alice"] {
		want := time.Time{}
		if f.Categories[0] == "Weblogs" {
			want = at
		}
		if !f.ReadTo.Equal(want) {
			t.Errorf("%s: read to %s", f.Name(), f.ReadTo)
		}
	}
	for _, fields := range [][]string{{"to", "x"}, {"to", "-1"}, {"source", "x"}} {
		if rec := x.send("/river/read", fields...); rec.Code != 400 {
			t.Errorf("%v: %d", fields, rec.Code)
		}
	}
}

func TestMarkAllReadShowsItsCountAndCanBeUndone(t *testing.T) {
	t.Parallel()
	x := newRiverHarness(t).as("alice")
	unread := func() (n int64) {
		all, err := x.fakeRiver.CountUnread(t.Context(), "alice")
		if err != nil {
			t.Fatal(err)
		}
		for _, u := range all {
			n += u.Items
		}
		return n
	}
	before := unread()
	rec := x.send("/river/read", "category", "Weblogs", "back", "/river?category=Weblogs")
	marked := before - unread()
	to, err := url.Parse(rec.Header().Get("Location"))
	if err != nil || to.Path != "/river" || to.Query().Get("category") != "Weblogs" || to.Query().Get("marked") != strconv.FormatInt(marked, 10) || marked == 0 || marked == before {
		t.Fatalf("%d of %d were marked; it leads to %s", marked, before, to)
	}
	doc := check(t, x.open(to.String()))
	bar := find(doc, "div", "undo")
	if len(bar) != 1 || !strings.HasPrefix(text(bar[0]), "Marked "+strconv.FormatInt(marked, 10)+" items read. Undo until ") {
		t.Fatalf("the bar is %v", bar)
	}
	form := find(bar[0], "form", "")[0]
	fields := []string{}
	for _, f := range find(form, "input", "") {
		fields = append(fields, attr(f, "name"), attr(f, "value"))
	}
	rec = x.send(attr(form, "action"), fields...)
	if got := rec.Header().Get("Location"); rec.Code != 303 || got != "/river?category=Weblogs&unmarked="+strconv.FormatInt(marked, 10) || unread() != before {
		t.Errorf("undone: %d to %s, %d are unread", rec.Code, got, unread())
	}
	if doc := check(t, x.open(rec.Header().Get("Location"))); text(find(doc, "p", "note")[0]) != "Undone: "+strconv.FormatInt(marked, 10)+" items unread again." {
		t.Errorf("the page does not show the undo: %s", text(doc))
	}
	if rec := x.send(attr(form, "action"), fields...); rec.Code != 409 {
		t.Errorf("undone twice: %d", rec.Code)
	}
	if rec := x.send(attr(form, "action"), "to", "x"); rec.Code != 400 {
		t.Errorf("no moment: %d", rec.Code)
	}
	x.fake.now = x.fake.now.Add(61 * time.Second)
	if doc := check(t, x.open(to.String())); len(find(doc, "div", "undo")) != 0 {
		t.Error("after a minute it can still be undone")
	}
	for _, query := range []string{"marked=-1&to=1&at=1", "marked=x&to=x&at=x", "marked=5", "unmarked=-3", "marked=99999999999999999999&to=1&at=1"} {
		if doc := check(t, x.open("/river?"+query)); len(find(doc, "div", "undo")) != 0 || len(find(doc, "p", "note")) != 0 {
			t.Errorf("%s is believed", query)
		}
	}
}
