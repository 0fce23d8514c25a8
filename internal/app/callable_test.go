package app_test

import (
	"encoding/xml"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"cloudburst/internal/config"
	"cloudburst/internal/hub"
)

// TestCallbackOnOwnListenerIsRejectedImmediately sends callback URLs over each protocol. The URLs
// contain the public name and the local addresses of both listeners in different forms.
func TestCallbackOnOwnListenerIsRejectedImmediately(t *testing.T) {
	t.Parallel()
	w := newWebSubHub(t, func(c *config.Config) { c.PublicURL = "https://hub.example.org" })
	feed := w.text("/rss.xml", "<rss version='2.0'><channel><title>x</title></channel></rss>")
	port := func(base string) string {
		_, p, err := net.SplitHostPort(strings.TrimPrefix(base, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	public, admin := port(w.base), port(w.admin)
	own := []string{
		"https://hub.example.org/callback", "http://HUB.example.org./callback", "https://hub.example.org:443/", "http://hub.example.org:80/x?y",
		"http://127.0.0.1:" + public + "/callback", "http://localhost:" + public + "/callback", "http://[::ffff:127.0.0.1]:" + public + "/callback",
		"http://127.0.0.1:" + admin + "/v1/topics", "http://localhost:" + admin + "/", "http://LOCALHOST.:" + admin + "/x", "http://hub.localhost:" + admin + "/x",
	}
	for _, callback := range own {
		code, body := w.ask(t, hub.ModeSubscribe, feed, callback)
		if code != http.StatusForbidden || !strings.Contains(body, "is on this server itself") && !strings.Contains(body, "own endpoints") {
			t.Errorf("WebSub, %s: %d %s", callback, code, body)
		}
		u, err := url.Parse(callback)
		if err != nil {
			t.Fatal(err)
		}
		form := url.Values{"port": {u.Port()}, "path": {u.RequestURI()}, "protocol": {"http-post"}, "domain": {u.Hostname()}, "url1": {feed}}
		if u.Port() == "" {
			form.Set("port", map[string]string{"http": "80", "https": "443"}[u.Scheme])
		}
		if _, body := post(t, w.base+"/rsscloud/pleaseNotify", form); !strings.Contains(body, "is on this server itself") && !strings.Contains(body, "own endpoints") {
			t.Errorf("rssCloud, %s: %s", callback, body)
		}
	}
	var name strings.Builder
	if err := xml.EscapeText(&name, []byte(own[len(own)-1])); err != nil {
		t.Fatal(err)
	}
	res, err := http.Post(w.base+"/cnws", "text/xml", strings.NewReader(`<notification version="1.0" xmlns="http://www.owlfish.com/thoughts/cnws-2003-04-08.html"><subscribe><resourceID>`+
		feed+"</resourceID><notificationURL>"+name.String()+"</notificationURL></subscribe></notification>"))
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(res.Body)
	res.Body.Close()
	if err != nil || !strings.Contains(string(body), "<status>false") || !strings.Contains(string(body), "is on this server itself") {
		t.Errorf("CNWS: %s %v", body, err)
	}
	if n := w.count("/rss.xml"); n != 0 {
		t.Errorf("the feed was read %d times for callbacks that are rejected", n)
	}
	if _, log := get(t, w.base+"/log"); !strings.Contains(log, "is on this server itself") {
		t.Error("the log does not contain the reason")
	}
	for _, callback := range []string{"https://hub.example.org:8443/callback", "http://other.example.org/callback", w.URL + "/callback"} {
		if code, body := w.ask(t, hub.ModeSubscribe, feed, callback); code != http.StatusAccepted {
			t.Errorf("%s: %d %s", callback, code, body)
		}
	}
}

// TestCallbackErrorsDoNotRevealLocalPorts compares the responses for callbacks on the operator's
// listener with the responses for callbacks on a closed port.
func TestCallbackErrorsDoNotRevealLocalPorts(t *testing.T) {
	t.Parallel()
	w := newWebSubHub(t, func(c *config.Config) { c.PublicURL, c.Egress.AllowCallback = "https://hub.example.org", nil })
	feed := w.text("/rss.xml", "x")
	admin, _ := url.Parse(w.admin)
	for _, host := range []string{"127.0.0.1", "localhost", "[::1]", "a.localhost"} {
		ask := func(port string) string {
			_, body := w.ask(t, hub.ModeSubscribe, feed, "http://"+host+":"+port+"/x")
			return strings.ReplaceAll(body, port, "PORT")
		}
		if own, other := ask(admin.Port()), ask("54321"); own != other || !strings.Contains(own, "does not call") {
			t.Errorf("%s: %s\n%s", host, own, other)
		}
	}
}
