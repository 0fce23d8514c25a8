package bench

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func TestHTTPConnectionReadsResponsesInOrder(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/same":
			w.WriteHeader(http.StatusNotModified)
		case "/none":
			w.WriteHeader(http.StatusServiceUnavailable)
		case "/chunks":
			for range 3 {
				fmt.Fprint(w, "x")
				_ = http.NewResponseController(w).Flush()
			}
		default:
			fmt.Fprint(w, strings.Repeat("x", 1500)+r.Header.Get("Coding")+r.URL.Path)
		}
	}))
	defer srv.Close()
	addr := strings.TrimPrefix(srv.URL, "http://")
	w := newWire(addr)
	defer w.close()
	for _, tt := range []struct {
		request            []byte
		wanted             int
		status, size, kept int
	}{
		{get(addr, "/a", "Coding", "gzip"), 10, 200, 1506, 10},
		{get(addr, "/same"), 10, 304, 0, 0},
		{get(addr, "/none"), 10, 503, 0, 0},
		{post(nil, addr, "/b", []byte("<x/>")), 1 << 20, 200, 1502, 1502},
	} {
		status, size, err := w.do(t.Context(), tt.request, tt.wanted)
		if err != nil || status != tt.status || size != tt.size || w.body.Len() != tt.kept {
			t.Errorf("%.12q: %d, %d bytes, %d kept, %v", tt.request, status, size, w.body.Len(), err)
		}
	}
	if _, _, err := w.do(t.Context(), get(addr, "/chunks"), 0); err == nil {
		t.Error("an answer without a length was read")
	}
	if status, _, err := w.do(t.Context(), get(addr, "/a"), 0); err != nil || status != 200 {
		t.Errorf("after an error: %d, %v", status, err)
	}
}

func TestPingLatencyIncludesTheWaitForAConnection(t *testing.T) {
	t.Parallel()
	hold := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		<-hold
		fmt.Fprint(w, "<boolean>0</boolean>")
	}))
	defer srv.Close()
	s := newSites(strings.TrimPrefix(srv.URL, "http://"), "127.0.0.1:1", 1)
	defer s.close()
	time.AfterFunc(100*time.Millisecond, func() { close(hold) })
	// All pings are scheduled within 20 ms, but the only connection is blocked for 100 ms.
	p, err := s.at(t.Context(), 1000, 20)
	if err != nil || p.p50 < 0.050 || p.most > p.took {
		t.Errorf("%+v, %v", p, err)
	}
	if n := s.next.Load(); n != 20 {
		t.Errorf("%d were sent", n)
	}
}

func TestBenchmarkStopsAtRejectedPing(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "<boolean>1</boolean> no more today")
	}))
	defer srv.Close()
	s := newSites(strings.TrimPrefix(srv.URL, "http://"), "127.0.0.1:1", 2)
	defer s.close()
	if _, err := s.at(t.Context(), 0, 10); err == nil || !strings.Contains(err.Error(), "no more today") {
		t.Error(err)
	}
}
