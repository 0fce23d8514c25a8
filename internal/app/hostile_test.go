package app_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"cloudburst/internal/fulltest"
)

// raw sends bytes and returns the response. It stops reading when the server closes the
// connection, or after 20 s.
func raw(t *testing.T, base, send string) string {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(base, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	// Errors are ignored, because the server may answer and close the connection before it has
	// read everything.
	_, _ = io.WriteString(conn, send)
	got, _ := io.ReadAll(conn)
	return string(got)
}

func request(method, path, head, body string) string {
	return fmt.Sprintf("%s %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n%sContent-Length: %d\r\n\r\n%s", method, path, head, len(body), body)
}

func TestHostileRequestsAreRejectedAndStoreNothing(t *testing.T) {
	t.Parallel()
	r := start(t, conf(t, t.TempDir()))
	const form = "Content-Type: application/x-www-form-urlencoded\r\n"
	const xml = "Content-Type: text/xml\r\n"
	for name, c := range map[string]struct{ send, want string }{
		"a head over 64 KiB":       {request("POST", "/rsscloud/ping", "X: "+strings.Repeat("x", 80<<10)+"\r\n"+form, "url=x"), " 431 "},
		"a form over 64 KiB":       {request("POST", "/rsscloud/ping", form, "url="+strings.Repeat("x", 80<<10)), " 413 "},
		"an endless chunked form":  {"POST /rsscloud/ping HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n" + form + "\r\n20000\r\n" + strings.Repeat("a", 0x20000) + "\r\n0\r\n\r\n", " 413 "},
		"more urls than are taken": {request("POST", "/rsscloud/pleaseNotify", form, "port=80&path=/&protocol=http-post"+strings.Repeat("&url1=http://a.test/", 60)), "success=\"false\""},
		"a broken escape":          {request("POST", "/rsscloud/ping", form, "url=%zz"), "success=\"false\""},
		"a compressed form":        {request("POST", "/rsscloud/ping", form+"Content-Encoding: gzip\r\n", "url=x"), " 415 "},
		"multipart":                {request("POST", "/rsscloud/ping", "Content-Type: multipart/form-data; boundary=x\r\n", "--x--"), " 415 "},
		"no url":                   {request("POST", "/rsscloud/ping", form, "feed=x"), "success=\"false\""},
		"a call with a DOCTYPE":    {request("POST", "/RPC2", xml, `<!DOCTYPE a [<!ENTITY b "c">]><methodCall><methodName>rssCloud.ping</methodName></methodCall>`), "-32700"},
		"a call of great depth":    {request("POST", "/RPC2", xml, "<methodCall><methodName>rssCloud.ping</methodName><params><param>"+strings.Repeat("<value><array><data>", 400)), "-32700"},
		"a call over 256 KiB":      {request("POST", "/RPC2", xml, "<methodCall>"+strings.Repeat(" ", 300<<10)+"</methodCall>"), "HTTP/1.1 "},
		"an unknown method":        {request("POST", "/RPC2", xml, "<methodCall><methodName>nobody.knows</methodName></methodCall>"), "-32601"},
		"an invalid envelope":      {request("POST", "/soap", xml, "<a/>"), "Fault"},
		"a refused answer type":    {request("POST", "/rsscloud/ping", form+"Accept: image/png\r\n", "url=http://127.0.0.1:9/"), " 406 "},
		"an unsupported method":    {request("DELETE", "/rsscloud/ping", "", ""), " 405 "},
		"no HTTP at all":           {"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", " 400 "},
		"two lengths":              {"POST /rsscloud/ping HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nurl=x", " 400 "},
	} {
		got := raw(t, r.base, c.send)
		if !strings.Contains(got, c.want) {
			t.Errorf("%s: answered %.300q, want %q in it", name, got, c.want)
		}
	}
	counts, err := r.app.Hub().Counts(t.Context())
	if err != nil || counts.Topics != 0 || counts.Subscriptions != 0 {
		t.Errorf("something was half applied: %+v, %v", counts, err)
	}
}

func TestServerAnswersDuringFloodOfIdleConnections(t *testing.T) {
	t.Parallel()
	r := start(t, conf(t, t.TempDir()))
	addr := strings.TrimPrefix(r.base, "http://")
	refused := 0
	var held []net.Conn
	defer func() {
		for _, c := range held {
			c.Close()
		}
	}()
	for range 4000 {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, c)
		if len(held)%100 != 0 {
			continue
		}
		// At the limit, the server answers the newest connection with 503.
		if err := c.SetReadDeadline(time.Now().Add(50 * time.Millisecond)); err != nil {
			t.Fatal(err)
		}
		if line, err := bufio.NewReader(c).ReadString('\n'); err == nil && strings.Contains(line, "503") {
			refused++
			break
		}
	}
	if refused == 0 {
		t.Fatal("one address could open 4,000 connections")
	}
	other := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, network, a string) (net.Conn, error) {
		d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 77)}}
		return d.DialContext(ctx, network, a)
	}}}
	res, err := other.Get(r.base + "/healthz")
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != http.StatusOK {
		t.Errorf("another address was answered %d during the flood", res.StatusCode)
	}
}

func TestEndlessRequestHeaderIsAborted(t *testing.T) {
	t.Parallel()
	fulltest.Long(t)
	r := start(t, conf(t, t.TempDir()))
	// The server closes the connection after 5 s. This test does not use raw, because raw ignores the
	// error of a connection that stays open.
	conn, err := net.Dial("tcp", strings.TrimPrefix(r.base, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, "POST /rsscloud/ping HTTP/1.1\r\nHost: x\r\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(conn); err != nil {
		t.Errorf("the connection was not closed: %v", err)
	}
}

// wantNoState checks that the program stored nothing.
func (r *running) wantNoState(t *testing.T) {
	t.Helper()
	st := r.app.Hub().Store
	counts, err := st.Counts(t.Context(), time.Now())
	if err != nil || counts.Topics != 0 || counts.Subscriptions != 0 || counts.Requests != 0 {
		t.Errorf("something was half applied: %+v, %v", counts, err)
	}
	if n, err := st.CountChanges(t.Context()); err != nil || n != 0 {
		t.Errorf("%d changes are listed, %v", n, err)
	}
}

// These constants are parts of the hostile requests.
const (
	formType        = "Content-Type: application/x-www-form-urlencoded\r\n"
	xmlType         = "Content-Type: text/xml\r\n"
	hostileTopic    = "http://a.test/"
	hostileCallback = "http://b.test/cb"
	doctype         = `<!DOCTYPE a [<!ENTITY b "c">]>`
	validRequest    = "hub.mode=subscribe&hub.callback=" + hostileCallback + "&hub.topic=" + hostileTopic
)

// hostile is a request together with a text that the response must contain.
type hostile struct{ send, want string }

// chunked returns a request whose body has no declared length.
func chunked(path, kind string) string {
	return "POST " + path + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n" + kind + "\r\n60000\r\n" + strings.Repeat("a", 0x60000) + "\r\n0\r\n\r\n"
}

// long returns a value of 80 KiB, which exceeds the size limit of a form.
func long() string { return strings.Repeat("x", 80<<10) }

// fields returns 201 fields, which is more than a form may have.
func fields() string { return strings.Repeat("&x=1", 201) }

func hostileWebSub() map[string]hostile {
	return map[string]hostile{
		"WebSub: over 64 KiB":                {request("POST", "/websub", formType, validRequest+"&hub.secret="+long()), " 413 "},
		"WebSub: endless":                    {chunked("/hub", formType), " 413 "},
		"WebSub: a broken escape":            {request("POST", "/websub", formType, validRequest+"&x=%zz"), " 400 "},
		"WebSub: 201 fields":                 {request("POST", "/hub", formType, validRequest+fields()), " 400 "},
		"WebSub: two callbacks":              {request("POST", "/websub", formType, validRequest+"&hub.callback=http://c.test/"), " 400 "},
		"WebSub: two modes":                  {request("POST", "/websub", formType, validRequest+"&hub.mode=unsubscribe"), " 400 "},
		"WebSub: no topic":                   {request("POST", "/websub", formType, "hub.mode=subscribe&hub.callback=http://b.test/"), " 400 "},
		"WebSub: an unknown mode":            {request("POST", "/websub", formType, strings.Replace(validRequest, "subscribe", "denied", 1)), " 400 "},
		"WebSub: a secret of 200 bytes":      {request("POST", "/websub", formType, validRequest+"&hub.secret="+strings.Repeat("s", 200)), " 400 "},
		"WebSub: a lease of -1":              {request("POST", "/websub", formType, validRequest+"&hub.lease_seconds=-1"), " 400 "},
		"WebSub: a fragment":                 {request("POST", "/websub", formType, validRequest+"%23here"), " 400 "},
		"WebSub: a fragment in the callback": {request("POST", "/websub", formType, "hub.mode=subscribe&hub.topic=http://a.test/&hub.callback=http://b.test/%23x"), " 400 "},
		"WebSub: a file as topic":            {request("POST", "/websub", formType, "hub.mode=subscribe&hub.topic=file:///etc/passwd&hub.callback=http://b.test/"), " 400 "},
		"WebSub: a header in the topic":      {request("POST", "/websub", formType, "hub.mode=subscribe&hub.topic=http://a.test/%0d%0aX-Evil:%201&hub.callback=http://b.test/"), " 400 "},
		"WebSub: a header in the callback":   {request("POST", "/websub", formType, "hub.mode=subscribe&hub.topic=http://a.test/&hub.callback=http://b.test/%0d%0aX-Evil:%201"), " 400 "},
		"WebSub: a password in the callback": {request("POST", "/websub", formType, "hub.mode=subscribe&hub.topic=http://a.test/&hub.callback=http://u:p@b.test/"), " 400 "},
		"WebSub: multipart":                  {request("POST", "/websub", "Content-Type: multipart/form-data; boundary=x\r\n", "--x--"), " 415 "},
		"WebSub: compressed":                 {request("POST", "/hub", formType+"Content-Encoding: gzip\r\n", validRequest), " 415 "},
		"WebSub: 51 topics":                  {request("POST", "/websub", formType, "hub.mode=publish"+manyTopics(51)), " 400 "},
		"WebSub: a private topic published":  {request("POST", "/websub", formType, "hub.mode=publish&hub.url=http://10.0.0.1/"), " 403 "},
		"WebSub: another method":             {request("DELETE", "/websub", "", ""), " 405 "},
	}
}

func hostileCNWS() map[string]hostile {
	return map[string]hostile{
		"CNWS: over 256 KiB":     {request("POST", "/cnws", xmlType, "<notification>"+strings.Repeat(" ", 300<<10)), " 413 "},
		"CNWS: endless":          {chunked("/cnws", xmlType), " 413 "},
		"CNWS: a DOCTYPE":        {request("POST", "/cnws", xmlType, doctype+cnwsSubscribe(hostileTopic, hostileCallback)), " 400 "},
		"CNWS: a second action":  {request("POST", "/cnws", xmlType, strings.Replace(cnwsSubscribe(hostileTopic, hostileCallback), "</notification>", "<resourceChange><resourceID>x</resourceID></resourceChange></notification>", 1)), " 400 "},
		"CNWS: one action twice": {request("POST", "/cnws", xmlType, strings.Replace(cnwsSubscribe(hostileTopic, hostileCallback), "</notification>", "<subscribe/></notification>", 1)), " 400 "},
		"CNWS: two documents":    {request("POST", "/cnws", xmlType, cnwsSubscribe(hostileTopic, hostileCallback)+cnwsSubscribe(hostileTopic, hostileCallback)), " 400 "},
		"CNWS: it breaks off":    {request("POST", "/cnws", xmlType, strings.TrimSuffix(cnwsSubscribe(hostileTopic, hostileCallback), "</notification>")), " 400 "},
		"CNWS: great depth":      {request("POST", "/cnws", xmlType, strings.Repeat("<a>", 4000)), " 400 "},
		"CNWS: no namespace":     {request("POST", "/cnws", xmlType, "<notification><subscribe/></notification>"), " 400 "},
		"CNWS: a fragment":       {request("POST", "/cnws", xmlType, cnwsSubscribe(hostileTopic, hostileCallback+"#x")), "<status>false<"},
		"CNWS: two callbacks":    {request("POST", "/cnws", xmlType, strings.Replace(cnwsSubscribe(hostileTopic, hostileCallback), "<notificationURL>", "<notificationURL>http://c.test/</notificationURL><notificationURL>", 1)), "<status>false<"},
		"CNWS: a private topic":  {request("POST", "/cnws", xmlType, cnwsSubscribe("http://10.0.0.1/", hostileCallback)), "<status>false<"},
		"CNWS: a file":           {request("POST", "/cnws", xmlType, cnwsSubscribe("file:///etc/passwd", hostileCallback)), "<status>false<"},
		"CNWS: a header":         {request("POST", "/cnws", xmlType, cnwsSubscribe(hostileTopic, "http://b.test/&#13;&#10;X-Evil: 1")), "<status>false<"},
		"CNWS: no subscription":  {request("POST", "/cnws", xmlType, cnwsDocument("<resourceChange><resourceID>http://a.test/</resourceID></resourceChange>")), "<status>false<"},
		"CNWS: compressed":       {request("POST", "/cnws", xmlType+"Content-Encoding: gzip\r\n", cnwsSubscribe(hostileTopic, hostileCallback)), " 415 "},
		"CNWS: a form":           {request("POST", "/cnws", formType, validRequest), " 415 "},
		"CNWS: another method":   {request("GET", "/cnws", "", ""), " 405 "},
	}
}

func hostileSites() map[string]hostile {
	return map[string]hostile{
		"a site: over 64 KiB":       {request("POST", "/pingSiteForm", formType, "url=http://a.test/&name="+long()), " 413 "},
		"a site: a long query":      {request("GET", "/pingSiteForm?url=http://a.test/&name="+long(), "", ""), " 431 "},
		"a site: a broken escape":   {request("GET", "/pingSiteForm?name=x&url=%zz", "", ""), " 400 "},
		"a site: 201 fields":        {request("POST", "/pingSiteForm", formType, "name=x&url=http://a.test/"+fields()), " 400 "},
		"a site: two addresses":     {request("GET", "/pingSiteForm?name=x&url=http://a.test/&url=http://b.test/", "", ""), " 400 "},
		"a site: a script":          {request("GET", "/pingSiteForm?name=x&url=javascript:alert(1)", "", ""), " 400 "},
		"a site: no address":        {request("POST", "/pingSiteForm", formType, "name=x"), " 400 "},
		"a site: 256 characters":    {request("GET", "/pingSiteForm?name=x&url=http://a.test/"+strings.Repeat("x", 256), "", ""), " 400 "},
		"a site: multipart":         {request("POST", "/pingSiteForm", "Content-Type: multipart/form-data; boundary=x\r\n", "--x--"), " 415 "},
		"a site: another method":    {request("PUT", "/pingSiteForm", formType, "name=x&url=http://a.test/"), " 405 "},
		"a site by RPC: a DOCTYPE":  {request("POST", "/weblogUpdates", xmlType, doctype+rpcCall("weblogUpdates.ping", "x", hostileTopic)), "Fault"},
		"a site by RPC: one thing":  {request("POST", "/RPC2", xmlType, rpcCall("weblogUpdates.ping", "x")), "<boolean>1<"},
		"a site by RPC: seven":      {request("POST", "/RPC2", xmlType, rpcCall("weblogUpdates.extendedPing", "1", "2", "3", "4", "5", "6", "7")), "<boolean>1<"},
		"a site by RPC: a script":   {request("POST", "/RPC2", xmlType, rpcCall("weblogUpdates.ping", "x", "javascript:alert(1)")), "<boolean>1<"},
		"a site by RPC: a long one": {request("POST", "/RPC2", xmlType, rpcCall("weblogUpdates.ping", strings.Repeat("x", 1025), hostileTopic)), "<boolean>1<"},
		"a site by SOAP: a DOCTYPE": {request("POST", "/weblogUpdates", xmlType, doctype+soapEnvelope("<ping><weblogname>x</weblogname></ping>")), "Fault"},
	}
}

func hostileNews() map[string]hostile {
	return map[string]hostile{
		"a notification without subscription":         {request("POST", "/notify/rsscloud", formType, "url=http://a.test/"), " 410 "},
		"a notification with too many fields":         {request("POST", "/notify/rsscloud", formType, "url="+long()), " 413 "},
		"an incomplete notification":                  {request("POST", "/notify/rsscloud", formType, "url=%zz"), " 400 "},
		"verification without subscription":           {request("GET", "/notify/rsscloud?url=http://a.test/&challenge=abc", "", ""), " 404 "},
		"WebSub content without subscription":         {request("POST", "/notify/websub/"+strings.Repeat("a", 26), xmlType, "<rss/>"), " 410 "},
		"endless WebSub content without subscription": {chunked("/notify/websub/x", xmlType), " 410 "},
		"WebSub verification without subscription":    {request("GET", "/notify/websub/x?hub.mode=subscribe&hub.topic=http://a.test/&hub.challenge=abc&hub.lease_seconds=1", "", ""), " 404 "},
		"WebSub verification with two modes":          {request("GET", "/notify/websub/x?hub.mode=subscribe&hub.mode=unsubscribe&hub.topic=http://a.test/&hub.challenge=abc", "", ""), " 40"},
		"a denial without subscription":               {request("GET", "/notify/websub/x?hub.mode=denied&hub.topic=http://a.test/&hub.reason=%00%0d%0aX", "", ""), " "},
		"a path outside the endpoint":                 {request("GET", "/notify/websub/..%2f..%2fetc?hub.mode=subscribe", "", ""), " 4"},
	}
}

func TestHostileProtocolRequestsAreRejectedAndStoreNothing(t *testing.T) {
	t.Parallel()
	fulltest.Long(t)
	r := start(t, conf(t, t.TempDir()))
	all := hostileWebSub()
	for _, more := range []map[string]hostile{hostileCNWS(), hostileSites(), hostileNews()} {
		maps.Copy(all, more)
	}
	for name, c := range all {
		got := raw(t, r.base, c.send)
		head, _, _ := strings.Cut(got, "\r\n\r\n")
		status, _, _ := strings.Cut(head, "\r\n")
		if !strings.Contains(got, c.want) {
			t.Errorf("%s: answered %.400q, want %q in it", name, got, c.want)
		}
		if strings.HasPrefix(status, "HTTP/1.1 5") && !strings.Contains(got, "Fault") || status == "" || strings.Contains(head, "X-Evil") {
			t.Errorf("%s: answered %.300q", name, got)
		}
	}
	r.wantNoState(t)
}

func manyTopics(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "&hub.url=http://a.test/%d", i)
	}
	return b.String()
}

// TestOwnEndpointsAreRejectedAsCallbacks registers the program's own endpoints as callbacks,
// which would make the program notify itself.
func TestOwnEndpointsAreRejectedAsCallbacks(t *testing.T) {
	t.Parallel()
	cfg := conf(t, t.TempDir())
	cfg.PublicURL = "https://hub.example"
	r := start(t, cfg)
	feed := newFeed(t).URL + "/rss.xml"
	for _, origin := range []string{r.base, strings.Replace(r.base, "127.0.0.1", "LOCALHOST", 1), "https://hub.example", "https://hub.example:443"} {
		for _, path := range []string{"/", "/websub", "/websub/", "/hub", "/Hub?x=y", "/cnws", "/weblogUpdates", "/pingSiteForm", "/RPC2", "/soap", "/rsscloud/ping", "/ping",
			"/notify/rsscloud", "/notify/websub/abc", "/notify/websub/abc?x"} {
			callback := origin + path
			if code, body := post(t, r.base+"/websub", websubForm("subscribe", feed, callback)); code != http.StatusForbidden || !strings.Contains(body, "loop") {
				t.Errorf("WebSub to %s: %d %s", callback, code, body)
			}
			answer := raw(t, r.base, request("POST", "/cnws", "Content-Type: text/xml\r\n", cnwsSubscribe(feed, callback)))
			if !strings.Contains(answer, "<status>false<") || !strings.Contains(answer, "loop") {
				t.Errorf("CNWS to %s: %s", callback, answer)
			}
		}
	}
	r.wantNoState(t)
}

// TestPrivateNetworkTopicIsRefusedWithReason subscribes to topics whose addresses the server must
// not access. The test feed of the server itself is an exception.
func TestPrivateNetworkTopicIsRefusedWithReason(t *testing.T) {
	t.Parallel()
	r := start(t, conf(t, t.TempDir()))
	asked := make(chan url.Values, 10)
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { asked <- r.URL.Query() }))
	t.Cleanup(s.Close)
	for _, topic := range []string{"http://10.0.0.1/feed", "http://169.254.169.254/latest/meta-data/", "http://[::1]/", "http://[fe80::1]/", r.base + "/test/rss.xml"} {
		code, body := post(t, r.base+"/websub", websubForm("subscribe", topic, s.URL+"/cb"))
		if !strings.HasPrefix(topic, r.base) {
			if code != http.StatusForbidden || !strings.Contains(body, topic) || !strings.Contains(body, "does not read") {
				t.Errorf("%s: %d %s", topic, code, body)
			}
			continue
		}
		if code != http.StatusAccepted {
			t.Errorf("our own test feed: %d %s", code, body)
			continue
		}
		if q := <-asked; q.Get("hub.mode") != "subscribe" {
			t.Errorf("our own test feed: asked %v", q)
		}
	}
	if len(asked) != 0 {
		t.Errorf("more requests: %v", <-asked)
	}
	wait(t, "all is decided", func() bool { n, err := r.app.Hub().Store.Intents(t.Context()); return err == nil && n == 0 })
	r.wantNoState(t)
}

// TestEndlessRequestBodiesAreAborted sends each endpoint a request whose body stops after one
// byte.
func TestEndlessRequestBodiesAreAborted(t *testing.T) {
	t.Parallel()
	fulltest.Long(t)
	r := start(t, conf(t, t.TempDir()))
	ended := make(chan error)
	paths := []string{"/websub", "/hub", "/cnws", "/pingSiteForm", "/weblogUpdates", "/RPC2", "/notify/rsscloud", "/notify/websub/abc"}
	for _, path := range paths {
		go func() {
			conn, err := net.Dial("tcp", strings.TrimPrefix(r.base, "http://"))
			if err == nil {
				defer conn.Close()
				err = conn.SetDeadline(time.Now().Add(time.Minute))
			}
			if err == nil {
				_, err = io.WriteString(conn, "POST "+path+" HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nx")
			}
			if err == nil {
				_, err = io.ReadAll(conn)
			}
			if err != nil {
				err = fmt.Errorf("%s: not closed: %w", path, err)
			}
			ended <- err
		}()
	}
	for range paths {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	r.wantNoState(t)
}

// TestRequestFloodForOneHostIsRateLimited sends 10,000 subscription requests with different
// callbacks on the same host. One run uses a readable topic, and one run an unreadable topic.
func TestRequestFloodForOneHostIsRateLimited(t *testing.T) {
	t.Parallel()
	fulltest.Long(t)
	const all, burst, rate = 10_000, 400, 20
	nothing := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(nothing.Close)
	for name, topic := range map[string]string{"asked": newFeed(t).URL + "/rss.xml", "denied": nothing.URL + "/rss.xml"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := conf(t, t.TempDir())
			cfg.Hub.ClientRate = 0
			r := start(t, cfg)
			var asked atomic.Int64
			victim := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				asked.Add(1)
				w.WriteHeader(http.StatusNotFound)
			}))
			t.Cleanup(victim.Close)
			began := time.Now()
			clients := make(chan int)
			done := make(chan int)
			for range 8 {
				go func() {
					taken := 0
					for i := range clients {
						res, err := http.PostForm(r.base+"/websub", websubForm("subscribe", topic, fmt.Sprintf("%s/%d", victim.URL, i)))
						if err != nil {
							t.Error(err)
							continue
						}
						if res.StatusCode == http.StatusAccepted {
							taken++
						}
						_, _ = io.Copy(io.Discard, res.Body) // read the whole body, so that the connection can be reused
						res.Body.Close()
					}
					done <- taken
				}()
			}
			for i := range all {
				clients <- i
			}
			close(clients)
			taken := 0
			for range 8 {
				taken += <-done
			}
			wait(t, "the first verifications", func() bool { return asked.Load() >= rate })
			n := asked.Load()
			seconds := time.Since(began).Seconds()
			t.Logf("%d of %d taken, %d asked in %.1f s", taken, all, n, seconds)
			if allowed := burst + int64(rate*(seconds+1)); n > allowed {
				t.Errorf("the victim was asked %d times in %.1f s; at most %d at once and %d a second may be", n, seconds, burst, rate)
			}
			if taken < all/2 {
				t.Errorf("only %d were taken: this proves little", taken)
			}
		})
	}
}
