package hubcli

import (
	"strings"
	"testing"

	"cloudburst/internal/cli/hubclient"
)

func TestHubFlagIsUsedForFeedWithoutCloud(t *testing.T) {
	t.Parallel()
	doc := hubclient.Document{URL: "http://feeds.example/rss.xml", Final: "http://feeds.example/rss.xml", Body: []byte("<rss><channel></channel></rss>")}
	if _, err := (&listener{}).cloudOf(doc); err == nil || !strings.Contains(err.Error(), "--hub") {
		t.Errorf("without a hub: %v; want an error about --hub", err)
	}
	cloud, err := (&listener{hub: "https://hub.example:8443"}).cloudOf(doc)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := cloud.RegisterURL(); err != nil || got != "https://hub.example:8443/rsscloud/pleaseNotify" {
		t.Errorf("registers at %s, %v", got, err)
	}
}
