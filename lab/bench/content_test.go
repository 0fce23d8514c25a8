package bench

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"cloudburst/internal/fetch"
	"cloudburst/protocol/websub"
)

func TestBenchmarkReceiverDetectsWrongContent(t *testing.T) {
	t.Parallel()
	s := openTestReceiver(t, Plan{Hosts: 1, Feeds: 1, FeedSize: 3000, Contents: true, Signed: true})
	s.Change(0, 1)
	older, _, err := fetchAs(t.Context(), fmt.Sprintf("http://%s:%d/f/0", Host(false, 0), s.Port), "identity")
	if err != nil {
		t.Fatal(err)
	}
	s.Change(0, 1)
	newest, _, err := fetchAs(t.Context(), fmt.Sprintf("http://%s:%d/f/0", Host(false, 0), s.Port), "identity")
	if err != nil {
		t.Fatal(err)
	}
	sender := testSender(t)
	for _, tt := range []struct {
		name     string
		callback int
		secret   string
		body     string
		wrong    int64
	}{
		{"right", 0, SecretOf(0), string(newest), 0},
		{"right, after another on the same connection", 2 * sampled, SecretOf(2 * sampled), string(newest), 0},
		{"an older one", 0, SecretOf(0), string(older), 1},
		{"one byte off", 0, SecretOf(0), strings.Replace(string(newest), ".", ",", 1), 1},
		{"signed for another", sampled, SecretOf(0), string(newest), 1},
		{"too short", 0, SecretOf(0), string(newest[1:]), 1},
		{"too short, for one that is not looked at", 1, "", string(newest[1:]), 1},
		{"too long", 0, SecretOf(0), string(newest) + "x", 1},
		{"far too long", 0, SecretOf(0), strings.Repeat("x", 200_000), 1},
		{"of the right length, for one that is not looked at", 1, "", strings.Repeat("x", 3000), 0},
		{"nothing", 0, SecretOf(0), "", 1},
	} {
		s.Reset(200)
		signature, err := websub.Sign(websub.SHA256, tt.secret, []byte(tt.body))
		if err != nil {
			t.Fatal(err)
		}
		r := sender.Send(t.Context(), &fetch.Message{URL: CallbackURL(false, 0, s.Port, tt.callback), Body: []byte(tt.body),
			Header: []string{websub.SignatureHeader, signature}})
		if a := s.Arrivals(0, 200, time.Now()); !r.OK() || a.Distinct != 1 || a.Wrong != tt.wrong {
			t.Errorf("%s: %d %v, %+v", tt.name, r.Status, r.Err, a)
		}
	}
}

func TestReferenceSenderSendsTheSameRequestsAsAHub(t *testing.T) {
	t.Parallel()
	s := openTestReceiver(t, Plan{Hosts: 3, Feeds: 1, FeedSize: 100_000, Contents: true, Signed: true})
	l := newLoop(8, 64)
	feed := fmt.Sprintf("http://%s:%d/f/0", Host(false, 0), s.Port)
	for _, kind := range []string{LoopSender, LoopNetHTTP} {
		s.Reset(200)
		ran, err := l.run(t.Context(), Job{Kind: kind, Hosts: 3, Port: s.Port, To: 200, Concurrent: 8, Idle: 64, Feed: feed, Via: ViaWebSub, Signed: true})
		if err != nil || ran.Failed != 0 {
			t.Fatalf("%s: %+v, %v", kind, ran, err)
		}
		if a := s.Arrivals(0, 200, time.Unix(0, ran.T0)); a.Distinct != 200 || a.Again != 0 || a.Wrong != 0 {
			t.Errorf("%s: %+v", kind, a)
		}
	}
	if _, err := l.run(t.Context(), Job{Kind: LoopSender, Hosts: 3, Port: s.Port, To: 1, Concurrent: 1, Feed: feed + "9", Via: ViaWebSub}); err == nil {
		t.Error("a feed that is not there was sent")
	}
}
