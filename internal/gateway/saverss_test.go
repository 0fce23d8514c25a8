package gateway

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"cloudburst/internal/author"
	"cloudburst/internal/fault"
	"cloudburst/protocol/xmlrpc"
)

// rpc is the XML-RPC door with the methods of hosted feeds.
func (d *desk) rpc() http.Handler {
	return rpcHandler(&RSSCloud{Hub: &fakeHub{}}, d.Methods(), nil)
}

func TestPythonSavesFeeds(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	mux := http.NewServeMux()
	mux.Handle("/RPC2", d.rpc())
	mux.Handle("/", d)
	srv := httptest.NewServer(mux)
	defer srv.Close()
	run(t, "python3", "testdata/clients/saverss_client.py", srv.URL, goodPassword)
}

// call calls saveRss and gives the answer or the fault.
func (d *desk) call(t *testing.T, params ...any) (any, error) {
	t.Helper()
	body, err := xmlrpc.Call{Method: methodSaveRSS, Params: params}.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest("POST", "/RPC2", bytes.NewReader(body))
	r.Header.Set("Content-Type", "text/xml")
	w := httptest.NewRecorder()
	d.rpc().ServeHTTP(w, r)
	return xmlrpc.Decoder{MaxBytes: 1 << 20}.Response(w.Body)
}

func TestSaveRssAnswersTheAddressOrAFaultOfCode4(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	got, err := d.call(t, "alice", goodPassword, hostedRSS(1))
	if err != nil || got != "https://hub.example/alice/rss.xml" {
		t.Errorf("answered %v, %v", got, err)
	}
	if got, err := d.call(t, "alice", tokenAll, hostedRSS(2)); err != nil || got != "https://hub.example/alice/rss.xml" {
		t.Errorf("answered to a token %v, %v", got, err)
	}
	for what, params := range map[string][]any{
		"a wrong password": {"alice", "x", hostedRSS(3)}, "nobody": {"", "", hostedRSS(3)}, "another's token": {"alice", tokenOther, hostedRSS(3)},
		"a token for less": {"alice", tokenDelete, hostedRSS(3)}, "no feed": {"alice", goodPassword, "x"}, "JSON": {"alice", goodPassword, `{"version":"https://jsonfeed.org/version/1.1","title":"x","items":[]}`},
		"nothing": {}, "a struct": {"alice", goodPassword, map[string]any{}}, "a list for a name": {[]any{}, goodPassword, hostedRSS(3)},
	} {
		got, err := d.call(t, params...)
		f, ok := err.(*xmlrpc.Fault)
		if !ok || f.Code != 4 || f.String == "" || got != nil {
			t.Errorf("%s: answered %v, %v", what, got, err)
		}
	}
	d.door.fail = fault.New(fault.Unavailable, "The store is away.")
	if _, err := d.call(t, "alice", goodPassword, hostedRSS(3)); err == nil || !strings.Contains(err.Error(), "store is away") {
		t.Errorf("answered %v", err)
	}
	d.do(t, "GET", "/alice/rss.xml", "").is(t, "afterwards", http.StatusOK, "Item 2")
	if d.door.tried[0] != "saveRss alice 192.0.2.1" {
		t.Errorf("tried were %q", d.door.tried)
	}
	if strings.Contains(d.logged.String(), goodPassword) {
		t.Errorf("the log has a password: %s", d.logged)
	}
}

func TestATextIsSavedInTheEncodingThatItDeclares(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	feed := func(encoding, title string) string {
		return `<?xml version="1.0" encoding="` + encoding + `"?><rss version="2.0"><channel><title>` + title + `</title></channel></rss>`
	}
	for _, c := range []struct{ doc, want, kind string }{
		{feed("utf-8", "日本"), feed("utf-8", "日本"), "utf-8"},
		{feed("ISO-8859-1", "é"), feed("ISO-8859-1", "\xe9"), "iso-8859-1"},
		{feed("ISO-8859-1", "日本"), feed("ISO-8859-1", "日本"), "utf-8"}, // which it cannot be in
	} {
		if _, err := d.call(t, "alice", goodPassword, c.doc); err != nil {
			t.Fatal(err)
		}
		a := d.do(t, "GET", "/alice/rss.xml", "")
		a.has(t, "GET", "Content-Type", "application/rss+xml; charset="+c.kind)
		if a.body != c.want {
			t.Errorf("served is %q", a.body)
		}
		title := "日本"
		if strings.Contains(c.doc, "é") {
			title = "é"
		}
		d.do(t, "GET", "/alice/feed.json", "").is(t, "in another format", http.StatusOK, title)
		d.now = d.now.Add(time.Second)
	}
}

func TestOnlyCallsThatSaveMayBeLarge(t *testing.T) {
	t.Parallel()
	for head, want := range map[string]bool{
		"<?xml version=\"1.0\"?>\n<methodCall><methodName>rssCloud.saveRss</methodName><params>":      true,
		"<methodCall>\n <methodName> rssCloud.saveRss </methodName>":                                  true,
		"<methodCall><methodName>rssCloud.saveRssX</methodName>":                                      false,
		"<methodCall><methodName>rssCloud.saveRss":                                                    false,
		"<methodCall><methodName>system.multicall</methodName><value>rssCloud.saveRss</value>":        false,
		"<methodCall><methodName>rssCloud.ping</methodName><methodName>rssCloud.saveRss</methodName>": false,
		"<rss><methodName>rssCloud.saveRss</methodName>":                                              false,
		"": false,
	} {
		if got := methodOf([]byte(head)) == methodSaveRSS; got != want {
			t.Errorf("%q: %v", head, got)
		}
	}
}

// slowBody is the beginning of a large call whose rest comes when the test says so.
func slowBody() (io.Reader, *io.PipeWriter) {
	r, w := io.Pipe()
	return io.MultiReader(strings.NewReader("<methodCall><methodName>"+methodSaveRSS+"</methodName><params>"+strings.Repeat(" ", sniffed)), r), w
}

func TestLargeCallsAreFewAndOneFromEachAddress(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		room := newSaveRoom(xmlrpc.Handler{}, nil, func(r *http.Request) netip.Addr { return netip.MustParseAddrPort(r.RemoteAddr).Addr() })
		post := func(addr string, body io.Reader) *httptest.ResponseRecorder {
			r := httptest.NewRequest("POST", "/RPC2", body)
			r.RemoteAddr, r.ContentLength = addr+":1", 1<<20
			w := httptest.NewRecorder()
			room.ServeHTTP(w, r)
			return w
		}
		var rest []*io.PipeWriter
		begin := func(addr string, status int) {
			body, w := slowBody()
			rest = append(rest, w)
			go func() {
				if got := post(addr, body); got.Code != status {
					t.Errorf("%s is answered %d: %s", addr, got.Code, got.Body)
				}
			}()
			synctest.Wait()
		}
		for i := range saveRooms {
			begin(fmt.Sprintf("192.0.2.%d", i), http.StatusBadRequest) // its body breaks off
		}
		body, _ := slowBody()
		if got := post("192.0.2.1", body); got.Code != http.StatusServiceUnavailable || got.Header().Get("Retry-After") == "" {
			t.Errorf("a second one of one address is answered %d", got.Code)
		}
		begin("192.0.2.77", http.StatusServiceUnavailable) // it waits too long
		begin("192.0.2.78", http.StatusServiceUnavailable)
		small := post("192.0.2.79", strings.NewReader("<methodCall><methodName>system.listMethods</methodName></methodCall>"))
		if small.Code != http.StatusOK {
			t.Errorf("another call is answered %d", small.Code)
		}
		if got := post("192.0.2.80", strings.NewReader("<methodCall><methodName>x</methodName><params>"+strings.Repeat(" ", saveSmall))); got.Code != http.StatusRequestEntityTooLarge {
			t.Errorf("another large call is answered %d", got.Code)
		}
		first, _ := slowBody()
		if got := post("192.0.2.81", first); got.Code != http.StatusServiceUnavailable {
			t.Errorf("one that waited is answered %d", got.Code)
		}
		begin("192.0.2.82", http.StatusBadRequest) // it waits until there is room
		for _, w := range rest {
			_ = w.CloseWithError(io.ErrUnexpectedEOF)
		}
		synctest.Wait()
		if len(room.texts) != 0 || len(room.from) != 0 {
			t.Errorf("%d rooms and %d addresses are left", len(room.texts), len(room.from))
		}
	})
}

func TestABrokenCallTellsNothingOfTheFeed(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.save(t, author.Public, hostedRSS(1))
	r := httptest.NewRequest("POST", "/RPC2", strings.NewReader("<methodCall><methodName>"+methodSaveRSS+"</methodName><params><param><value>alice</value></param>"))
	r.Header.Set("Content-Type", "text/xml")
	w := httptest.NewRecorder()
	d.rpc().ServeHTTP(w, r)
	if _, err := xmlrpc.ParseResponse(w.Body); err == nil {
		t.Error("half a call was answered")
	}
	if len(d.door.tried) != 0 {
		t.Errorf("tried were %q", d.door.tried)
	}
}
