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

func TestMarksAreSetByForms(t *testing.T) {
	t.Parallel()
	x := newBank(t).as("alice")
	a, b := x.brook.items[0].ID, x.brook.items[1].ID
	id := strconv.FormatInt(a, 10)
	rec := x.send("/river/mark", "star", id, "back", "/river?category=Weblogs")
	if rec.Code != 303 || rec.Header().Get("Location") != "/river?category=Weblogs#i"+id {
		t.Errorf("%d %s", rec.Code, rec.Header().Get("Location"))
	}
	_ = x.send("/river/mark", "read", id+","+strconv.FormatInt(b, 10))
	if m := x.brook.marks["alice"]; !m[a].Starred || !m[a].Read || !m[b].Read || m[b].Starred {
		t.Errorf("%+v %+v", m[a], m[b])
	}
	if doc := check(t, x.open("/river?starred=1")); len(find(doc, "article", "item")) != 1 {
		t.Error("the starred one is not shown")
	}
	_ = x.send("/river/mark", "unstar", id, "unread", id)
	if m := x.brook.marks["alice"][a]; m.Starred || m.Read {
		t.Errorf("%+v", m)
	}
	if len(x.brook.marks[""]) != 0 {
		t.Error("another reader's marks changed")
	}
}

func TestAScriptThatMarksGetsNoPage(t *testing.T) {
	t.Parallel()
	x := newBank(t).as("alice")
	r := httptest.NewRequest("POST", "/river/mark", strings.NewReader("star="+strconv.FormatInt(x.brook.items[0].ID, 10)))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Accept", "text/plain")
	if rec := x.do(r); rec.Code != 204 {
		t.Error(rec.Code)
	}
}

func TestMarkingRefusesWhatItCannotRead(t *testing.T) {
	t.Parallel()
	x := newBank(t).as("alice")
	many := strings.Repeat("7,", 1000) + "7"
	for _, c := range []struct {
		fields []string
		want   int
	}{{nil, 400}, {[]string{"star", "x"}, 400}, {[]string{"star", "-1"}, 400}, {[]string{"star", ""}, 400}, {[]string{"read", many}, 429}, {[]string{"star", strings.Repeat("1", 70<<10)}, 400}} {
		if rec := x.send("/river/mark", c.fields...); rec.Code != c.want {
			t.Errorf("%.30v: %d, not %d", c.fields, rec.Code, c.want)
		}
	}
	if len(x.brook.marks["alice"]) != 0 {
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

func TestReadMarksAndCountsAreOffUntilSomebodyWantsThem(t *testing.T) {
	t.Parallel()
	x := newBank(t).as("alice")
	if body := x.open("/river").Body.String(); strings.Contains(body, "readmark") || strings.Contains(body, "Mark all read") || strings.Contains(body, "> unread<") {
		t.Error("they are on")
	}
	rec := x.send("/river/settings", "counts", "1", "marks", "1", "back", "/river?q=rain")
	c := rec.Result().Cookies()
	if len(c) != 1 || c[0].Value != "counts.marks" || !c[0].HttpOnly || rec.Header().Get("Location") != "/river?q=rain" {
		t.Fatalf("%v", c)
	}
	r := httptest.NewRequest("GET", "/river", nil)
	r.AddCookie(&http.Cookie{Name: c[0].Name, Value: c[0].Value})
	body := x.do(r).Body.String()
	for _, want := range []string{"readmark", "Mark all read", "72<span class=\"sr\"> unread</span>", `class="river marking"`} {
		if !strings.Contains(body, want) {
			t.Errorf("the page has no %q", want)
		}
	}
	off := x.send("/river/settings").Result().Cookies()
	if len(off) != 1 || off[0].MaxAge >= 0 {
		t.Errorf("%v", off)
	}
}

func TestEverythingIsReadUpToWhatThePageShowed(t *testing.T) {
	t.Parallel()
	x := newBank(t).as("alice")
	at := x.fake.now.Add(-time.Hour)
	if rec := x.send("/river/read", "category", "Weblogs", "to", strconv.FormatInt(at.UnixMilli(), 10)); rec.Code != 303 {
		t.Fatal(rec.Code)
	}
	for _, f := range x.brook.subs["alice"] {
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

func FuzzRiverQuery(f *testing.F) {
	for _, s := range []string{"", "category=a%2Fb&source=7&q=is:starred+x&before=1795198993947.77", "starred=1&unread=1", "source=-1", "before=1.2.3", "q=%ff%00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		v, err := url.ParseQuery(s)
		if err != nil {
			return
		}
		q := parseRiverQuery(v)
		back := parseRiverQuery(q.values())
		back.Before = q.Before
		if q.Wrong == "" && back != q {
			t.Errorf("%+v comes back as %+v", q, back)
		}
		if p, ok := parseRiverPlace(riverPlace(q.Before)); q.Before.ID != 0 && (!ok || p != q.Before) {
			t.Errorf("%v comes back as %v", q.Before, p)
		}
	})
}
