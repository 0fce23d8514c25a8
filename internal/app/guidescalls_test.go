package app_test

import (
	"bufio"
	"bytes"
	"crypto/sha1"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"cloudburst/client"
	"cloudburst/internal/announce"
	"cloudburst/protocol/cnws"
	"cloudburst/protocol/rsscloud"
	"cloudburst/protocol/weblogs"
	"cloudburst/protocol/wsse"
	"cloudburst/protocol/xmlrpc"
)

// notation matches a call as the guides print it: [server].procedure (parameters).
var notation = regexp.MustCompile(`^\[("?)([^\]"]+)"?\]\.([A-Za-z.]+) \((.*)\)$`)

// notated returns the parts of a call that the example prints.
func (g *guide) notated() (server, method string, params []string) {
	g.Helper()
	m := notation.FindStringSubmatch(g.doc)
	if m == nil {
		g.Fatalf("%s is no call", g.doc)
	}
	return m[2], m[3], strings.Split(m[4], ", ")
}

// call sends an XML-RPC call to a path of the program and returns the result.
func (g *guide) call(path, method string, params ...any) any {
	g.Helper()
	v, err := (&xmlrpc.Client{URL: g.w.base + path}).Call(g.Context(), method, params...)
	if err != nil {
		g.Fatalf("%s: %v", method, err)
	}
	return v
}

func pingCallAsPrinted(g *guide) {
	server, method, params := g.notated()
	is(g, "the server", server, "xmlrpc://rpc.rsscloud.org:5337/RPC2")
	is(g, "the parameter", params, []string{`"http://scripting.com/rss.xml"`})
	feed := g.w.put("/scripting/rss.xml", rssWith("one"))
	is(g, "the answer", g.call("/RPC2", method, feed), any(true))
}

func pingAsPrinted(g *guide) {
	_, method, params := g.notated()
	is(g, "the parameters", params, []string{"url"})
	s := newSubscriber(g.T)
	feed := g.w.put("/ping/rss.xml", rssWith("one"))
	if code, body := post(g.T, g.w.base+"/rsscloud/pleaseNotify", s.form(feed, "yes")); code != 200 || !strings.Contains(body, `success="true"`) {
		g.Fatalf("pleaseNotify: %d %s", code, body)
	}
	g.w.put("/ping/rss.xml", rssWith("two"))
	is(g, "the answer", g.call("/RPC2", method, feed), any(true))
	is(g, "the subscriber received", s.wait(g.T, "the change"), feed)
}

// bull creates the user bull, whose feed has the URL in the example.
func (g *guide) bull() {
	g.Helper()
	admin := &client.Client{Base: g.w.admin}
	if _, err := admin.User(g.Context(), "bull"); err == nil {
		return
	}
	if _, err := admin.AddUser(g.Context(), "bull", alicePassword); err != nil {
		g.Fatal(err)
	}
}

func saveAsPrinted(g *guide) {
	_, method, params := g.notated()
	is(g, "the parameters", params, []string{"username", "password", "rsstext"})
	g.bull()
	text := rssOf("saved")
	is(g, "the answer", g.call("/RPC2", method, "bull", alicePassword, text), any(g.w.base+"/bull/rss.xml"))
	_, served := get(g.T, g.w.base+"/bull/rss.xml")
	is(g, "the feed", served, text)
	_, err := (&xmlrpc.Client{URL: g.w.base + "/RPC2"}).Call(g.Context(), method, "bull", "wrong", text)
	if _, ok := err.(*xmlrpc.Fault); !ok {
		g.Errorf("a save that failed: %v", err)
	}
}

func savedAtAsPrinted(g *guide) {
	u, err := url.Parse(g.doc)
	if err != nil {
		g.Fatal(err)
	}
	g.bull()
	text := rssOf("saved")
	g.call("/RPC2", "rssCloud.saveRss", "bull", alicePassword, text)
	code, served := get(g.T, g.w.base+u.Path)
	is(g, "status", code, http.StatusOK)
	is(g, "the feed", served, text)
}

func pleaseNotifyAsPrinted(g *guide) {
	_, method, params := g.notated()
	is(g, "the parameters", params, []string{"notifyProcedure", "port", "path", "protocol", "urllist"})
	s := newSubscriber(g.T)
	feed := g.w.put("/notify/rss.xml", rssWith("one"))
	reg := rsscloud.Registration{Port: portOf(g, s.URL), Path: "/notify", Protocol: rsscloud.HTTPPost, URLs: []string{feed}}
	is(g, "the answer", g.call("/RPC2", method, reg.Params()...), any(true))
	is(g, "the test call", s.wait(g.T, "the test call"), feed)
}

func portOf(g *guide, raw string) int {
	g.Helper()
	u, err := url.Parse(raw)
	if err != nil {
		g.Fatal(err)
	}
	var port int
	if _, err := fmt.Sscan(u.Port(), &port); err != nil {
		g.Fatal(err)
	}
	return port
}

// The guide lists endpoints. They must exist in this program, and the program must derive them
// from the <cloud> element of the guide's server.
func endpointsAsPrinted(g *guide) {
	cloud := rsscloud.CloudAt("http://rpc.rsscloud.org:5337")
	register, err := cloud.RegisterURL()
	if err != nil {
		g.Fatal(err)
	}
	ping, err := cloud.PingURL()
	if err != nil {
		g.Fatal(err)
	}
	is(g, "endpoints", g.lines(), []string{"http://rpc.rsscloud.org:5337/RPC2", register, ping})
	for _, line := range g.lines() {
		u, err := url.Parse(line)
		if err != nil {
			g.Fatal(err)
		}
		if code, _ := post(g.T, g.w.base+u.Path, url.Values{}); code == http.StatusNotFound || code == http.StatusMethodNotAllowed {
			g.Errorf("%s is no endpoint here: %d", u.Path, code)
		}
	}
	feed := g.w.put("/rest/rss.xml", rssWith("one"))
	code, body := post(g.T, g.w.base+"/rsscloud/ping", url.Values{"url": {feed}})
	is(g, "the answer to a ping", body, `<?xml version="1.0" encoding="UTF-8"?>`+"\n"+`<result success="true" msg="Thanks for the ping."/>`+"\n")
	is(g, "its status", code, http.StatusOK)
}

// wsseAsPrinted sends the request of the example. It replaces only the host, the path, the user,
// the digest and the time with valid values.
func wsseAsPrinted(g *guide) {
	request := strings.ReplaceAll(g.doc, "\n", "\r\n") + "\r\n\r\n"
	r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(request)))
	if err != nil {
		g.Fatal(err)
	}
	token, ok, err := wsse.FromHeader(r.Header)
	if err != nil || !ok {
		g.Fatal(ok, err)
	}
	is(g, "the token", token, wsse.Token{
		Username: "cal", Digest: "WgUU6xmxOsGYqhNun9gJZ//C9ew=", Nonce: "bf59559401b2d9e14964823a37836a76",
		Created: "2005-11-14T18:40:04-0800", At: time.Date(2005, 11, 15, 2, 40, 4, 0, time.UTC),
	})
	admin := &client.Client{Base: g.w.admin}
	g.must(admin.SaveFeed(g.Context(), "alice", client.PrivateFeed, "", []byte(rssOf("private"))))
	secret, err := admin.NewSecret(g.Context(), "alice", "cal")
	if err != nil {
		g.Fatal(err)
	}
	created := time.Now().In(time.FixedZone("", -8*3600)).Format("2006-01-02T15:04:05-0700")
	digest := sha1.Sum([]byte(token.Nonce + created + secret.Access.Password))
	fill := strings.NewReplacer("/feeds/my-private-data/", "/alice/private/rss.xml", "world-of-feeds.com", strings.TrimPrefix(g.w.base, "http://"),
		`"cal"`, `"`+secret.Access.Name+`"`, token.Created, created, token.Digest, base64.StdEncoding.EncodeToString(digest[:]))
	res, body := send(g.T, strings.TrimPrefix(g.w.base, "http://"), []byte(fill.Replace(request)))
	is(g, "status", res.StatusCode, http.StatusOK)
	// In addition to the saved document, the feed contains elements with the topic of its reader.
	if names := pushElements.ReplaceAllString(string(body), ""); names == string(body) {
		g.Errorf("the feed names no topic: %s", body)
	} else {
		is(g, "the feed", names, rssOf("private"))
	}
	res, body = send(g.T, strings.TrimPrefix(g.w.base, "http://"), []byte(fill.Replace(request)))
	is(g, "status of the same request again", res.StatusCode, http.StatusUnauthorized)
	if strings.Contains(string(body), "private</title>") {
		g.Error("it was answered again")
	}
}

// pushElements matches the elements that the server adds to a document for push notifications.
var pushElements = regexp.MustCompile(`<(cloud|atom:link) [^>]*/>`)

// digestAsPrinted checks the formula: digest = base64( sha1( nonce . created . password ) )
func digestAsPrinted(g *guide) {
	is(g, "the formula", g.doc, "digest = base64( sha1( nonce . created . password ) )")
	now := time.Date(2005, 11, 15, 2, 40, 4, 0, time.UTC)
	token, err := wsse.Parse(wsse.Header("cal", "a secret", now, bytes.NewReader(make([]byte, 64))))
	if err != nil {
		g.Fatal(err)
	}
	sum := sha1.Sum([]byte(token.Nonce + token.Created + "a secret"))
	raw, err := base64.StdEncoding.DecodeString(token.Nonce)
	other := sha1.Sum([]byte(string(raw) + token.Created + "a secret"))
	if err != nil || token.Digest != base64.StdEncoding.EncodeToString(sum[:]) && token.Digest != base64.StdEncoding.EncodeToString(other[:]) {
		g.Errorf("the digest of %+v is another", token)
	}
	if token.Digest = base64.StdEncoding.EncodeToString(sum[:]); !token.Check("a secret") || token.Check("another") {
		g.Error("a digest made by the formula is not accepted, or one with another password is")
	}
}

// cnwsPost sends a document to the CNWS endpoint of the program.
func (g *guide) cnwsPost(doc string) (int, cnws.Result) {
	g.Helper()
	res, err := http.Post(g.w.base+"/cnws", "text/xml", strings.NewReader(doc))
	if err != nil {
		g.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		g.Fatal(err)
	}
	result, err := cnws.ParseResult(res.Header.Get("Content-Type"), body)
	if err != nil {
		g.Fatalf("%v: %s", err, body)
	}
	return res.StatusCode, result
}

func cnwsNotificationAsPrinted(g *guide) {
	code, got := g.cnwsPost(g.doc)
	is(g, "status", code, http.StatusOK)
	is(g, "nobody here wants it", got.Status, false)

	publisher := newCNWSServer(g.T, nil)
	feed := g.w.put("/news/rss.xml", rssWith("one"))
	g.w.relay(g.T, client.RelayRequest{Feed: feed, Via: "cnws", Hub: publisher.URL})
	publisher.await(g.T, "POST", 1)
	code, got = g.cnwsPost(strings.Replace(g.doc, "http://news.bbc.co.uk/", feed, 1))
	is(g, "status", code, http.StatusOK)
	is(g, "it is wanted", got.Status, true)

	d, err := cnws.Parse(strings.NewReader(g.doc))
	if err != nil {
		g.Fatal(err)
	}
	is(g, "the change", *d.Change, cnws.Change{
		ResourceID: "http://news.bbc.co.uk/", ChangeTime: time.Date(2003, 4, 7, 21, 59, 33, 0, time.UTC),
		Title: "Title of the change, e.g. new post title", Description: "A description of the change, e.g. excerpt from a post.",
	})
	out, err := d.Marshal()
	again, err2 := cnws.Parse(bytes.NewReader(out))
	if err != nil || err2 != nil {
		g.Fatal(err, err2)
	}
	is(g, "written again", *again.Change, *d.Change)
}

// cnwsAnswers parses the response in an example, and checks that the program writes a response
// with the same result.
func (g *guide) cnwsAnswers(want cnws.Result) {
	g.Helper()
	got, err := cnws.ParseResult("text/xml", []byte(g.doc))
	if err != nil {
		g.Fatal(err)
	}
	is(g, "the answer", got, want)
	out, err := got.Marshal()
	if err != nil {
		g.Fatal(err)
	}
	again, err := cnws.ParseResult("text/xml", out)
	if err != nil {
		g.Fatal(err)
	}
	is(g, "written again", again, want)
}

// The program keeps a subscriber that sends the response of the example.
func cnwsNotificationAnswerAsPrinted(g *guide) {
	g.cnwsAnswers(cnws.Result{Status: true})
	e := newRecordingServer(g.T, func(w http.ResponseWriter, _ arrived, _ int) {
		w.Header().Set("Content-Type", "text/xml")
		_, _ = io.WriteString(w, g.doc)
	})
	feed := g.w.put("/answered/rss.xml", rssWith("one"))
	if code, got := g.w.sendCNWS(g.T, subscribeTo(feed, e.URL)); code != http.StatusOK || !got.Status {
		g.Fatalf("subscribe: %d %+v", code, got)
	}
	for i, title := range []string{"two", "three"} {
		g.w.put("/answered/rss.xml", rssWith(title))
		g.w.publish(g.T, feed)
		e.await(g.T, "POST", i+2)
	}
}

func cnwsSubscribeAsPrinted(g *guide) {
	e := newCNWSServer(g.T, nil)
	feed := g.w.put("/subscribed/rss.xml", rssWith("one"))
	_, got := g.cnwsPost(strings.NewReplacer("http://news.bbc.co.uk/", feed, "http://test.server.com:8888/", e.URL+"/").Replace(g.doc))
	is(g, "the answer", got.Status, true)
	is(g, "its title", got.Title, "Café & Co")
	is(g, "its description", got.Description, "All of it")
	g.w.put("/subscribed/rss.xml", rssWith("two"))
	g.w.publish(g.T, feed)
	e.await(g.T, "POST", 2)

	code, got := g.cnwsPost(g.doc)
	is(g, "status as printed", code, http.StatusOK)
	is(g, "a resource that cannot be read", got.Status, false)
}

func cnwsSubscribeAnswerAsPrinted(g *guide) {
	g.cnwsAnswers(cnws.Result{Status: true, Title: "Title of the resource, e.g. weblog title", Description: "Description of the resource, e.g. weblog description"})
}

func userAgentAsPrinted(g *guide) {
	name, value, _ := strings.Cut(g.doc, ": ")
	admin := &client.Client{Base: g.w.admin}
	g.must(admin.SaveFeed(g.Context(), "alice", client.PublicFeed, "", []byte(rssOf("read"))))
	req, err := http.NewRequestWithContext(g.Context(), http.MethodGet, g.w.base+"/alice/rss.xml", nil)
	if err != nil {
		g.Fatal(err)
	}
	req.Header.Set(name, value)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		g.Fatal(err)
	}
	res.Body.Close()
	wait(g.T, "its 500 readers are counted", func() bool {
		readers, err := admin.Readers(g.Context(), "alice", 7)
		return err == nil && len(readers.ServiceList) == 1 && readers.ServiceList[0].Name == "kb.Rmail" && readers.Services == 500
	})
}

// isListed waits until changes.xml lists a site. If feed is not empty, it must list the URL of
// the feed too.
func (g *guide) isListed(name, address, feed string) {
	g.Helper()
	wait(g.T, name+" is listed", func() bool {
		for _, s := range g.w.changes(g.T, "/changes.xml").Sites {
			if s.Name == name && s.URL == address && s.RSS == feed {
				return true
			}
		}
		return false
	})
}

// The line of the example begins with a no-break space.
func pingByGetAsPrinted(g *guide) {
	u, err := url.Parse(strings.Trim(g.doc, "\u00a0 "))
	if err != nil {
		g.Fatal(err)
	}
	is(g, "where", u.Host+u.Path, "rpc.weblogs.com/pingSiteForm")
	code, body := get(g.T, g.w.base+u.RequestURI())
	if code != http.StatusOK || !strings.Contains(body, "<html") || !strings.Contains(body, "Thanks for the ping.") {
		g.Errorf("%d %s", code, body)
	}
	g.isListed("The RSS Blog", "http://www.kbcafe.com/rss", "")
	if code, body := get(g.T, g.w.base+u.Path+"?name=x&url=nonsense"); code == http.StatusOK || !strings.Contains(body, "<html") {
		g.Errorf("one that fails: %d %s", code, body)
	}
	usedFolder, err := weblogs.PingURL("http://rpc.weblogs.com/pingSiteForm?name={0}&url={1}", weblogs.Ping{Name: "The RSS Blog", URL: "http://www.kbcafe.com/rss"})
	q, err2 := url.Parse(usedFolder)
	if err != nil || err2 != nil {
		g.Fatal(err, err2)
	}
	is(g, "the same ping, sent", q.Query(), u.Query())
}

// sendPrinted sends the request of the example, and adds the missing header Content-Length.
func (g *guide) sendPrinted() (*http.Response, []byte) {
	g.Helper()
	head, body, _ := strings.Cut(g.doc, "\n\n")
	request := strings.ReplaceAll(head, "\n", "\r\n") + fmt.Sprintf("\r\nContent-Length: %d\r\n\r\n", len(body)) + body
	return send(g.T, strings.TrimPrefix(g.w.base, "http://"), []byte(request))
}

// wantThanks checks that a response has the form that the guide prints.
func (g *guide) wantThanks(res *http.Response, body []byte) {
	g.Helper()
	is(g, "status", res.StatusCode, http.StatusOK)
	is(g, "type", strings.HasPrefix(res.Header.Get("Content-Type"), "text/xml"), true)
	v, err := xmlrpc.Decoder{}.Response(bytes.NewReader(body))
	if err != nil {
		g.Fatalf("%v: %s", err, body)
	}
	is(g, "the answer", v, any(map[string]any{"flerror": false, "message": "Thanks for the ping."}))
}

func weblogsPingAsPrinted(g *guide) {
	g.wantThanks(g.sendPrinted())
	g.isListed("The RSS Blog", "https://rssweblog.com/", "")
}

func extendedPingAsPrinted(g *guide) {
	g.wantThanks(g.sendPrinted())
	g.isListed("The RSS Blog", "https://rssweblog.com/", "http://feeds.feedburner.com/TheRssBlog")
}

func pingAnswerAsPrinted(g *guide) {
	res, err := http.ReadResponse(bufio.NewReader(strings.NewReader(strings.Replace(g.doc, "\n\n", "\r\n\r\n", 1))), nil)
	if err != nil {
		g.Fatal(err)
	}
	v, err := xmlrpc.Decoder{}.Response(res.Body)
	if err != nil {
		g.Fatal(err)
	}
	got, err := weblogs.ParseResult(v)
	if err != nil {
		g.Fatal(err)
	}
	is(g, "the result", got, weblogs.Result{Message: "Your ping succeeded!"})
}

// The table in the guide lists servers. Each of them can be a ping target, by GET and by XML-RPC.
func targetsAsPrinted(g *guide) {
	rows := g.lines()
	is(g, "the heading", rows[0], "Ping Sink Instructions HTTP GET XML-RPC")
	is(g, "servers", len(rows), 7)
	for _, row := range rows[1:] {
		f := strings.Fields(row)
		if len(f) != 4 {
			g.Fatalf("%q", row)
		}
		for _, text := range []string{announce.Get + " " + f[2], announce.Weblogs + " " + f[3], announce.WeblogsExtended + " " + f[3]} {
			if _, err := announce.ParseTarget(text); err != nil {
				g.Errorf("%s: %v", text, err)
			}
		}
		usedFolder, err := weblogs.PingURL(f[2], weblogs.Ping{Name: "The RSS Blog", URL: "http://www.kbcafe.com/rss"})
		if err != nil || strings.ContainsAny(usedFolder, "{}") {
			g.Errorf("%s becomes %q: %v", f[2], usedFolder, err)
		}
	}
}

func listsAsPrinted(g *guide) {
	var paths []string
	for _, line := range g.lines() {
		u, err := url.Parse(line)
		if err != nil {
			g.Fatal(err)
		}
		paths = append(paths, u.Path)
	}
	before := time.Now().UTC()
	get(g.T, g.w.base+"/pingSiteForm?name=Listed&url=http%3A%2F%2Flisted.example%2F")
	for _, at := range paths[:2] {
		if c := g.w.changes(g.T, at); len(c.Sites) == 0 || c.Version != "2" || c.Count == 0 {
			g.Errorf("%s: %+v", at, c)
		}
	}
	if code, _ := get(g.T, g.w.base+paths[2]); code != http.StatusNotFound {
		g.Errorf("an hour of 2007: %d", code)
	}
	// The path of an archive has the form that the example prints.
	found := false
	for _, at := range []time.Time{before, time.Now().UTC()} { // try both hours, because the hour may end during the test
		code, body := get(g.T, g.w.base+at.Format("/2006/01/02/15.xml"))
		found = found || code == http.StatusOK && strings.Contains(body, "listed.example")
	}
	is(g, "the archive of this hour has the ping", found, true)
}

func changesAsPrinted(g *guide) {
	c, err := weblogs.ReadChanges([]byte(g.doc), weblogs.ReadOptions{})
	if err != nil {
		g.Fatal(err)
	}
	updated := time.Date(2007, 1, 13, 19, 8, 0, 0, time.UTC)
	is(g, "the list", *c, weblogs.Changes{Version: "2", Updated: updated, Count: 2000001, List: []weblogs.Weblog{
		{Name: "The RSS Blog", URL: "http://www.kbcafe.com/rss", When: updated.Add(-time.Minute)},
		{Name: "iBLOGthere4iM", URL: "http://www.kbcafe.com/iBLOGthere4iM", When: updated.Add(-2 * time.Minute)},
	}})
	again, err := weblogs.ReadChanges(c.Append(nil, time.Minute), weblogs.ReadOptions{})
	if err != nil {
		g.Fatal(err)
	}
	is(g, "written again", *again, *c)
	// Apart from white space, the program writes the document as the guide prints it, after an
	// XML declaration.
	_, written, _ := strings.Cut(string(c.Append(nil, time.Minute)), "?>\n")
	is(g, "the same document", written, strings.ReplaceAll(g.doc, "\u00a0", " ")+"\n")
}
