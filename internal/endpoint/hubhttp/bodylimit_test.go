package hubhttp

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"cloudburst/protocol/xmlrpc"
)

// saveRSS is a method with large calls.
const saveRSS = "rssCloud.saveRss"

func TestFileUploadsDoNotBlockTextUploads(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		limiter := newBodyLimit(xmlrpc.Handler{}, map[string]int64{"x.file": maxTextCall + 1, "x.text": smallCall + 1, saveRSS: maxTextCall}, func(r *http.Request) netip.Addr {
			return netip.MustParseAddrPort(r.RemoteAddr).Addr()
		})
		var rest []*io.PipeWriter
		begin := func(method string, from, status int) {
			pr, pw := io.Pipe()
			rest = append(rest, pw)
			head := "<methodCall><methodName>" + method + "</methodName><params>" + strings.Repeat(" ", sniffLen)
			r := httptest.NewRequest("POST", "/RPC2", io.MultiReader(strings.NewReader(head), pr))
			r.RemoteAddr, r.ContentLength = fmt.Sprintf("192.0.2.%d:1", from), 1<<20
			go func() {
				w := httptest.NewRecorder()
				limiter.ServeHTTP(w, r)
				if w.Code != status {
					t.Errorf("%s from %d is answered %d", method, from, w.Code)
				}
			}()
			synctest.Wait()
		}
		for i := range fileSlots {
			begin("x.file", i, http.StatusBadRequest) // the body of this call breaks off
		}
		if len(limiter.files) != fileSlots || len(limiter.texts) != 0 {
			t.Errorf("%d and %d slots are used", len(limiter.files), len(limiter.texts))
		}
		begin("x.file", 50, http.StatusServiceUnavailable)
		begin("x.text", 51, http.StatusBadRequest)
		begin(saveRSS, 52, http.StatusBadRequest)
		if len(limiter.texts) != 2 {
			t.Errorf("%d slots are used by texts", len(limiter.texts))
		}
		<-time.After(slotWait + 1) // by now all waiting calls have timed out
		for _, w := range rest {
			_ = w.CloseWithError(io.ErrUnexpectedEOF)
		}
		synctest.Wait()
		if len(limiter.files) != 0 || len(limiter.texts) != 0 || len(limiter.from) != 0 {
			t.Errorf("%d and %d slots and %d addresses are still used", len(limiter.files), len(limiter.texts), len(limiter.from))
		}
	})
}

func TestOnlyConfiguredMethodsAcceptLargeXMLRPCCalls(t *testing.T) {
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
		if got := methodOf([]byte(head)) == saveRSS; got != want {
			t.Errorf("%q: %v", head, got)
		}
	}
}

// slowBody returns the start of a large call and a writer for its rest.
func slowBody() (io.Reader, *io.PipeWriter) {
	r, w := io.Pipe()
	return io.MultiReader(strings.NewReader("<methodCall><methodName>"+saveRSS+"</methodName><params>"+strings.Repeat(" ", sniffLen)), r), w
}

func TestLargeXMLRPCCallsAreLimitedInTotalAndPerClient(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		limiter := newBodyLimit(xmlrpc.Handler{}, map[string]int64{saveRSS: maxTextCall}, func(r *http.Request) netip.Addr { return netip.MustParseAddrPort(r.RemoteAddr).Addr() })
		post := func(addr string, body io.Reader) *httptest.ResponseRecorder {
			r := httptest.NewRequest("POST", "/RPC2", body)
			r.RemoteAddr, r.ContentLength = addr+":1", 1<<20
			w := httptest.NewRecorder()
			limiter.ServeHTTP(w, r)
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
		for i := range textSlots {
			begin(fmt.Sprintf("192.0.2.%d", i), http.StatusBadRequest) // the body of this call breaks off
		}
		body, _ := slowBody()
		if got := post("192.0.2.1", body); got.Code != http.StatusServiceUnavailable || got.Header().Get("Retry-After") == "" {
			t.Errorf("a second one of one address is answered %d", got.Code)
		}
		begin("192.0.2.77", http.StatusServiceUnavailable) // this call waits too long
		begin("192.0.2.78", http.StatusServiceUnavailable)
		small := post("192.0.2.79", strings.NewReader("<methodCall><methodName>system.listMethods</methodName></methodCall>"))
		if small.Code != http.StatusOK {
			t.Errorf("another call is answered %d", small.Code)
		}
		if got := post("192.0.2.80", strings.NewReader("<methodCall><methodName>x</methodName><params>"+strings.Repeat(" ", smallCall))); got.Code != http.StatusRequestEntityTooLarge {
			t.Errorf("another large call is answered %d", got.Code)
		}
		first, _ := slowBody()
		if got := post("192.0.2.81", first); got.Code != http.StatusServiceUnavailable {
			t.Errorf("one that waited is answered %d", got.Code)
		}
		begin("192.0.2.82", http.StatusBadRequest) // this call waits until a slot is free
		for _, w := range rest {
			_ = w.CloseWithError(io.ErrUnexpectedEOF)
		}
		synctest.Wait()
		if len(limiter.texts) != 0 || len(limiter.from) != 0 {
			t.Errorf("%d slots and %d addresses are still used", len(limiter.texts), len(limiter.from))
		}
	})
}
