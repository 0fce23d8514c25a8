package hubcli

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
)

func TestNotificationForEarlierRunGets410(t *testing.T) {
	t.Parallel()
	l, _, _ := webSubListener(&fakeWebSubHub{})
	l.addr, l.domain = "127.0.0.1:0", ""
	stop, err := l.serve(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	base := "http://127.0.0.1:" + strconv.Itoa(l.port)
	for _, tt := range []struct {
		method, path string
		want         int
	}{
		{"POST", "/notify/0123/abc", http.StatusGone}, {"POST", "/notify/0123", http.StatusGone}, {"GET", "/notify/0123", http.StatusNotFound},
		{"POST", l.path + "/guessed", http.StatusGone}, {"POST", "/", http.StatusNotFound},
	} {
		r, err := http.NewRequestWithContext(t.Context(), tt.method, base+tt.path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != tt.want {
			t.Errorf("%s %s: %d, want %d", tt.method, tt.path, res.StatusCode, tt.want)
		}
	}
}

func TestCallbackURLHasHostThatHubCanReach(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ domain, host, hub, want string }{
		{"reader.example.org", "127.0.0.1", "http://hub.example/", "http://reader.example.org:5339/notify/x"},
		{"2001:db8::7", "", "http://hub.example/", "http://[2001:db8::7]:5339/notify/x"},
		{"", "127.0.0.5", "http://hub.example/", "http://127.0.0.5:5339/notify/x"},
		{"", "", "http://127.0.0.1/", "http://127.0.0.1:5339/notify/x"},
		{"", "", "https://127.0.0.1:8443/", "http://127.0.0.1:5339/notify/x"},
	} {
		l := &listener{domain: tt.domain, host: tt.host, port: 5339}
		if got, err := l.address(t.Context(), tt.hub, "/notify/x"); err != nil || got != tt.want {
			t.Errorf("%+v: %s, %v", tt, got, err)
		}
	}
	l := &listener{domain: "a b", port: 5339}
	if _, err := l.address(t.Context(), "http://hub.example/", "/notify/x"); err == nil || !strings.Contains(err.Error(), "set another host with --domain") {
		t.Error(err)
	}
}
