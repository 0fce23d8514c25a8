package hubui

import (
	"strings"
	"testing"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/hub"
	"cloudburst/internal/validator"
	"cloudburst/internal/web/locale"
	"cloudburst/internal/web/shell"
)

func TestTopicStatusDescribesTheLastChangeOrPing(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 14, 0, 0, 0, time.UTC)
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	changed := hub.Topic{Version: 7, CheckedAt: ago(time.Minute), ChangedAt: ago(time.Minute)}
	check := event.Event{Kind: event.KindCheck, Version: 7, At: ago(time.Minute), OK: true}
	notified := func(n, failed int) event.Event {
		return event.Event{Kind: event.KindNotify, Version: 7, At: ago(time.Minute - 300*time.Millisecond), Took: 290 * time.Millisecond, Notified: n, Failed: failed}
	}
	retried := event.Event{Kind: event.KindNotify, Version: 7, At: ago(10 * time.Second), Notified: 1, OK: true, Peer: "h"}
	pinged := event.Event{Kind: event.KindPing, At: ago(time.Second)}
	same, unread, waiting, unreadOnce := changed, changed, changed, changed
	same.CheckedAt = ago(time.Second)
	unmodified := same
	unmodified.Evidence.Believed = true
	unread.Failures, unread.Error = 3, "its server answered 503"
	unreadOnce.Failures = 1
	waiting.PingedAt = ago(2 * time.Second)
	tests := []struct {
		name   string
		topic  hub.Topic
		tally  tally
		events []event.Event // sorted by time, newest first
		want   string
		bad    bool
	}{
		{"all", changed, tally{Live: 1204}, []event.Event{notified(1204, 0), check}, "All 1,204 subscribers were notified in 0.3 s, 1 min ago.", false},
		{"all, in two parts", changed, tally{Live: 1204}, []event.Event{notified(1000, 0), notified(204, 0), check}, "All 1,204 subscribers were notified in 0.3 s", false},
		{"one", changed, tally{Live: 1}, []event.Event{notified(1, 0), check}, "The only subscriber was notified in 0.3 s", false},
		{"some not", changed, tally{Live: 1204, Failing: 3}, []event.Event{notified(1201, 3), check}, "1,201 of 1,204 subscribers were notified in 0.3 s, 1 min ago; 3 could not be, and they are being retried.", true},
		{"notified by a retry", changed, tally{Live: 5}, []event.Event{retried, notified(4, 1), check}, "All 5 subscribers were notified in 0.3 s", false},
		{"one that failed before is not in the round", changed, tally{Live: 4, Failing: 1}, []event.Event{notified(3, 0), check}, "3 of 4 subscribers were notified in 0.3 s, 1 min ago; 1 could not be, and it is being retried.", true},
		{"none", changed, tally{Live: 2, Failing: 2}, []event.Event{notified(0, 2), check}, "None of the 2 subscribers could be notified", true},
		{"nobody there", changed, tally{}, []event.Event{check}, "It last changed 1 min ago, and it has no subscribers.", false},
		{"ping of the same feed", same, tally{Live: 5}, []event.Event{pinged, notified(5, 0), check}, "The last ping had no effect: the feed was the same as before, byte for byte. All 5 subscribers", false},
		{"ping of a feed that was answered 304", unmodified, tally{Live: 5}, []event.Event{pinged, notified(5, 0), check}, "The last ping had no effect: the feed's server replied that it had not changed. All 5 subscribers", false},
		{"unreadable", unread, tally{}, []event.Event{pinged}, "The last ping had no effect: the feed could not be read. Its server answered 503. It has failed 3 times in a row.", true},
		{"unreadable once", unreadOnce, tally{}, []event.Event{pinged}, "the feed could not be read. The response is not a valid feed.", true},
		{"being read", waiting, tally{Live: 5}, []event.Event{pinged}, "A ping arrived 2 s ago, and the feed is being read.", false},
		{"never read", hub.Topic{}, tally{Live: 1}, nil, "This feed has not been read yet.", false},
		{"the finding is out of sight", changed, tally{Live: 4}, []event.Event{notified(4, 0)}, "All 4 subscribers were notified in 0.3 s", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			lead, then, bad := verdict(shell.View{Now: now}, tt.topic, tt.tally, changesOf(tt.events), tt.events)
			if got := lead + " " + then; !strings.Contains(got, tt.want) || bad != tt.bad {
				t.Errorf("got %q (bad %t), want %q (bad %t)", got, bad, tt.want, tt.bad)
			}
		})
	}
}

func TestStateOfATopicIsShownInTheLanguageOfThePage(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 14, 0, 0, 0, time.UTC)
	v := shell.View{Now: now, Lang: locale.Find("de")}
	topic := hub.Topic{Version: 7, CheckedAt: now.Add(-time.Minute), ChangedAt: now.Add(-time.Minute), Hash: []byte{1}, FullReads: 1204, FullBytes: 3_400_000}
	changes := []change{{Version: 7, At: topic.ChangedAt, Notified: 1201, Failed: 3, Took: 300 * time.Millisecond}}
	lead, _, _ := verdict(v, topic, tally{Live: 1204, Failing: 3}, changes, nil)
	if want := "1.201 von 1.204 Abonnenten wurden in 0,3 s benachrichtigt, vor 1 Min.; 3 waren nicht erreichbar, und der Hub versucht es weiter."; lead != want {
		t.Errorf("got %q, want %q", lead, want)
	}
	var text strings.Builder
	for _, f := range dueFacts(topic, tally{}, v) {
		text.WriteString(f.Value + "\n")
	}
	if want := "beim nächsten Ping\nder Feed wird vollständig gelesen: sein Server sendet keinen ETag\n1.204-mal vollständig gelesen, 3,4 MB\nbei der nächsten Änderung\n"; text.String() != want {
		t.Errorf("got %q, want %q", text.String(), want)
	}
}

func TestTopicPageShowsVerificationAndItsCost(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 14, 0, 0, 0, time.UTC)
	topic := hub.Topic{Hash: []byte{1}, ETag: `"1"`, FullReads: 12, FullBytes: 3_400_000, Evidence: validator.Evidence{FullAt: now.Add(-time.Minute)}}
	proven := topic
	proven.Evidence.Proof, proven.NotModified = validator.Proven, 1
	recent := topic
	recent.Evidence.Recent, recent.AgainAt = true, now.Add(2*time.Second)
	believed := proven
	believed.Evidence.Believed, believed.AgainAt = true, now.Add(59*time.Minute)
	for name, c := range map[string]struct {
		topic hub.Topic
		want  []string
	}{
		"never read": {hub.Topic{}, []string{"at the next ping"}},
		"unproven":   {topic, []string{"at the next ping", "the feed is read in full, because its ETag has not yet been seen to change together with the content", "12 reads in full, 3.4 MB"}},
		"proven":     {proven, []string{"at the next ping", "304 response counts as unchanged", "12 reads in full, 3.4 MB; a 304 counted 1 time"}},
		"recent":     {recent, []string{"in 2 s: it had just changed"}},
		"believed":   {believed, []string{"in 59 min: 304 responses were accepted"}},
	} {
		var text strings.Builder
		for _, f := range dueFacts(c.topic, tally{}, shell.View{Now: now}) {
			text.WriteString(f.Name + ": " + f.Value + "\n")
		}
		for _, want := range c.want {
			if !strings.Contains(text.String(), want) {
				t.Errorf("%s: %q is missing in\n%s", name, want, text.String())
			}
		}
	}
}
