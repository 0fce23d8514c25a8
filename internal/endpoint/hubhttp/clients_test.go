package hubhttp

import (
	"bufio"
	"net/netip"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"cloudburst/internal/endpoint/endpointtest"
	"cloudburst/internal/fault"
	"cloudburst/internal/fetch"
	"cloudburst/internal/fulltest"
	"cloudburst/internal/hub"
)

// hubWithADeadFeed refuses /dead.xml and accepts all other feeds.
func hubWithADeadFeed() *fakeHub {
	return &fakeHub{
		ping: func(p hub.Ping) (hub.PingResult, error) {
			if strings.HasSuffix(p.URL, "/dead.xml") {
				return hub.PingResult{}, fault.New(fault.Unreadable, "The feed could not be read.")
			}
			return hub.PingResult{}, nil
		},
		register: func(r hub.Registration) (hub.Registered, error) {
			if strings.HasSuffix(r.Feeds[0], "/dead.xml") {
				return hub.Registered{Refused: []hub.Refusal{{Feed: r.Feeds[0], Reason: "The feed could not be read."}}}, nil
			}
			return hub.Registered{Accepted: r.Feeds, Expires: expires()}, nil
		},
	}
}

func TestPythonClientRegistersByXMLRPC(t *testing.T) {
	t.Parallel()
	h := hubWithADeadFeed()
	endpointtest.Run(t, "python3", "testdata/clients/xmlrpc_client.py", listen(t, h).URL)
	i := slices.IndexFunc(h.registrations, func(r hub.Registration) bool { return len(r.Feeds) == 2 })
	if i < 0 || h.registrations[i].Feeds[1] != "http://feeds.example/python.xml?ü" || h.registrations[i].Callback != "http://127.0.0.1:5337/RPC2" {
		t.Errorf("%+v", h.registrations)
	}
	if len(h.pings) != 8 {
		t.Errorf("%d pings", len(h.pings))
	}
}

func TestNodeClientRegistersAndPings(t *testing.T) {
	t.Parallel()
	h := hubWithADeadFeed()
	endpointtest.Run(t, "node", "testdata/clients/fetch.mjs", listen(t, h).URL)
	if len(h.pings) != 3 || h.pings[1].URL != "http://feeds.example/node.xml?a=1&b=ü" {
		t.Errorf("%+v", h.pings)
	}
	if r := h.lastRegistration(t); r.Callback != "http://agg.example:5337/feedupdated" || !r.Challenge {
		t.Errorf("%+v", r)
	}
}

func TestPHPClientRegistersAndPings(t *testing.T) {
	t.Parallel()
	h := hubWithADeadFeed()
	endpointtest.Run(t, "php", "testdata/clients/weblog.php", listen(t, h).URL)
	if len(h.pings) != 2 || len(h.registrations) != 2 {
		t.Errorf("%d pings, %d registrations", len(h.pings), len(h.registrations))
	}
	if r := h.lastRegistration(t); r.Callback != "http://127.0.0.1/?rsscloud=notify" || r.Feeds[0] != "http://feeds.example/php.xml" {
		t.Errorf("%+v", r)
	}
}

func TestCurlRegistersAndPings(t *testing.T) {
	t.Parallel()
	h := hubWithADeadFeed()
	base := listen(t, h).URL
	for _, c := range []struct {
		want string
		args []string
	}{
		{`<result success="true" msg="Thanks for the ping."`, []string{"-d", "url=http://feeds.example/curl.xml", base + "/rsscloud/ping"}},
		{`<result success="true"`, []string{"--data-urlencode", "url=http://feeds.example/curl.xml?a=1&b=2", base + "/ping"}},
		{`<result success="true"`, []string{"-H", "Content-Type:", "-d", "url=http://feeds.example/curl.xml", base + "/ping"}},
		{`{"success":true,"msg":"Thanks for the ping."}`, []string{"-H", "Accept: application/json", "-d", "url=http://feeds.example/curl.xml", base + "/ping"}},
		{"415", []string{"-o", "/dev/null", "-w", "%{http_code}", "-F", "url=http://feeds.example/curl.xml", base + "/ping"}},
		{"406", []string{"-o", "/dev/null", "-w", "%{http_code}", "-H", "Accept: image/png", "-d", "url=http://feeds.example/curl.xml", base + "/ping"}},
		{"send a POST", []string{base + "/ping"}},
		{`success="false"`, []string{"-d", "url=http://feeds.example/dead.xml", base + "/ping"}},
		{`<notifyResult success="true"`, []string{"-d", "notifyProcedure=&port=5337&path=/cb&protocol=http-post", "--data-urlencode", "url1=http://feeds.example/curl.xml", base + "/rsscloud/pleaseNotify"}},
		{`<notifyResult success="true"`, []string{"-d", "port=5337&path=/cb&protocol=http-post&url1=http://feeds.example/curl.xml", base + "/rsscloud/cancel"}},
		{"<boolean>1</boolean>", []string{"-H", "Content-Type: text/xml", "-d", "<?xml version='1.0'?><methodCall><methodName>rssCloud.ping</methodName><params><param><value>http://feeds.example/curl.xml</value></param></params></methodCall>", base + "/RPC2"}},
		{"<definitions", []string{base + "/soap?wsdl"}},
		{"true", []string{"-H", "Content-Type: text/xml", "-H", `SOAPAction: "/rssCloud"`, "-d", `<SOAP-ENV:Envelope xmlns:SOAP-ENV="http://schemas.xmlsoap.org/soap/envelope/"><SOAP-ENV:Body><ping><url>http://feeds.example/curl.xml</url></ping></SOAP-ENV:Body></SOAP-ENV:Envelope>`, base + "/soap"}},
	} {
		if out := endpointtest.Run(t, "curl", append([]string{"-sS", "--max-time", "20"}, c.args...)...); !strings.Contains(out, c.want) {
			t.Errorf("curl %s\ngave %s\nwithout %s", strings.Join(c.args, " "), out, c.want)
		}
	}
}

// TestPythonCallbackIsVerifiedAndNotified verifies and notifies an aggregator in Python that
// implements only one procedure of rssCloud.
func TestPythonCallbackIsVerifiedAndNotified(t *testing.T) {
	t.Parallel()
	fulltest.Needs(t, "another language")
	cmd := exec.CommandContext(t.Context(), "python3", "testdata/clients/xmlrpc_callback.py")
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
	if !lines.Scan() {
		t.Fatal("the callback did not start")
	}
	sub := hub.Subscription{Protocol: "xml-rpc", Callback: lines.Text(), Procedure: "river.updated"}
	sender := fetch.NewSender(fetch.SenderOptions{
		Guard:  &fetch.Guard{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Callback: true},
		Bucket: -1,
	})
	defer sender.Close()
	notified := func(want string) {
		t.Helper()
		if !lines.Scan() || lines.Text() != want {
			t.Errorf("notified of %q, want %q", lines.Text(), want)
		}
	}
	v := &Verifier{Sender: sender}
	if _, err := v.Verify(t.Context(), sub, hub.Topic{URL: feed + "?test"}, false); err != nil {
		t.Errorf("test call: %v", err)
	}
	notified(feed + "?test")
	if x, err := v.Verify(t.Context(), sub, hub.Topic{URL: feed + "?challenge"}, true); err != nil {
		t.Errorf("challenge: %v\n%+v", err, x)
	} else {
		notified(feed + "?challenge")
	}
	if r := (&Notifier{Sender: sender}).Notify(t.Context(), &sub, new(topic(feed+"?a=1&b=<ü>")), nil, 0); !r.OK {
		t.Errorf("%+v", r)
	}
	notified(feed + "?a=1&b=<ü>")
	sub.Procedure = "no.such"
	if _, err := v.Verify(t.Context(), sub, hub.Topic{URL: feed}, true); err == nil {
		t.Error("a procedure that does not exist consented on behalf of a named machine")
	}
}
