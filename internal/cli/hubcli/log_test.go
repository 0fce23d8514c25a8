package hubcli

import (
	"bytes"
	"encoding/json"
	"testing"

	"cloudburst/client"
)

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
