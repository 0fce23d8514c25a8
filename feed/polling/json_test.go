package polling_test

import (
	"encoding/json"
	"testing"
	"time"

	"cloudburst/feed"
	"cloudburst/feed/polling"

	"github.com/google/go-cmp/cmp"
)

func everything() polling.State {
	at := time.Date(2026, 3, 4, 5, 6, 7, 89_000_000, time.UTC)
	return polling.State{
		URL: "http://example.org/?a=1&b=<2>", Validators: polling.Validators{URL: "http://example.org/", ETag: `W/"x\\y"`, LastModified: "gestern, \xe4"},
		Hash: "abc", Evidence: polling.Evidence{Proof: "proven", Recent: true, Believed: true, FullAt: at}, FollowUpAt: at, Hints: feed.Hints{TTL: "60", SkipHours: []string{"1", "24"}}, HintsAt: at, Cache: polling.Cache{From: "max-age", Value: "12", Seen: at, Fresh: time.Hour},
		CheckedAt: at, PolledAt: at, ReadAt: at, ChangedAt: at, NextAt: at.Add(time.Nanosecond), Reason: "every 1 h “so”, \u2028", Newest: at, Spacing: time.Minute,
		Changes: []time.Time{at, at}, Failures: 3, Limited: 2, Failure: &polling.Failure{Kind: "dns", Text: "no <host>", At: at}, Since: at,
		Wait: &polling.Wait{}, Candidate: &polling.Candidate{To: "http://x/", First: at, Last: at, Seen: 2}, Moves: []polling.Move{{From: "a", To: "b", At: at, Why: "301"}},
		Refused: "http://y/", Push: polling.Push{Since: at, Announced: 4, Pending: true}, Interval: time.Hour, Gone: &polling.Gone{At: at, Reason: "410"},
	}
}

func TestFastJSONMatchesEncodingJSON(t *testing.T) {
	t.Parallel()
	all := everything()
	quoted := all
	quoted.Validators = polling.Validators{ETag: `"12-0"`}
	list := []polling.State{{}, {URL: "http://example.org/"}, polling.New("http://example.org/", time.Now()), all, quoted}
	for _, e := range []polling.Evidence{{Proof: "refuted"}, {Recent: true}, {Believed: true}, {FullAt: time.Unix(1, 0).UTC()}, {Proof: "?\"\u00e9", Believed: true}} {
		list = append(list, polling.State{Evidence: e})
	}
	for _, s := range list {
		b, err := s.AppendJSON([]byte("before "))
		if err != nil {
			t.Fatal(err)
		}
		sameJSON(t, s, b[len("before "):])
	}
	if _, err := (&polling.State{NextAt: time.Date(20_000, 1, 1, 0, 0, 0, 0, time.UTC)}).AppendJSON(nil); err == nil {
		t.Error("a time that JSON cannot represent was written")
	}
}

// A state that an older version stored contains no evidence and no pending announcement.
func TestStateOfOlderVersionIsDecoded(t *testing.T) {
	t.Parallel()
	const old = `{"url":"http://example.org/","validators":{"url":"http://example.org/","etag":"\"1\""},"hash":"abc","readAt":"2026-03-04T05:06:07Z","nextAt":"2026-03-04T06:06:07Z","push":{"since":"2026-03-04T05:06:07Z","announced":3}}`
	var s polling.State
	if err := s.ParseJSON([]byte(old)); err != nil {
		t.Fatal(err)
	}
	if s.Evidence != (polling.Evidence{}) || !s.DueAt().Equal(s.NextAt) || polling.DueFor(s, s.NextAt) != polling.Poll || polling.Request(s).ETag != `"1"` {
		t.Errorf("%+v", s)
	}
	if got := polling.RequestFor(s, polling.Pushed, s.NextAt, s.NextAt); !got.Full() {
		t.Errorf("the check after an announcement is not a full read: %+v", got)
	}
	sameJSON(t, s, []byte(old))
}

// sameJSON checks that both decoders return s for b and for the output of json.Marshal.
func sameJSON(t *testing.T, s polling.State, b []byte) {
	t.Helper()
	whole, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var want polling.State // the state after encoding and decoding
	if err := json.Unmarshal(whole, &want); err != nil {
		t.Fatal(err)
	}
	for _, text := range [][]byte{whole, b} {
		var got polling.State
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		var fast polling.State
		err := fast.ParseJSON(text)
		if d := cmp.Diff(want, got) + cmp.Diff(want, fast); d != "" || err != nil {
			t.Fatalf("%s: %v, %s", text, err, d)
		}
	}
}

func FuzzStateJSON(f *testing.F) {
	all := everything()
	b, err := all.AppendJSON(nil)
	if err != nil {
		f.Fatal(err)
	}
	for _, s := range []string{string(b), `{}`, `{"url":"a","url":"b"}`, `{"url":"a",}`, `{"url":null,"nextAt":null}`, `{"URL":"a"}`, ` { "url" : "a" } `,
		`{"url":"a"}}`, `{"validators":{"etag":"\"x\"","url":"a"}}`, `{"validators":{"url":"a"},"validators":{"etag":"b"}}`, `{"failures":1e3}`, `{"url":"\u0041\ud800"}`,
		`{"validators":{"url":"a",}}`, `{"validators":{"etag":"b""url":"a"}}`, `{"moves":[{"from":"]"}]}`, "{\"url\":\"\xff\"}", `{"wait":{}`,
		`{"evidence":{"proof":"proven","recent":true,"believed":true,"fullAt":"2026-03-04T05:06:07Z"}}`, `{"evidence":{"recent":true"believed":true}}`,
		`{"evidence":{"proof":"a",}}`, `{"evidence":{},"evidence":{"proof":"a"}}`, `{"evidence":{"believed":true,"recent":true}}`, `{"evidence":{"recent":false}}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var want polling.State
		err := json.Unmarshal(b, &want)
		var got polling.State
		fast := got.ParseJSON(b)
		if (err == nil) != (fast == nil) {
			t.Fatalf("%q: json.Unmarshal returns %v, ParseJSON returns %v", b, err, fast)
		}
		if err != nil {
			return
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Fatalf("%q: %s", b, d)
		}
		again, err := want.AppendJSON(nil)
		if err != nil {
			return // JSON cannot represent a time with this zone
		}
		sameJSON(t, want, again)
	})
}

func BenchmarkStateJSON(b *testing.B) {
	s := polling.New("http://example.org/feed", time.Now().UTC())
	s.CheckedAt, s.PolledAt, s.ReadAt, s.ChangedAt, s.HintsAt, s.Newest = s.NextAt, s.NextAt, s.NextAt, s.NextAt, s.NextAt, s.NextAt
	s.Validators = polling.Validators{URL: s.URL, ETag: `"12-0"`}
	b.ReportAllocs()
	var text []byte
	for b.Loop() {
		text, _ = s.AppendJSON(text[:0])
		if err := new(polling.State).ParseJSON(text); err != nil {
			b.Fatal(err)
		}
	}
}
