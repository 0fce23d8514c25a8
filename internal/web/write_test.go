package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"cloudburst/internal/author"
	"cloudburst/internal/fault"
)

// field returns the value of a form field of a page.
func (x *writeHarness) field(doc *html.Node, name string) string {
	x.Helper()
	for n := range doc.Descendants() {
		if n.Type != html.ElementNode || attr(n, "name") != name {
			continue
		}
		if n.Data == "textarea" {
			if n.FirstChild == nil {
				return ""
			}
			return n.FirstChild.Data
		}
		return attr(n, "value")
	}
	return ""
}

// location returns the target of a redirect.
func (x *writeHarness) location(rec *httptest.ResponseRecorder) *url.URL {
	x.Helper()
	u, err := url.Parse(rec.Header().Get("Location"))
	if rec.Code != http.StatusSeeOther || err != nil {
		x.Fatalf("%d to %q: %s", rec.Code, rec.Header().Get("Location"), text(check(x.T, rec)))
	}
	return u
}

// ask sends a form as the script write.js does, and returns the JSON response and its status.
func (x *writeHarness) ask(path string, fields ...string) (a answered, status int) {
	x.Helper()
	rec := x.send(path, fields...)
	if err := json.Unmarshal(rec.Body.Bytes(), &a); err != nil {
		x.Fatalf("%s: %d %s", path, rec.Code, rec.Body)
	}
	return a, rec.Code
}

// postMultipart sends a form with a file.
func (x *writeHarness) postMultipart(path, name, contentType string, content []byte, fields ...string) *httptest.ResponseRecorder {
	x.Helper()
	var b bytes.Buffer
	m := multipart.NewWriter(&b)
	for i := 0; i+1 < len(fields); i += 2 {
		if err := m.WriteField(fields[i], fields[i+1]); err != nil {
			x.Fatal(err)
		}
	}
	if name != "" {
		p, err := m.CreatePart(textproto.MIMEHeader{"Content-Disposition": {fmt.Sprintf(`form-data; name="upload"; filename=%q`, name)}, "Content-Type": {contentType}})
		if err != nil {
			x.Fatal(err)
		}
		_, _ = p.Write(content)
	}
	_ = m.Close()
	r := httptest.NewRequest("POST", path, &b)
	r.Header.Set("Content-Type", m.FormDataContentType())
	return x.do(r)
}

func (x *writeHarness) post(user string, id int64) author.Post {
	x.Helper()
	p, err := x.posts.Get(x.Context(), user, id)
	if err != nil {
		x.Fatal(err)
	}
	return p
}

func TestEditorNeedsASessionAndOpensAfterSignIn(t *testing.T) {
	t.Parallel()
	x := newWriteHarness(t)
	for _, path := range []string{"/write", "/write?reply=3", "/write/posts", "/write/1", "/account/author"} {
		if got := x.location(x.open(path)); got.Path != "/login" || got.Query().Get("next") != path {
			t.Errorf("%s leads to %s", path, got)
		}
	}
	for _, path := range []string{"/write/draft", "/write/preview", "/write/media", "/write/file"} {
		a, status := x.ask(path, "source", "x")
		if status != 401 || a.OK || a.Login != "/login?next=%2Fwrite" || !strings.Contains(a.Error, "signed out") {
			t.Errorf("%s: %d %+v", path, status, a)
		}
	}
	if len(x.fakePostStore.posts) != 0 {
		t.Error("a signed-out client wrote")
	}
}

func TestPublishedPostCanBeUndoneForAMinute(t *testing.T) {
	t.Parallel()
	x := newWriteHarness(t).as("alice")
	doc := check(t, x.open("/write"))
	key := x.field(doc, "key")
	if key == "" || x.field(doc, "writer") != "alice" || text(find(doc, "", "count")[0]) != "140 left" {
		t.Errorf("key %q, count %q", key, text(find(doc, "", "count")[0]))
	}
	send := func() *url.URL {
		return x.location(x.send("/write", "do", "publish", "key", key, "writer", "alice", "source", "Hello *world*\r\nagain"))
	}
	to := send()
	p := x.post("alice", 1)
	if p.State != author.Published || p.Source != "Hello *world*\nagain" || !strings.Contains(p.HTML, "<em>world</em>") {
		t.Errorf("published %+v", p)
	}
	if to.String() != "/write?did=published&done=1" {
		t.Errorf("leads to %s", to)
	}
	if again := send(); again.String() != to.String() || len(x.fakePostStore.posts) != 1 || x.fakePostStore.writes != 1 {
		t.Errorf("sent twice it is %d posts in %d writes", len(x.fakePostStore.posts), x.fakePostStore.writes)
	}
	doc = check(t, x.open(to.String()))
	bar := find(doc, "div", "undo")
	if len(bar) != 1 || !strings.Contains(text(bar[0]), "Published. View Undo until") || attr(find(bar[0], "form", "")[0], "action") != "/write/1/undo" {
		t.Fatalf("the bar is %v", bar)
	}
	if x.field(doc, "source") != "" || x.field(doc, "key") == key || attr(find(doc, "form", "writing")[0], "data-done") != "1 "+key {
		t.Error("the form after it is not empty")
	}
	x.location(x.send("/write/1/undo"))
	if p := x.post("alice", 1); p.State != author.Draft || p.Source == "" {
		t.Errorf("taken back it is %+v", p)
	}
	x.fake.now = x.fake.now.Add(2 * time.Minute)
	if rec := x.send("/write/1/undo"); rec.Code != 409 || !strings.Contains(text(check(t, rec)), "nothing to undo") {
		t.Errorf("later: %d", rec.Code)
	}
}

func TestSaveByScriptReturnsThePathOfTheNextPage(t *testing.T) {
	t.Parallel()
	x := newWriteHarness(t).as("alice")
	for do, want := range map[string]string{"publish": "/write?did=published&done=", "draft": "/write/"} {
		r := httptest.NewRequest("POST", "/write", strings.NewReader(url.Values{"do": {do}, "key": {do}, "writer": {"alice"}, "source": {"Hello"}}.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Accept", "application/json")
		rec := x.do(r)
		var a answered
		if err := json.Unmarshal(rec.Body.Bytes(), &a); err != nil || rec.Code != 200 || !a.OK || !strings.HasPrefix(a.Path, want) || rec.Header().Get("Location") != "" {
			t.Errorf("%s: %d %s", do, rec.Code, rec.Body)
		}
	}
}

func TestEditorShowsAllPropertiesOfAPost(t *testing.T) {
	t.Parallel()
	x := newWriteHarness(t).as("alice")
	x.location(x.send("/write", "do", "publish", "key", "k", "title", "A <b>walk</b>", "source", "Text", "link", "https://a.example/?a=1&b=2",
		"categories", "Walks, birds , Walks", "reply", "https://b.example/post", "reply-of", "https://b.example/post", "reply-guid", "urn:x", "reply-title", "That",
		"language", "de-CH", "file", "https://c.example/x.mp3", "file-type", "audio/mpeg", "file-length", "77", "file-alt", "A song",
		"file", "https://c.example/y.mp3", "file-type", "audio/mpeg", "file-length", "1", "file-alt", "", "file-drop", "https://c.example/y.mp3",
		"when", "2026-11-20T10:30", "offset", "60", "outline", `[{"text":"One","nodes":[{"text":"Two"}]}]`))
	p := x.post("alice", 1)
	want := time.Date(2026, 11, 20, 9, 30, 0, 0, time.UTC)
	if !p.PublishedAt.Equal(want) || fmt.Sprint(p.Categories) != "[Walks birds]" || p.Reply == nil || p.Reply.GUID != "urn:x" || len(p.Enclosures) != 1 || p.Enclosures[0].Alt != "A song" ||
		p.Language != "de-CH" || len(p.Outline) != 1 || p.Outline[0].Nodes[0].Text != "Two" || p.Title != "A <b>walk</b>" {
		t.Errorf("it is %+v", p)
	}
	doc := check(t, x.open("/write/1"))
	for name, want := range map[string]string{
		"title": "A <b>walk</b>", "source": "Text", "link": "https://a.example/?a=1&b=2", "categories": "Walks, birds", "reply": "https://b.example/post",
		"reply-guid": "urn:x", "language": "de-CH", "file": "https://c.example/x.mp3", "file-length": "77", "file-alt": "A song", "when": "2026-11-20T09:30", "base": "1", "id": "1",
	} {
		if got := x.field(doc, name); strings.TrimSpace(got) != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	// If the form does not change the date, the post keeps its exact time, including the seconds.
	x.location(x.send("/write", "do", "publish", "id", "1", "base", "1", "writer", "alice", "source", "Other", "when", "2026-11-20T09:30", "was", "2026-11-20T09:30"))
	if p := x.post("alice", 1); !p.PublishedAt.Equal(want) || p.Source != "Other" || p.Revision != 2 {
		t.Errorf("changed it is %+v", p)
	}
}

func TestEditorShowsErrorsNextToFieldsAndKeepsAllValues(t *testing.T) {
	t.Parallel()
	x := newWriteHarness(t).as("alice")
	long := strings.Repeat("y", author.MaxSource+1)
	for _, c := range []struct{ field, value, at, words string }{
		{"title", strings.Repeat("x", 301), "w-title-wrong", "has 301 characters"},
		{"link", "javascript:alert(1)", "w-link-wrong", "must begin with http"},
		{"link", "ftp://a.example/", "w-link-wrong", "must begin with http"},
		{"categories", "good, !!!", "w-categories-wrong", "must contain a letter or a digit"},
		{"reply", "javascript:alert(1)", "w-reply-wrong", "must begin with http"},
		{"language", "english please", "w-language-wrong", "is not a language"},
		{"when", "tomorrow", "w-when-wrong", "is not a date and time"},
		{"source", long, "w-source-wrong", "at most 262144"},
		{"file-url", "ftp://a.example/x.mp3", "w-files-wrong", "must begin with http"},
	} {
		fields := []string{"do", "publish", "key", "k", c.field, c.value}
		if c.field != "source" {
			fields = append(fields, "source", "Kept <script>")
		}
		rec := x.send("/write", fields...)
		doc := check(t, rec)
		var message string
		for n := range doc.Descendants() {
			if attr(n, "id") == c.at {
				message = text(n)
			}
		}
		if rec.Code != 400 || !strings.Contains(message, c.words) {
			t.Errorf("%s=%.20q: %d, the error is %q", c.field, c.value, rec.Code, message)
		}
		if got := x.field(doc, "source"); c.field != "source" && strings.TrimSpace(got) != "Kept <script>" || c.field == "source" && len(got) < len(long) {
			t.Errorf("%s: the text is %.60q", c.field, got)
		}
		if got := x.field(doc, c.field); c.field != "file-url" && strings.TrimSpace(got) != strings.TrimSpace(c.value) {
			t.Errorf("%s came back as %.60q", c.field, got)
		}
	}
	if len(x.fakePostStore.posts) != 0 {
		t.Errorf("%d posts were made", len(x.fakePostStore.posts))
	}
	if rec := x.send("/write", "do", "publish", "key", "k"); rec.Code != 400 || !strings.Contains(text(check(t, rec)), "There is nothing in the post yet") {
		t.Errorf("an empty form: %d", rec.Code)
	}
}

func TestPostOverTheLengthLimitCausesWarningOrIsRejected(t *testing.T) {
	t.Parallel()
	x := newWriteHarness(t).as("alice")
	long := strings.Repeat("word ", 30)
	if doc := check(t, x.send("/write", "do", "preview", "source", long)); !strings.Contains(text(find(doc, "", "count")[0]), "9 over") || !strings.Contains(text(find(doc, "section", "look")[0]), "word word") {
		t.Errorf("the count is %q", text(find(doc, "", "count")[0]))
	}
	const warning = "The post has 149 characters; short posts have at most 140 here. It is published anyway."
	to := x.location(x.send("/write", "do", "publish", "key", "k1", "source", long))
	if page := text(check(t, x.open(to.String()))); !strings.Contains(page, "Published. "+warning) {
		t.Errorf("the page after publishing: %s", page)
	}
	if page := text(check(t, x.open("/write/posts"))); !strings.Contains(page, warning) {
		t.Errorf("the list of posts: %s", page)
	}
	x.posts.LimitMode = author.LimitStop
	x.rebuild()
	if rec := x.send("/write", "do", "publish", "key", "k2", "source", long); rec.Code != 400 || !strings.Contains(text(check(t, rec)), "Shorten it, or give it a title") {
		t.Errorf("stopped: %d", rec.Code)
	}
	x.location(x.send("/write", "do", "publish", "key", "k3", "source", long, "title", "With a title"))
	x.posts.LimitMode = author.LimitOff
	x.rebuild()
	if doc := check(t, x.send("/write", "do", "preview", "source", long)); text(find(doc, "", "count")[0]) != "" {
		t.Errorf("the limit is off, but the page shows %q", text(find(doc, "", "count")[0]))
	}
}

func TestRepeatedDraftRequestCreatesOneDraft(t *testing.T) {
	t.Parallel()
	x := newWriteHarness(t).as("alice")
	first, _ := x.ask("/write/draft", "key", "page-1", "writer", "alice", "source", "One")
	again, _ := x.ask("/write/draft", "key", "page-1", "writer", "alice", "source", "One")
	if !first.OK || !reflect.DeepEqual(first, again) || first.ID != 1 || first.Base != 1 || first.Path != "/write/1" {
		t.Errorf("first %+v, again %+v", first, again)
	}
	// The client did not receive the first response. It sends the same key with a longer text.
	more, _ := x.ask("/write/draft", "key", "page-1", "writer", "alice", "source", "One two")
	if more.ID != 1 || more.Base != 2 || x.post("alice", 1).Source != "One two" {
		t.Errorf("more %+v", more)
	}
	next, _ := x.ask("/write/draft", "id", "1", "base", "2", "key", "page-1", "writer", "alice", "source", "Three")
	if next.Base != 3 || x.post("alice", 1).State != author.Draft || !x.post("alice", 1).UndoUntil.IsZero() {
		t.Errorf("next %+v", next)
	}
	if late, status := x.ask("/write/draft", "id", "1", "base", "2", "writer", "alice", "source", "Late"); status != 409 || !late.Conflict || x.post("alice", 1).Source != "Three" {
		t.Errorf("an old one: %d %+v", status, late)
	}
	if empty, _ := x.ask("/write/draft", "key", "page-9", "writer", "alice", "source", "  "); !empty.OK || empty.ID != 0 || len(x.fakePostStore.posts) != 1 {
		t.Errorf("nothing was saved as %+v", empty)
	}
	if other, status := x.ask("/write/draft", "key", "page-1", "writer", "bob", "source", "Bob's"); status != 403 || !strings.Contains(other.Error, "started by bob") {
		t.Errorf("another's: %d %+v", status, other)
	}
}

func TestChangeOfAPublishedPostIsHiddenUntilPublished(t *testing.T) {
	t.Parallel()
	x := newWriteHarness(t).as("alice")
	x.write("alice", author.Published, author.Content{Source: "As it is"})
	a, _ := x.ask("/write/draft", "id", "1", "base", "1", "writer", "alice", "source", "As planned")
	if !a.OK || a.ID != 1 || a.Base != 1 || a.Copy != 2 || x.post("alice", 1).Source != "As it is" || x.post("alice", 2).State != author.Draft {
		t.Fatalf("%+v; %q", a, x.post("alice", 1).Source)
	}
	b, _ := x.ask("/write/draft", "id", "1", "base", "1", "copy", "2", "copybase", fmt.Sprint(a.CopyBase), "writer", "alice", "source", "As it will be")
	if b.Copy != 2 || b.CopyBase != a.CopyBase+1 {
		t.Errorf("the second time %+v", b)
	}
	doc := check(t, x.open("/write/1"))
	if strings.TrimSpace(x.field(doc, "source")) != "As it will be" || x.field(doc, "base") != "1" || x.field(doc, "copy") != "2" || !strings.Contains(text(doc), "unpublished changes") {
		t.Errorf("the page has %q", x.field(doc, "source"))
	}
	if to := x.location(x.open("/write/2")); to.Path != "/write/1" {
		t.Errorf("the draft leads to %s", to)
	}
	if list := text(check(t, x.open("/write/posts"))); !strings.Contains(list, "unpublished changes") {
		t.Errorf("the list shows %s", list)
	}
	x.location(x.send("/write", "do", "publish", "id", "1", "base", "1", "copy", "2", "copybase", "2", "writer", "alice", "source", "As it will be"))
	if p, c := x.post("alice", 1), x.post("alice", 2); p.Source != "As it will be" || p.State != author.Published || c.State != author.Deleted {
		t.Errorf("published %+v, the draft is %s", p, c.State)
	}
	// A later change creates a new draft, which the user can discard.
	c, _ := x.ask("/write/draft", "id", "1", "base", "2", "writer", "alice", "source", "Rather not")
	x.location(x.send("/write", "do", "drop", "id", "1", "base", "2", "copy", fmt.Sprint(c.Copy), "writer", "alice", "source", "Rather not"))
	if p, c := x.post("alice", 1), x.post("alice", c.Copy); p.Source != "As it will be" || c.State != author.Deleted {
		t.Errorf("thrown away: %q, %s", p.Source, c.State)
	}
}

func TestEditConflictShowsBothVersions(t *testing.T) {
	t.Parallel()
	for _, state := range []author.State{author.Draft, author.Published} {
		x := newWriteHarness(t).as("alice")
		x.write("alice", state, author.Content{Source: "Before"})
		x.location(x.send("/write", "do", map[author.State]string{author.Draft: "draft", author.Published: "publish"}[state], "id", "1", "base", "1", "writer", "alice", "source", "The first tab"))
		rec := x.send("/write", "do", "publish", "id", "1", "base", "1", "writer", "alice", "title", "Mine", "source", "The second tab", "categories", "kept")
		doc := check(t, rec)
		theirs := find(doc, "section", "theirs")
		if rec.Code != 409 || len(theirs) != 1 || !strings.Contains(text(theirs[0]), "The first tab") || strings.TrimSpace(x.field(doc, "source")) != "The second tab" || x.field(doc, "categories") != "kept" {
			t.Fatalf("%s: %d %s", state, rec.Code, text(doc))
		}
		if x.post("alice", 1).Source != "The first tab" {
			t.Errorf("%s: it was overwritten", state)
		}
		x.location(x.send("/write", "do", "publish", "id", "1", "base", x.field(doc, "base"), "writer", "alice", "title", "Mine", "source", "The second tab"))
		if p := x.post("alice", 1); p.Source != "The second tab" || p.State != author.Published {
			t.Errorf("%s: kept own version, it is %+v", state, p)
		}
		if to := x.location(x.send("/write", "do", "theirs", "id", "1", "base", "1", "writer", "alice", "source", "The third")); to.Path != "/write/1" || x.post("alice", 1).Source != "The second tab" {
			t.Errorf("%s: taking the other leads to %s", state, to)
		}
	}
}

func TestWrittenTextIsKeptIfTheSessionExpires(t *testing.T) {
	t.Parallel()
	x := newWriteHarness(t).as("alice")
	x.write("alice", author.Draft, author.Content{Source: "Before"})
	x.cookie = ""
	fields := []string{"do", "publish", "id", "1", "base", "1", "writer", "alice", "title", "Kept", "source", "All that was typed", "categories", "a, b"}
	rec := x.send("/write", fields...)
	doc := check(t, rec)
	if rec.Code != 401 || strings.TrimSpace(x.field(doc, "source")) != "All that was typed" || x.field(doc, "name") != "alice" || rec.Header().Get("Cache-Control") != "no-store" {
		t.Fatalf("%d %s", rec.Code, text(doc))
	}
	rec = x.send("/write", append(fields, "name", "alice", "password", "wrong horse")...)
	if doc := check(t, rec); rec.Code != 403 || x.field(doc, "title") != "Kept" || x.field(doc, "password") != "" {
		t.Errorf("a wrong password: %d", rec.Code)
	}
	rec = x.send("/write", append(fields, "name", "alice", "password", "correct horse")...)
	doc = check(t, rec)
	if rec.Code != 200 || len(rec.Result().Cookies()) == 0 || x.field(doc, "id") != "1" || strings.TrimSpace(x.field(doc, "source")) != "All that was typed" || !strings.Contains(text(doc), "your text is complete") {
		t.Errorf("signed in again: %d %s", rec.Code, text(doc))
	}
	if p := x.post("alice", 1); p.Source != "Before" {
		t.Errorf("it was saved as %q", p.Source)
	}
	// If another user signs in, the form keeps the text, but neither the post nor the name of alice.
	rec = x.send("/write", append(fields, "name", "bob", "password", "battery staple")...)
	if doc := check(t, rec); x.field(doc, "id") != "0" || x.field(doc, "writer") != "bob" || strings.TrimSpace(x.field(doc, "source")) != "All that was typed" {
		t.Errorf("as bob the form has post %s of %s", x.field(doc, "id"), x.field(doc, "writer"))
	}
}

func TestEditorSchedulesPost(t *testing.T) {
	t.Parallel()
	x := newWriteHarness(t).as("alice")
	at := x.fake.now.Add(3 * time.Hour)
	to := x.location(x.send("/write", "do", "publish", "key", "k", "source", "Later", "when", at.Add(time.Hour).Format("2006-01-02T15:04"), "offset", "60"))
	p := x.post("alice", 1)
	if p.State != author.Scheduled || !p.DueAt.Equal(at.Truncate(time.Minute)) || to.Query().Get("did") != "scheduled" {
		t.Errorf("%+v; %s", p, to)
	}
	doc := check(t, x.open("/write/1"))
	if x.field(doc, "when") != at.Format("2006-01-02T15:04") {
		t.Errorf("the page has %q", x.field(doc, "when"))
	}
	// An unfinished change is saved as a draft. It does not replace the scheduled text.
	x.ask("/write/draft", "id", "1", "base", "1", "writer", "alice", "source", "Half a")
	if x.post("alice", 1).Source != "Later" {
		t.Error("half a change would be published")
	}
	x.location(x.send("/write", "do", "publish", "id", "1", "base", "1", "writer", "alice", "source", "Later still", "when", at.Format("2006-01-02T15:04"), "was", at.Format("2006-01-02T15:04")))
	if p := x.post("alice", 1); p.State != author.Scheduled || p.Source != "Later still" {
		t.Errorf("saved it is %+v", p)
	}
	x.location(x.send("/write", "do", "now", "id", "1", "base", "2", "writer", "alice", "source", "Now", "when", at.Format("2006-01-02T15:04"), "was", at.Format("2006-01-02T15:04")))
	if p := x.post("alice", 1); p.State != author.Published || p.PublishedAt.Sub(x.fake.now) > time.Second {
		t.Errorf("now it is %+v", p)
	}
}

func TestScheduledPostWithoutADateIsPublished(t *testing.T) {
	t.Parallel()
	x := newWriteHarness(t).as("alice")
	const when = "2026-12-01T09:00"
	x.location(x.send("/write", "do", "publish", "key", "k", "source", "Later", "when", when, "offset", "60"))
	x.location(x.send("/write", "do", "publish", "id", "1", "base", "1", "writer", "alice", "source", "At once", "when", "", "was", when, "offset", "60"))
	if p := x.post("alice", 1); p.State != author.Published || p.Source != "At once" || p.PublishedAt.Sub(x.fake.now).Abs() > time.Second {
		t.Errorf("%+v", p)
	}
}

// In November, Berlin is one hour east of UTC, and in July two.
func TestDateOfAScheduledPostIsInTheTimeZoneOfThatDate(t *testing.T) {
	t.Parallel()
	x := newWriteHarness(t).as("alice")
	x.location(x.send("/write", "do", "publish", "key", "k", "source", "Later", "when", "2027-07-01T09:00", "offset", "120"))
	for path, want := range map[string]string{"/write?did=scheduled&done=1": "1 July 2027, 09:00", "/write/1": ""} {
		r := httptest.NewRequest("GET", path, nil)
		r.Header.Set("Cookie", x.cookie+"; tz=Europe/Berlin")
		doc := check(t, x.do(r))
		if !strings.Contains(text(doc), want) {
			t.Errorf("%s does not say %s", path, want)
		}
		if when, offset := x.field(doc, "when"), x.field(doc, "offset"); want == "" && (when != "2027-07-01T09:00" || offset != "120") {
			t.Errorf("the form has %s, offset %s", when, offset)
		}
	}
}

func TestEditorStoresFilesUnlessContentContradictsTheirType(t *testing.T) {
	t.Parallel()
	x := newWriteHarness(t).as("alice")
	png := []byte("\x89PNG\r\n\x1a\nrest")
	rec := x.postMultipart("/write", "C:\\pictures\\cat.png", "image/png", png, "do", "file", "source", "A cat", "writer", "alice")
	doc := check(t, rec)
	path := x.field(doc, "file")
	if rec.Code != 200 || !strings.HasPrefix(path, "/alice/media/") || !strings.HasSuffix(path, "/cat.png") || len(x.fakeFiles.files) != 1 || strings.TrimSpace(x.field(doc, "source")) != "A cat" {
		t.Errorf("%d, the file is %q", rec.Code, path)
	}
	rec = x.postMultipart("/write", "dog.png", "image/png", []byte("MZ not a dog"), "do", "publish", "source", "A dog", "writer", "alice", "key", "k")
	if doc := check(t, rec); rec.Code != 400 || !strings.Contains(text(doc), "called an image, but it is not one") || strings.TrimSpace(x.field(doc, "source")) != "A dog" || len(x.fakePostStore.posts) != 0 {
		t.Errorf("a lie: %d", rec.Code)
	}
	if a := x.postMultipart("/write/media", "cat.png", "image/png", png); !strings.Contains(a.Body.String(), `"ok":true`) || !strings.Contains(a.Body.String(), path) {
		t.Errorf("by the script: %s", a.Body)
	}
	if a := x.postMultipart("/write/media", "dog.png", "image/png", []byte("MZ")); a.Code != 400 || !strings.Contains(a.Body.String(), "but it is not one") {
		t.Errorf("a lie by the script: %d %s", a.Code, a.Body)
	}
	if a, _ := x.ask("/write/file", "file-url", "https://a.example/show.mp3"); a.File == nil || a.File.Type != "audio/mpeg" || a.File.Size != "12.3 MB" {
		t.Errorf("elsewhere: %+v", a)
	}
	x.cookie = ""
	if rec := x.postMultipart("/write", "cat.png", "image/png", png, "source", "typed"); rec.Code != 401 || len(x.fakeFiles.files) != 1 || !strings.Contains(text(check(t, rec)), "Choose it again") {
		t.Errorf("signed out: %d", rec.Code)
	}
}

func TestEditorSuggestsUsedCategories(t *testing.T) {
	t.Parallel()
	x := newWriteHarness(t).as("alice")
	x.write("alice", author.Published, author.Content{Source: "1", Categories: []string{"Walks", "Birds"}})
	x.write("alice", author.Published, author.Content{Source: "2", Categories: []string{"Walks", "Water"}})
	x.write("bob", author.Published, author.Content{Source: "3", Categories: []string{"Wine"}})
	var a answered
	if err := json.Unmarshal(x.open("/write/categories?prefix=W").Body.Bytes(), &a); err != nil || fmt.Sprint(a.Categories) != "[{Walks 2} {Water 1}]" {
		t.Errorf("%v %v", a.Categories, err)
	}
}

func TestFailedSaveOfAPostShowsTheErrorAndKeepsTheText(t *testing.T) {
	t.Parallel()
	x := newWriteHarness(t).as("alice")
	x.fakePostStore.fail = fault.New(fault.Unavailable, "The store is away for a moment.")
	if rec := x.send("/write", "do", "draft", "key", "k", "writer", "alice", "source", "Typed"); rec.Code != 503 {
		t.Errorf("%d", rec.Code)
	}
	if a, status := x.ask("/write/draft", "key", "k", "writer", "alice", "source", "Typed"); status != 503 || a.OK || !strings.Contains(a.Error, "away") {
		t.Errorf("%d %+v", status, a)
	}
}
