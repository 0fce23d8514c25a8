package gateway

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

func TestFilesOnTheirWayKeepNoFeedOut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		room := newSaveRoom(xmlrpc.Handler{}, map[string]int64{"x.file": saveBody + 1, "x.text": saveSmall + 1}, func(r *http.Request) netip.Addr {
			return netip.MustParseAddrPort(r.RemoteAddr).Addr()
		})
		var rest []*io.PipeWriter
		begin := func(method string, from, status int) {
			pr, pw := io.Pipe()
			rest = append(rest, pw)
			head := "<methodCall><methodName>" + method + "</methodName><params>" + strings.Repeat(" ", sniffed)
			r := httptest.NewRequest("POST", "/RPC2", io.MultiReader(strings.NewReader(head), pr))
			r.RemoteAddr, r.ContentLength = fmt.Sprintf("192.0.2.%d:1", from), 1<<20
			go func() {
				w := httptest.NewRecorder()
				room.ServeHTTP(w, r)
				if w.Code != status {
					t.Errorf("%s from %d is answered %d", method, from, w.Code)
				}
			}()
			synctest.Wait()
		}
		for i := range saveFiles {
			begin("x.file", i, http.StatusBadRequest) // its body breaks off
		}
		if len(room.files) != saveFiles || len(room.texts) != 0 {
			t.Errorf("%d and %d rooms are taken", len(room.files), len(room.texts))
		}
		begin("x.file", 50, http.StatusServiceUnavailable)
		begin("x.text", 51, http.StatusBadRequest)
		begin(methodSaveRSS, 52, http.StatusBadRequest)
		if len(room.texts) != 2 {
			t.Errorf("%d rooms are taken by texts", len(room.texts))
		}
		<-time.After(saveWait + 1) // whoever waits has waited long enough
		for _, w := range rest {
			_ = w.CloseWithError(io.ErrUnexpectedEOF)
		}
		synctest.Wait()
		if len(room.files) != 0 || len(room.texts) != 0 || len(room.from) != 0 {
			t.Errorf("%d and %d rooms and %d addresses are left", len(room.files), len(room.texts), len(room.from))
		}
	})
}
