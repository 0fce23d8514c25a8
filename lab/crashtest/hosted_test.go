package crashtest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"cloudburst/lab/outside"
)

// began returns the fixed start time of the histories in these tests.
func began() time.Time { return time.Date(2026, 3, 29, 12, 0, 0, 0, time.UTC) }

func second(n int) time.Time { return began().Add(time.Duration(n) * time.Second) }

// notified returns a history of one feed with these saves and reads. It numbers the saves from 1.
func notified(saves []save, reads []feedRead) *history {
	h := newHistory(0)
	h.lifetimes = []lifetime{{started: second(0), ended: second(90)}, {started: second(91)}}
	for i, s := range saves {
		s.version, s.unsure = i+1, !s.ok
		h.saves["ann"] = append(h.saves["ann"], &s)
	}
	h.reads["ann"] = reads
	h.host()
	return h
}

func TestCrashTestReportsLostSaves(t *testing.T) {
	t.Parallel()
	sent := func(from, to int, ok bool) save { return save{call: call{from: second(from), to: second(to), ok: ok}} }
	seen := func(from, to, version int) feedRead { return feedRead{second(from), second(to), version} }
	for name, c := range map[string]struct {
		saves []save
		reads []feedRead
		lost  bool
	}{
		"one after the other":                  {[]save{sent(1, 2, true), sent(3, 4, true)}, []feedRead{seen(2, 3, 1), seen(5, 6, 2)}, false},
		"nothing there before":                 {[]save{sent(3, 4, true)}, []feedRead{seen(1, 2, 0), seen(3, 4, 0)}, false},
		"nothing there afterwards":             {[]save{sent(1, 2, true)}, []feedRead{seen(3, 4, 0)}, true},
		"the one before is still there":        {[]save{sent(1, 2, true), sent(3, 4, true)}, []feedRead{seen(5, 6, 1)}, true},
		"it may be, while the other is saved":  {[]save{sent(1, 2, true), sent(3, 6, true)}, []feedRead{seen(5, 6, 1)}, false},
		"at the same time, in one order":       {[]save{sent(1, 4, true), sent(2, 3, true)}, []feedRead{seen(5, 6, 1), seen(7, 8, 1)}, false},
		"at the same time, in the other order": {[]save{sent(1, 4, true), sent(2, 3, true)}, []feedRead{seen(5, 6, 2)}, false},
		"at the same time, in both orders":     {[]save{sent(1, 4, true), sent(2, 3, true)}, []feedRead{seen(5, 6, 2), seen(7, 8, 1)}, true},
		"not acknowledged, and never there":    {[]save{sent(1, 2, true), sent(3, 4, false)}, []feedRead{seen(95, 96, 1)}, false},
		"not acknowledged, and there":          {[]save{sent(1, 2, true), sent(3, 4, false)}, []feedRead{seen(95, 96, 2), seen(97, 98, 2)}, false},
		"not acknowledged, there and gone":     {[]save{sent(1, 2, true), sent(3, 4, false)}, []feedRead{seen(5, 6, 2), seen(95, 96, 1)}, true},
		"there before the answer, then gone":   {[]save{sent(1, 2, true), sent(3, 9, true)}, []feedRead{seen(4, 5, 2), seen(6, 7, 1)}, true},
	} {
		var r Report
		if got := notified(c.saves, c.reads).checkSaves(&r); (len(got) > 0) != c.lost {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestCrashTestDetectsServedFeedThatWasNeverSaved(t *testing.T) {
	t.Parallel()
	h := newHistory(0)
	for range 8 {
		h.saving("ann")
	}
	for v := 1; v <= 8; v++ {
		kind, doc := hostedDocument("ann", v)
		_, other := hostedDocument("ann", v%8+1)
		if got, wrong := h.hostedVersion("ann", asSaved, kind, doc); got != v || wrong != "" {
			t.Errorf("version %d is %d: %s", v, got, wrong)
		}
		if _, wrong := h.hostedVersion("ann", asSaved, "text/xml", doc); wrong == "" {
			t.Errorf("version %d: any type does", v)
		}
		n := min(len(doc), len(other)) / 2
		for name, bad := range map[string][]byte{
			"none": nil, "cut": doc[:len(doc)-1], "torn": append(append([]byte{}, doc[:n]...), other[n:]...), "longer": append(append([]byte{}, doc...), ' '),
		} {
			if _, wrong := h.hostedVersion("ann", asSaved, kind, bad); wrong == "" {
				t.Errorf("version %d: %s passes", v, name)
			}
		}
	}
	kind, doc := hostedDocument("ann", 9)
	if _, wrong := h.hostedVersion("ann", asSaved, kind, doc); wrong == "" {
		t.Error("a version that nobody sent passes")
	}
	const atom = "application/atom+xml; charset=utf-8"
	whole := "<feed><title>version 2 x</title>" + strings.Repeat("<entry>"+strings.Repeat(word(2), wordsEach)+"</entry>", hostedItems(2)) + "</feed>\n"
	if _, wrong := h.hostedVersion("ann", rendered, atom, []byte(whole)); wrong != "" {
		t.Error(wrong)
	}
	for _, bad := range []string{whole[:len(whole)-9], strings.Replace(whole, word(2), word(3), 1), strings.Replace(whole, word(2), "", 1), whole + word(1)} {
		if _, wrong := h.hostedVersion("ann", rendered, atom, []byte(bad)); wrong == "" {
			t.Errorf("%.60s… passes", bad)
		}
	}
}

func TestCrashTestDetectsAcceptedReplayOfAWSSEHeader(t *testing.T) {
	t.Parallel()
	h := newHistory(0)
	h.lifetimes = []lifetime{{started: second(0)}}
	h.saving("ann")
	kind, doc := hostedDocument("ann", 1)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		_, _ = w.Write(doc)
	}))
	defer srv.Close()
	rng := outside.NewRandom(1, 1)
	r := &runner{history: h, rng: rng, owners: []owner{{name: "ann"}}, reader: owner{"cal", "secret"}, others: othersClient(rng)}
	r.prove(srv.URL)
	h.started()
	for r.replay(srv.URL) {
	}
	if got := fmt.Sprint(h.violations); len(h.violations) != 2 || !strings.Contains(got, "accepted twice") || !strings.Contains(got, "accepted again") {
		t.Error(got)
	}
}
