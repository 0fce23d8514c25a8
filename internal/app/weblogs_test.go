package app_test

import (
	"bytes"
	"context"
	"encoding/xml"
	"fmt"
	"net/http"
	"net/url"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"cloudburst/client"
	"cloudburst/internal/config"
	"cloudburst/internal/fulltest"
	"cloudburst/protocol/weblogs"
	"cloudburst/protocol/websub"
)

// pings is a Python program that calls weblogUpdates.ping and weblogUpdates.extendedPing by XML-RPC.
// It calls both methods with valid and invalid parameters. Its arguments are the URLs of the server,
// a site, a page of the site and a feed.
const pings = `
import sys, xmlrpc.client
base, site, page, feed = sys.argv[1:]
for path in "/RPC2", "/weblogUpdates", "/":
    u = xmlrpc.client.ServerProxy(base + path).weblogUpdates
    for call, args, taken in [
        (u.ping, ["Site"], False),
        (u.ping, ["Site", site], True),
        (u.ping, ["Site", site, page], True),
        (u.ping, ["Site", site, page, "a|b"], True),
        (u.ping, ["Site", site, page, "a|b", "more"], False),
        (u.extendedPing, ["Site", site, feed], True),
        (u.extendedPing, ["Site", site, page, feed], True),
        (u.extendedPing, ["Gr\u00fcn & <Co>", site, page, feed, "rss|opml"], True),
        (u.extendedPing, ["Site", site, page, feed, "a", "more"], False),
        (u.ping, ["Site", "mailto:me@example.com"], False),
        (u.ping, ["x" * 1025, site], False),
    ]:
        got = call(*args)
        if set(got) != {"flerror", "message"} or got["flerror"] is taken or not got["message"]:
            sys.exit(f"{path} {args!r}: {got!r}")
        if taken and got["message"] != "Thanks for the ping.":
            sys.exit(f"{path} {args!r}: {got!r}")
`

// changes is the content of changes.xml as a simple XML parser reads it.
type changes struct {
	XMLName xml.Name
	Version string `xml:"version,attr"`
	Updated string `xml:"updated,attr"`
	Count   int    `xml:"count,attr"`
	Sites   []struct {
		Name string `xml:"name,attr"`
		URL  string `xml:"url,attr"`
		RSS  string `xml:"rssUrl,attr"`
		When int    `xml:"when,attr"`
	} `xml:"weblog"`
}

func (r *running) changes(t *testing.T, path string) changes {
	t.Helper()
	code, body := get(t, r.base+path)
	var c changes
	if err := xml.Unmarshal([]byte(body), &c); err != nil || code != http.StatusOK || c.XMLName.Local != "weblogUpdates" || c.Version != "2" {
		t.Fatalf("%s: %d %v %s", path, code, err, body)
	}
	return c
}

// names reports whether an entry of the list has this URL. If feed is not empty, the entry must also
// have the URL of this feed.
func (c changes) names(url, feed string) bool {
	for _, s := range c.Sites {
		if s.URL == url && (feed == "" || s.RSS == feed) {
			return true
		}
	}
	return false
}

func TestPythonClientPingsWithOneToFiveParameters(t *testing.T) {
	t.Parallel()
	fulltest.Needs(t, "another language")
	w, s := newWebSubHub(t, nil), newSubscriber(t)
	feed := w.put("/rss.xml", rssWith("one"))
	if code, body := post(t, w.base+"/rsscloud/pleaseNotify", s.form(feed, "yes")); code != 200 || !strings.Contains(body, `success="true"`) {
		t.Fatalf("pleaseNotify: %d %s", code, body)
	}
	before := w.changes(t, "/changes.xml").Count
	ctx, cancel := context.WithTimeout(t.Context(), maxWait)
	defer cancel()
	out, err := exec.CommandContext(ctx, "python3", "-c", pings, w.base, w.URL+"/site/", w.URL+"/site/new", feed).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if got := s.wait(t, "the feed that was named"); got != feed {
		t.Errorf("notified of %s", got)
	}
	var list changes
	wait(t, "all pings are listed", func() bool {
		list = w.changes(t, "/changes.xml")
		return list.Count >= before+18
	})
	n := 0
	for _, l := range list.Sites {
		if l.URL == w.URL+"/site/" {
			n++
		}
		if l.Name == "Grün & <Co>" && l.RSS != feed {
			t.Errorf("the extended ping is listed as %+v", l)
		}
	}
	// The list may also contain the change of the feed itself, at most once.
	if n != 18 || list.Count > before+19 {
		t.Errorf("%d of 18 pings are listed, and the count rose by %d", n, list.Count-before)
	}
}

// TestSitePingFindsTheFeedOfTheSite pings a site in all ways in which a ping can name it.
func TestSitePingFindsTheFeedOfTheSite(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ link, ping string }{
		"by its home page":              {"SITE/home/", "/home/"},
		"without the slash at its end":  {"SITE/home/", "/home"},
		"with a place on the page":      {"SITE/home/", "/home/#top"},
		"by the feed itself":            {"SITE/home/", "/rss.xml"},
		"by a page that names the feed": {"http://elsewhere.invalid/", "/unknown/"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, s, e := newWebSubHub(t, nil), newSubscriber(t), newRecordingServer(t, nil)
			body := func(title string) page {
				return page{header: []string{"Content-Type", "application/rss+xml"}, body: "<rss version='2.0'><channel><title>" + title + "</title><link>" + c.link + "</link></channel></rss>"}
			}
			feed := w.put("/rss.xml", body("one"))
			w.put("/unknown/", page{header: []string{"Content-Type", "text/html"}, body: `<!doctype html><title>x</title><link rel="alternate" type="application/rss+xml" href="../rss.xml"><p>`})
			if code, answer := post(t, w.base+"/rsscloud/pleaseNotify", s.form(feed, "yes")); code != 200 || !strings.Contains(answer, `success="true"`) {
				t.Fatalf("pleaseNotify: %d %s", code, answer)
			}
			w.subscribe(t, feed, e.URL+"/cb")
			w.put("/rss.xml", body("two"))
			code, answer := get(t, w.base+"/pingSiteForm?name=x&url="+url.QueryEscape(w.URL+c.ping))
			if code != http.StatusOK || !strings.Contains(answer, "Thanks for the ping.") || !strings.Contains(answer, "<html") {
				t.Fatalf("ping: %d %s", code, answer)
			}
			if got := s.wait(t, "the change"); got != feed {
				t.Errorf("notified of %s", got)
			}
			if got := string(e.await(t, "POST", 1)[0].body); !strings.Contains(got, "two") {
				t.Errorf("delivered %s", got)
			}
		})
	}
}

func TestPingsOfEveryProtocolAreListed(t *testing.T) {
	t.Parallel()
	w, s := newWebSubHub(t, nil), newSubscriber(t)
	feeds := map[string]string{}
	for _, kind := range []string{"rsscloud", "websub", "weblogs", "pingsite", "cnws", "relay"} {
		feeds[kind] = w.put("/"+kind, rssWith("one"))
		if code, body := post(t, w.base+"/rsscloud/pleaseNotify", s.form(feeds[kind], "yes")); code != 200 || !strings.Contains(body, `success="true"`) {
			t.Fatalf("pleaseNotify: %d %s", code, body)
		}
	}
	publisher, other := newCNWSServer(t, nil), start(t, conf(t, t.TempDir()))
	w.relay(t, client.RelayRequest{Feed: feeds["cnws"], Via: "cnws", Hub: publisher.URL})
	w.relay(t, client.RelayRequest{Feed: feeds["relay"], Via: "websub", Hub: other.base + "/hub"})
	wait(t, "the other hub has it", func() bool {
		_, body := get(t, other.admin+"/v1/subscriptions")
		return strings.Contains(body, `"callback"`)
	})
	before := w.changes(t, "/changes.xml").Count
	for kind, feed := range feeds {
		w.put("/"+kind, rssWith("two"))
		var err error
		switch kind {
		case "rsscloud":
			if !accepted(w.base, feed) {
				t.Error("the ping was refused")
			}
		case "websub":
			err = (&websub.Client{}).Publish(t.Context(), w.base+"/websub", feed)
		case "weblogs":
			_, err = (&weblogs.Client{}).ExtendedPing(t.Context(), w.base+"/RPC2", weblogs.Ping{Name: "x", URL: "http://site.invalid/", ChangesURL: "http://site.invalid/1", FeedURL: feed})
		case "pingsite":
			get(t, w.base+"/pingSiteForm?name=x&url="+url.QueryEscape(feed))
		case "cnws":
			if _, got := w.sendCNWS(t, changeOf(feed)); !got.Status {
				t.Error("the change is not wanted")
			}
		case "relay":
			err = (&websub.Client{}).Publish(t.Context(), other.base+"/websub", feed)
		}
		if err != nil {
			t.Errorf("%s: %v", kind, err)
		}
	}
	var notified []string
	for range feeds {
		notified = append(notified, s.wait(t, "every change"))
	}
	slices.Sort(notified)
	if len(slices.Compact(notified)) != len(feeds) {
		t.Errorf("notified of %v", notified)
	}
	var list changes
	wait(t, "all are listed", func() bool {
		list = w.changes(t, "/changes.xml")
		for kind, feed := range feeds {
			site := feed
			if kind == "weblogs" {
				site = "http://site.invalid/"
			}
			if !list.names(site, "") {
				return false
			}
		}
		return true
	})
	if list.Count != before+len(feeds) || len(list.Sites) != list.Count {
		t.Errorf("the count rose from %d to %d, and %d are listed", before, list.Count, len(list.Sites))
	}
	if updated, err := time.Parse(time.RFC1123, list.Updated); err != nil || time.Since(updated) > time.Hour {
		t.Errorf("updated %s, %v", list.Updated, err)
	}
	for _, l := range list.Sites {
		if l.When < 0 || l.When > 60 {
			t.Errorf("when is %d", l.When)
		}
	}
	if short := w.changes(t, "/shortChanges.xml"); len(short.Sites) == 0 && time.Since(begun(t, list)) < 4*time.Minute {
		t.Error("the short list is empty")
	}
	w.archived(t, feeds)
}

// begun returns the time at which the list was created.
func begun(t *testing.T, c changes) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC1123, c.Updated)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// archived searches for the changes in the hourly archives. It also reads the previous hour,
// because the hour may have ended since the changes.
func (w *websubHub) archived(t *testing.T, feeds map[string]string) {
	t.Helper()
	now := time.Now().UTC()
	var hours changes
	for _, at := range []time.Time{now.Add(-time.Hour), now} {
		hours.Sites = append(hours.Sites, w.changes(t, at.Format("/2006/01/02/15.xml")).Sites...)
	}
	for kind, feed := range feeds {
		if kind != "weblogs" && !hours.names(feed, "") {
			t.Errorf("the archive has nothing of %s", kind)
		}
	}
	if code, _ := get(t, w.base+now.Add(48*time.Hour).Format("/2006/01/02/15.xml")); code != http.StatusNotFound {
		t.Errorf("an hour to come: %d", code)
	}
}

// TestRecentChangesStateAgesInTheConfiguredUnit makes two programs list the same change. One program states
// ages in minutes, and the other states ages in seconds.
func TestRecentChangesStateAgesInTheConfiguredUnit(t *testing.T) {
	t.Parallel()
	fulltest.Long(t)
	for when, maxAge := range map[string]int{"minutes": 60, "seconds": 3600} {
		w := newWebSubHub(t, func(c *config.Config) { c.Changes.When = when })
		get(t, w.base+"/pingSiteForm?name=x&url=http%3A%2F%2Fsite.invalid%2F")
		var list changes
		wait(t, "the ping is listed", func() bool { list = w.changes(t, "/changes.xml"); return len(list.Sites) > 0 })
		if at := list.Sites[0].When; at < 0 || at > maxAge {
			t.Errorf("%s: when is %d", when, at)
		}
		for i := range 3 {
			get(t, w.base+fmt.Sprintf("/pingSiteForm?name=x&url=http%%3A%%2F%%2Fsite.invalid%%2F%d", i))
		}
		wait(t, "the count rises", func() bool { return w.changes(t, "/changes.xml").Count == 4 })
	}
}

func TestRefusedFormPingReturnsPageAndIsNotListed(t *testing.T) {
	t.Parallel()
	w := newWebSubHub(t, nil)
	for _, query := range []string{"", "?name=x", "?name=x&url=blog", "?name=x&url=" + url.QueryEscape("javascript:alert(1)"), "?name=x&url=http%3A%2F%2Fx.invalid%2F" + strings.Repeat("a", 300)} {
		res, err := http.Get(w.base + "/pingSiteForm" + query)
		if err != nil {
			t.Fatal(err)
		}
		var body bytes.Buffer
		_, err = body.ReadFrom(res.Body)
		res.Body.Close()
		bad := query != "" // without parameters, the page is the form, which is a valid request
		if err != nil || bad != (res.StatusCode >= 400 && res.StatusCode <= 499) || !strings.HasPrefix(res.Header.Get("Content-Type"), "text/html") || !strings.Contains(body.String(), "<html") {
			t.Errorf("%q: %d %s, %v", query, res.StatusCode, res.Header.Get("Content-Type"), err)
		}
	}
	if list := w.changes(t, "/changes.xml"); list.Count != 0 || len(list.Sites) != 0 {
		t.Errorf("listed: %+v", list)
	}
}
