package api

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cloudburst/client"
	"cloudburst/internal/hub"
	"cloudburst/internal/validator"
)

func TestTopicResponseContainsVerificationAndItsCost(t *testing.T) {
	t.Parallel()
	const feed = "http://a.example/rss.xml"
	w := newFakeHub()
	c, _ := serve(t, w)
	read := start().Add(-time.Minute)
	again := read.Add(time.Hour)
	for name, tt := range map[string]struct {
		topic hub.Topic
		want  *client.Verification
	}{
		"never read": {hub.Topic{}, nil},
		"unproven": {hub.Topic{Hash: []byte{1}, ETag: `W/"1"`, FullReads: 2, FullBytes: 30},
			&client.Verification{ETag: "unproven", Full: true, Reason: "its ETag is weak or malformed", FullReads: 2, FullBytes: 30}},
		"proven": {hub.Topic{Hash: []byte{1}, ETag: `"1"`, NotModified: 4, FullReads: 2, FullBytes: 30, AgainAt: again,
			Evidence: validator.Evidence{Proof: validator.Proven, Believed: true, FullAt: read}},
			&client.Verification{ETag: "proven", NotModified: 4, FullReads: 2, FullBytes: 30, FullAt: &read, AgainAt: &again}},
	} {
		tt.topic.ID, tt.topic.URL = hub.TopicID(feed), feed
		w.topics[tt.topic.ID] = tt.topic
		got, err := c.Topic(t.Context(), feed)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(tt.want, got.Verification); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// A feed can be pinged without ever having a subscriber.
func TestErrorAboutATopicWithoutSubscribersMentionsThePings(t *testing.T) {
	t.Parallel()
	c, _ := serve(t, newFakeHub())
	_, err := c.Topic(t.Context(), "http://a.example/rss.xml")
	if err == nil || err.Error() != "No subscriber of the feed http://a.example/rss.xml is stored; pings of the feed are in the log." {
		t.Error(err)
	}
}
