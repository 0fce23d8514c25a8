package hubcli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"cloudburst/client"
	"cloudburst/internal/cli/shell"
)

// connected returns commands that print to out, and a connection to a server that h serves.
func connected(t *testing.T, out *bytes.Buffer, h http.HandlerFunc) (*commands, *shell.Connection) {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	p := &commands{}
	p.Shell = &shell.Shell{Out: out, Err: t.Output()}
	return p, &shell.Connection{Client: &client.Client{Base: srv.URL}, Running: true}
}

func TestFollowedLogLosesNoEventBeforeTheFirstMatch(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var from []string
	var out bytes.Buffer
	p, s := connected(t, &out, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/v1/log" && r.URL.Query().Has("kind"):
			fmt.Fprint(w, `{"events":[]}`)
			return
		case r.URL.Path == "/v1/log":
			fmt.Fprint(w, `{"events":[{"id":"5:1:7","kind":"system"}]}`)
			return
		}
		from = append(from, r.Header.Get("Last-Event-ID")) // the client sends one request at a time
		switch fmt.Fprint(w, ": listening\n\n"); len(from) {
		case 2:
			fmt.Fprint(w, "id: 6:1:8\nevent: drop\ndata: {\"id\":\"6:1:8\",\"kind\":\"drop\",\"text\":\"Dropped.\"}\n\n")
		case 3:
			go cancel()
		}
	})
	if err := p.showLog(ctx, s, client.LogQuery{Kinds: []string{"drop"}, Limit: 100}, true, false); err != nil {
		t.Fatal(err)
	}
	if want := []string{"5:1:7", "5:1:7", "6:1:8"}; !slices.Equal(from, want) {
		t.Errorf("the streams started after %q, want %q", from, want)
	}
	if n := strings.Count(out.String(), "Dropped."); n != 1 {
		t.Errorf("the event was printed %d times: %q", n, out.String())
	}
}

func TestLogContainsReasonOfFailedConnection(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		detail string
		ok     bool
		want   string
	}{
		{`{"callback":"http://a.test/n","error":"dial tcp 192.0.2.1:80: connection refused"}`, false, "No answer.  (a.test)  [dial tcp 192.0.2.1:80: connection refused]"},
		{`{"callback":"http://a.test/n"}`, false, "No answer.  (a.test)"},
		{`{"error":"No answer."}`, false, "No answer.  (a.test)"},
		{`{"error":"x"}`, true, "No answer.  (a.test)"},
		{`"of another shape"`, false, "No answer.  (a.test)"},
		{"", false, "No answer.  (a.test)"},
	} {
		var out bytes.Buffer
		if err := printEvent(&out, client.Event{Kind: "verify", OK: c.ok, Text: "No answer.", Peer: "a.test", Detail: json.RawMessage(c.detail)}, false); err != nil {
			t.Fatal(err)
		}
		if !bytes.HasSuffix(out.Bytes(), []byte(" "+c.want+"\n")) {
			t.Errorf("%s: %q, want %q at its end", c.detail, out.String(), c.want)
		}
	}
}

func TestRegistrationMessageNamesHub(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]string{"": "at http://hub.test/RPC2", "Registered.": "at http://hub.test/RPC2: Registered."} {
		if got := grantedAt("http://hub.test/RPC2", message); got != want {
			t.Errorf("%q: %q, want %q", message, got, want)
		}
	}
}
