package hubhttp

import (
	"bufio"
	"net/netip"
	"os/exec"
	"testing"

	"cloudburst/internal/fetch"
	"cloudburst/internal/fulltest"
	"cloudburst/internal/hub"
)

// TestPythonCNWSSubscriberIsNotified notifies a client that parses the documents, and that
// responds with prefixes and in another encoding.
func TestPythonCNWSSubscriberIsNotified(t *testing.T) {
	t.Parallel()
	fulltest.Needs(t, "another language")
	h := &fakeHub{register: func(r hub.Registration) (hub.Registered, error) {
		return hub.Registered{Accepted: r.Feeds, About: hub.About{Title: "Grüße & <more>"}}, nil
	}}
	cmd := exec.CommandContext(t.Context(), "python3", "testdata/clients/cnws.py", cnwsEndpoint(t, h, nil))
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = in.Close()
		_ = cmd.Wait()
	}()
	lines := bufio.NewScanner(out)
	says := func(want string) {
		t.Helper()
		if !lines.Scan() || lines.Text() != want {
			t.Errorf("it printed %q, want %q", lines.Text(), want)
		}
	}
	says("true|Grüße & <more>")
	r := h.lastRegistration(t)
	if r.Protocol != hub.CNWS || r.Feeds[0] != "http://feeds.example/python.xml" {
		t.Fatalf("%+v", r)
	}
	sender := fetch.NewSender(fetch.SenderOptions{
		Guard:  &fetch.Guard{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Callback: true},
		Bucket: -1,
	})
	defer sender.Close()
	sub := hub.Subscription{Protocol: r.Protocol, Callback: r.Callback}
	to := changed(hub.About{ItemTitle: "Schöne <Dinge>"})
	if x, err := (&Verifier{Sender: sender}).Verify(t.Context(), sub, to, false); err != nil {
		t.Errorf("consent: %v\n%+v", err, x)
	}
	says(feed + "|Schöne <Dinge>|Fri, 16 Oct 2009 12:00:00 GMT")
	n := &Notifier{Sender: sender}
	if r := n.Notify(t.Context(), &sub, &to, nil, 0); !r.OK {
		t.Errorf("%+v", r)
	}
	says(feed + "|Schöne <Dinge>|Fri, 16 Oct 2009 12:00:00 GMT")
	enough := changed(hub.About{})
	enough.URL += "?enough"
	if r := n.Notify(t.Context(), &sub, &enough, nil, 0); !r.Gone {
		t.Errorf("%+v", r)
	}
	says(feed + "?enough|-|Fri, 16 Oct 2009 12:00:00 GMT")
}
