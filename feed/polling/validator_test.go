package polling_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cloudburst/feed"
	"cloudburst/feed/polling"
)

func (l *timeline) validators(etag, modified string) *timeline {
	l.t.Helper()
	v := polling.Request(l.s)
	if v.ETag != etag || v.LastModified != modified {
		l.t.Errorf("validators are %q and %q, want %q and %q", v.ETag, v.LastModified, etag, modified)
	}
	return l
}

func TestOnlyTheFirstRequestIsUnconditional(t *testing.T) {
	t.Parallel()
	l := newTimeline(t).validators("", "")
	l.check(ok("1", feed.Hints{}, "ETag", `"a"`)).validators(`"a"`, "")
	for _, a := range []polling.Answer{
		status(304), status(304, "ETag", `"b"`), status(500), status(503, "Retry-After", "9"), status(404, "ETag", `"404"`),
		{Error: polling.ErrTimeout}, {Error: polling.ErrLocal}, {Status: 200, Looks: "html", Header: header("ETag", `"page"`)}, status(410),
	} {
		l.after(time.Hour, a)
		if polling.Request(l.s).Empty() {
			t.Errorf("after %d %s there are no validators", a.Status, a.Error)
		}
	}
	l.validators(`"b"`, "")
}

func TestValidatorsAreSentUnchanged(t *testing.T) {
	t.Parallel()
	for _, etag := range []string{`"strong"`, `W/"weak"`, `w/"weak"`, `unquoted`, `"a-gzip"`, `"with ""quotes"`, `""`, "\"caf\xe9\"", `"a,b"`, `'single'`, `"` + strings.Repeat("x", 1022) + `"`} {
		for _, modified := range []string{"Mon, 04 May 2026 02:00:00 GMT", "Monday, 04-May-26 02:00:00 GMT", "2026-05-04 02:00", "yesterday", ""} {
			h := header("ETag", etag)
			if modified != "" {
				h.Set("Last-Modified", modified)
			}
			l := newTimeline(t).check(polling.Answer{Status: 200, Header: h, Hints: &feed.Hints{}})
			l.validators(etag, modified)
			want := header("If-None-Match", etag)
			if modified != "" {
				want.Set("If-Modified-Since", modified)
			}
			b, err := json.Marshal(l.s)
			if err != nil {
				t.Fatal(err)
			}
			var stored polling.State
			if err := json.Unmarshal(b, &stored); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, polling.Request(stored).Header()); diff != "" {
				t.Error(diff)
			}
		}
	}
}

// As If-None-Match, * means any version, so the server would answer 304 for ever.
func TestAsteriskThatAnEarlierVersionStoredIsNotSent(t *testing.T) {
	t.Parallel()
	var stored polling.Validators
	if err := json.Unmarshal([]byte(`{"url":"http://a.example/","etag":"*","lastModified":"yesterday"}`), &stored); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(header("If-Modified-Since", "yesterday"), stored.Header()); diff != "" {
		t.Error(diff)
	}
}

func TestRequestHasNoValidatorsIfTheServerSentNone(t *testing.T) {
	t.Parallel()
	l := newTimeline(t).check(ok("1", feed.Hints{}, "Date", "Mon, 04 May 2026 02:20:00 GMT")).validators("", "")
	if h := polling.Request(l.s).Header(); len(h) != 0 {
		t.Errorf("%v", h)
	}
	for _, bad := range []string{"*", " *\t", "\"a\r\nX-Evil: 1\"", "\"\x00\"", string(make([]byte, 5000)), `"` + strings.Repeat("x", 1023) + `"`} {
		h := header()
		h["Etag"] = []string{bad}
		l.check(polling.Answer{Status: 200, Header: h, Hints: &feed.Hints{}}).validators("", "")
	}
}

func TestStatus304ReplacesTheValidatorsItContains(t *testing.T) {
	t.Parallel()
	l := newTimeline(t).check(ok("1", feed.Hints{}, "ETag", `"a"`, "Last-Modified", "Sun, 03 May 2026 00:00:00 GMT"))
	l.after(time.Hour, status(304)).validators(`"a"`, "Sun, 03 May 2026 00:00:00 GMT")
	l.after(time.Hour, status(304, "ETag", `"b"`)).validators(`"b"`, "Sun, 03 May 2026 00:00:00 GMT")
	l.after(time.Hour, status(304, "Last-Modified", "Mon, 04 May 2026 00:00:00 GMT")).validators(`"b"`, "Mon, 04 May 2026 00:00:00 GMT")
	// A response with status 200 replaces all validators. Validators that it does not contain are
	// removed.
	l.after(time.Hour, ok("2", feed.Hints{}, "ETag", `"c"`)).validators(`"c"`, "")
	l.after(time.Hour, ok("3", feed.Hints{})).validators("", "")
}

func TestUnchangedBodyWithNewValidatorsUpdatesValidatorsOnly(t *testing.T) {
	t.Parallel()
	l := newTimeline(t).check(ok("1", feed.Hints{TTL: "90"}, "ETag", `"a"`)).outcome(polling.Changed)
	changed := l.s.ChangedAt
	same := polling.Answer{Status: 200, Header: header("ETag", `"b"`), Hash: "1"} // the answer has no Hints, as if the body was not parsed
	if !same.Same(l.s) {
		t.Error("Same is false for an equal hash")
	}
	l.after(time.Hour, same).outcome(polling.Unchanged).validators(`"b"`, "").wait(90 * time.Minute)
	if !l.s.ChangedAt.Equal(changed) {
		t.Error("ChangedAt was updated")
	}
	l.after(time.Hour, ok("2", feed.Hints{}, "ETag", `"c"`)).outcome(polling.Changed)
	if (polling.Answer{Status: 200}).Same(polling.New(here, t0())) {
		t.Error("Same is true for two missing hashes")
	}
}

func TestStatus304KeepsHints(t *testing.T) {
	t.Parallel()
	l := newTimeline(t).check(ok("1", feed.Hints{TTL: "90", SkipHours: []string{"6"}}, "ETag", `"a"`, "Cache-Control", "max-age=10800")).wait(3 * time.Hour)
	l.after(0, status(304)).wait(3 * time.Hour) // by RFC 9111, the response is fresh again
	l.after(0, status(304, "Cache-Control", "max-age=0")).wait(90 * time.Minute)
	l.after(2*time.Hour+40*time.Minute, status(304)).wait(2 * time.Hour) // without the skipped hour it would be at 06:30
	l.after(0, status(500)).after(0, status(304)).wait(2 * time.Hour)
	// A new document replaces all hints.
	l.after(0, ok("2", feed.Hints{}, "ETag", `"b"`)).wait(time.Hour)
}

func TestStatus304DoesNotExtendExpires(t *testing.T) {
	t.Parallel()
	l := newTimeline(t).check(ok("1", feed.Hints{}, "ETag", `"a"`, "Expires", "Mon, 04 May 2026 08:20:00 GMT")).wait(6 * time.Hour)
	l.after(2*time.Hour, status(304)).wait(4 * time.Hour)
	l.after(5*time.Hour, status(304)).wait(time.Hour) // Expires has passed
}

func TestValidatorsAreSentOnlyToTheirURL(t *testing.T) {
	t.Parallel()
	const there = "https://cdn.example/rss.xml"
	l := newTimeline(t).check(via(ok("1", feed.Hints{}, "ETag", `"a"`), hop(302, here, there)))
	if v := polling.Request(l.s); v.URL != there {
		t.Errorf("%q is sent to %s", v.ETag, v.URL)
	}
	l.after(time.Hour, via(status(304), hop(302, here, there))).outcome(polling.Unchanged).validators(`"a"`, "")
	// Another server may use the same validator for another feed.
	l.after(time.Hour, via(status(304), hop(302, here, "https://other.example/rss.xml"))).outcome(polling.Doubtful).validators("", "").wait(5 * time.Minute)
	if l.s.Failures != 0 || l.s.Hash != "1" {
		t.Errorf("%+v", l.s)
	}
	l.after(5*time.Minute, via(ok("2", feed.Hints{}, "ETag", `"b"`), hop(302, here, "https://other.example/rss.xml"))).outcome(polling.Changed).validators(`"b"`, "")
	l.after(time.Hour, status(304)).outcome(polling.Doubtful)
}

func TestStatus304ToUnconditionalRequestIsAFailure(t *testing.T) {
	t.Parallel()
	newTimeline(t).check(status(304)).outcome(polling.Failed).wait(10 * time.Minute)
}

func TestURLsThatDifferOnlyInUserNameAreEqual(t *testing.T) {
	t.Parallel()
	l := newTimeline(t)
	l.s.URL = "https://user:secret@A.example/rss.xml"
	a := ok("1", feed.Hints{}, "ETag", `"a"`)
	a.URL = here
	l.check(a)
	a = status(304)
	a.URL = here
	l.after(time.Hour, a).outcome(polling.Unchanged).validators(`"a"`, "")
	l.after(time.Hour, status(304)).outcome(polling.Unchanged)
}
