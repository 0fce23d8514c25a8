package app_test

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// TestUnreadableTopicIsRefusedByEachProtocol subscribes to a topic and pings it over each
// protocol. The server must not access the topic's network.
func TestUnreadableTopicIsRefusedByEachProtocol(t *testing.T) {
	t.Parallel()
	w := newWebSubHub(t, nil)
	const hidden, reason = "http://10.0.0.1/rss.xml", "The address http://10.0.0.1/rss.xml is on a network that this server does not read."
	call := func(method string, params ...string) string {
		return "<methodCall><methodName>" + method + "</methodName><params><param><value>" + strings.Join(params, "</value></param><param><value>") + "</value></param></params></methodCall>"
	}
	form := func(fields ...string) string {
		v := url.Values{}
		for i := 0; i < len(fields); i += 2 {
			v.Set(fields[i], fields[i+1])
		}
		return v.Encode()
	}
	for _, c := range []struct {
		path, kind, body string
		status           int
		form             string
	}{
		{"/websub", "", form("hub.mode", "subscribe", "hub.topic", hidden, "hub.callback", w.URL+"/cb"), 403, reason},
		{"/websub", "", form("hub.mode", "publish", "hub.url", hidden), 403, "Refused " + hidden + ": " + reason},
		{"/rsscloud/ping", "", form("url", hidden), 200, `<result success="false" msg="` + reason},
		{"/RPC2", "text/xml", call("rssCloud.ping", hidden), 200, "<string>" + reason},
		{"/RPC2", "text/xml", call("weblogUpdates.ping", "A site", hidden), 200, "<boolean>1</boolean></value></member><member><name>message</name><value><string>" + reason},
		{"/pingSiteForm", "", form("name", "A site", "url", hidden), 400, reason},
		{"/cnws", "text/xml", `<notification version="1.0" xmlns="http://www.owlfish.com/thoughts/cnws-2003-04-08.html"><subscribe><resourceID>` + hidden + "</resourceID><notificationURL>" + w.URL + "/cb</notificationURL></subscribe></notification>", 200,
			"<status>false</status>\n<description>" + reason},
	} {
		if c.kind == "" {
			c.kind = "application/x-www-form-urlencoded"
		}
		resp, err := http.Post(w.base+c.path, c.kind, strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		got, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if resp.StatusCode != c.status || !strings.Contains(string(got), c.form) {
			t.Errorf("%s %s: %s\n%s", c.path, c.body, resp.Status, got)
		}
	}
}
