package testfeed

import (
	"bytes"
	"context"
	"encoding/xml"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"cloudburst/protocol/rsscloud"
)

func TestTestFeedChangesEveryQuarterHourAndContainsCloudElement(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 4, 14, 29, 59, 0, time.UTC)
	before, changed := document("http://hub.example:5337", rsscloud.CloudAt("http://hub.example:5337").String(), at, nil)
	if !changed.at.Equal(at.Truncate(15 * time.Minute)) {
		t.Errorf("changed at %s", changed.at)
	}
	if again, _ := document("http://hub.example:5337", rsscloud.CloudAt("http://hub.example:5337").String(), at.Add(-14*time.Minute), nil); !bytes.Equal(before, again) {
		t.Error("it changed within a quarter")
	}
	after, _ := document("http://hub.example:5337", rsscloud.CloudAt("http://hub.example:5337").String(), at.Add(time.Second), nil)
	if bytes.Equal(before, after) {
		t.Error("it did not change with the quarter")
	}
	cloud, err := rsscloud.FindCloud(after, "http://hub.example:5337/test/rss.xml")
	if err != nil || cloud != rsscloud.CloudAt("http://hub.example:5337") {
		t.Errorf("its cloud: %v, %v", cloud, err)
	}
	for dec := xml.NewDecoder(bytes.NewReader(after)); ; {
		if _, err := dec.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

func TestSubscribersOfTestFeedAreNotifiedEveryQuarterHour(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour+time.Minute)
		defer cancel()
		var times []time.Time
		eachQuarter(ctx, time.Now, func() { times = append(times, time.Now()) })
		if len(times) != 4 {
			t.Fatalf("notified %d times in an hour: %v", len(times), times)
		}
		for _, at := range times {
			if after := at.Sub(at.Truncate(15 * time.Minute)); after != notifyDelay {
				t.Errorf("notified %s after the quarter", after)
			}
		}
	})
}
