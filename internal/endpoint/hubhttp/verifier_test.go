package hubhttp

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"cloudburst/internal/endpoint"
	"cloudburst/internal/fault"
	"cloudburst/internal/fetch"
	"cloudburst/internal/hub"
	"cloudburst/protocol/rsscloud"
	"cloudburst/protocol/soap"
	"cloudburst/protocol/xmlrpc"
)

func xmlrpcAnswer(t *testing.T) []byte {
	t.Helper()
	b, err := xmlrpc.MarshalResponse(true)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func soapAnswer(t *testing.T) []byte {
	t.Helper()
	b, err := soap.Response{Name: "updatedResponse", Namespace: "urn:x"}.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func xmlrpcFalse(t *testing.T) []byte {
	t.Helper()
	b, err := xmlrpc.MarshalResponse(false)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestCallbackIsAcceptedIfItAnswersTheTestNotification(t *testing.T) {
	t.Parallel()
	thanks := []byte(`<result success="true" msg="Thanks for the ping."/>`)
	unreachable := &fetch.Error{Kind: fetch.Unreachable, Text: fetch.Neutral, Err: errors.New("10.0.0.7")}
	for _, c := range []struct {
		name, protocol string
		reply          fetch.Reply
		ok             bool
		code           fault.Code
		msg            string
	}{
		{"200", "http-post", fetch.Reply{Status: 200}, true, 0, ""},
		{"204", "http-post", fetch.Reply{Status: 204}, true, 0, ""},
		{"any body", "http-post", fetch.Reply{Status: 200, Body: []byte("<html>hello</html>")}, true, 0, ""},
		{"xml-rpc true", "xml-rpc", fetch.Reply{Status: 200, Body: xmlrpcAnswer(t)}, true, 0, ""},
		{"xml-rpc value ignored", "xml-rpc", fetch.Reply{Status: 200, Body: xmlrpcFalse(t)}, true, 0, ""},
		{"xml-rpc with an empty body", "xml-rpc", fetch.Reply{Status: 200}, true, 0, ""},
		{"xml-rpc fault", "xml-rpc", fetch.Reply{Status: 200, Body: xmlrpc.MarshalFault(&xmlrpc.Fault{Code: 1, String: "10.0.0.7"})}, false, fault.Refused, "with a fault, so it is not functional"},
		{"soap fault", "soap", fetch.Reply{Status: 200, Body: (&soap.Fault{Code: soap.CodeClient, String: "10.0.0.7"}).Marshal(soap.V11)}, false, fault.Refused, "with a fault, so it is not functional"},
		{"soap", "soap", fetch.Reply{Status: 200, Body: soapAnswer(t)}, true, 0, ""},
		{"404", "http-post", fetch.Reply{Status: 404}, false, fault.Unreadable, "404 Not Found"},
		{"410", "http-post", fetch.Reply{Status: 410}, false, fault.Unreadable, "410 Gone"},
		{"500", "xml-rpc", fetch.Reply{Status: 500}, false, fault.Unreadable, "500 Internal Server Error"},
		{"redirect", "http-post", fetch.Reply{Status: 303, Location: "http://other.example/"}, false, fault.Unreadable, "303 See Other"},
		{"no response", "http-post", fetch.Reply{Err: unreachable}, false, fault.Unreadable, "no valid response"},
		{"time-out", "http-post", fetch.Reply{Err: unreachable, Timeout: true}, false, fault.Unreadable, "no valid response"},
		{"ours", "http-post", fetch.Reply{Err: unreachable, NotTried: true}, false, fault.Unavailable, "a minute"},
		{"another hub's endpoint", "http-post", fetch.Reply{Status: 200, Body: thanks}, false, fault.Refused, "loop"},
		{"another hub's endpoint that refuses", "http-post", fetch.Reply{Status: 200, Body: []byte(`<pingResult success="false" msg=""/>`)}, false, fault.Refused, "loop"},
		{"another hub's endpoint with a status", "http-post", fetch.Reply{Status: 400, Body: thanks}, false, fault.Refused, "loop"},
		{"another hub's endpoint in JSON", "http-post", fetch.Reply{Status: 200, Body: []byte(`{"success":true,"msg":"Thanks for the ping."}`)}, false, fault.Refused, "loop"},
	} {
		s := answering(c.reply)
		x, err := (&Verifier{Sender: s}).Verify(t.Context(), subscription(c.protocol), hub.Topic{URL: feed}, false)
		if (err == nil) != c.ok || err != nil && (fault.CodeOf(err) != c.code || !strings.Contains(fault.Message(err), c.msg)) {
			t.Errorf("%s: %v", c.name, err)
		}
		if err != nil && strings.Contains(fault.Message(err), "10.0.0.7") {
			t.Errorf("%s: the public message is %q", c.name, fault.Message(err))
		}
		m := s.sent[0]
		if len(s.sent) != 1 || m.Method != "" || !m.Padded || !m.WantBody || !strings.Contains(string(m.Body), "feeds.example") || m.Header[1] != "1" {
			t.Errorf("%s: sent %+v", c.name, s.sent)
		}
		if x.Request == "" || x.Callback == "" || x.Answer == "" && c.reply.Err == nil {
			t.Errorf("%s: %+v", c.name, x)
		}
	}
}

// challenged returns a callback that responds to the challenge, a GET, with f, and to a POST with
// post.
func challenged(t *testing.T, f func(challenge string) fetch.Reply, post fetch.Reply) *fakeSender {
	t.Helper()
	return &fakeSender{answer: func(m *fetch.Message) fetch.Reply {
		if m.Method != http.MethodGet {
			return post
		}
		u, err := url.Parse(m.URL)
		if err != nil {
			t.Error(err)
		}
		q := u.Query()
		if q.Get("url") != feed || len(q.Get("challenge")) != 32 || q.Get("x") != "1" || !m.Padded || !m.WantBody || len(m.Body) > 0 {
			t.Errorf("the challenge is %+v", m)
		}
		return f(q.Get("challenge"))
	}}
}

func TestCallbackMustReturnTheChallenge(t *testing.T) {
	t.Parallel()
	status := func(n int) func(string) fetch.Reply {
		return func(c string) fetch.Reply { return fetch.Reply{Status: n, Body: []byte(c)} }
	}
	no := fetch.Reply{Err: errors.New("nobody")}
	fine := fetch.Reply{Status: 200, Body: xmlrpcAnswer(t)}
	page := fetch.Reply{Status: 200, ContentType: "text/html", Body: []byte("<html>")}
	failed := fetch.Reply{Status: 200, Body: xmlrpc.MarshalFault(&xmlrpc.Fault{Code: -32601, String: "no such method"})}
	for _, c := range []struct {
		name, protocol string
		get            func(string) fetch.Reply
		post           fetch.Reply
		msg            string // "" means consent
		requests       int
	}{
		{"met", "http-post", status(200), no, "", 1},
		{"challenge answered over xml-rpc", "xml-rpc", status(200), no, "", 1},
		{"challenge in a page", "http-post", func(c string) fetch.Reply {
			return fetch.Reply{Status: 200, ContentType: "text/html; charset=utf-8", Body: []byte(c)}
		}, no, "", 1},
		{"challenge echoed by a search page", "http-post", func(c string) fetch.Reply {
			return fetch.Reply{Status: 200, ContentType: "text/html", Body: []byte("Nothing found for ?url=x&amp;challenge=" + c)}
		}, no, "repeats the request", 1},
		{"challenge echoed by an API", "http-post", func(c string) fetch.Reply {
			return fetch.Reply{Status: 200, ContentType: "application/json", Body: []byte(`{"n":1,"args":["` + c + `","` + feed + `"]}`)}
		}, no, "repeats the request", 1},
		{"challenge as the only JSON member", "http-post", func(c string) fetch.Reply {
			return fetch.Reply{Status: 200, ContentType: "application/json", Body: []byte(`{"challenge":"` + c + `"}`)}
		}, no, "", 1},
		{"response without challenge", "http-post", func(string) fetch.Reply { return fetch.Reply{Status: 200, Body: []byte("ok")} }, no, "does not contain", 1},
		{"404", "http-post", status(404), fine, "404 Not Found", 1},
		{"405", "http-post", status(405), fine, "405 Method Not Allowed", 1},
		{"no response", "http-post", func(string) fetch.Reply { return no }, fine, "no valid response", 1},
		{"own endpoint", "http-post", func(string) fetch.Reply {
			return fetch.Reply{Err: &fetch.Error{Kind: fetch.Refused, Err: fetch.ErrOwn}}
		}, fine, "leads to this server itself", 1},
		{"xml-rpc, no response", "xml-rpc", func(string) fetch.Reply { return no }, fine, "no valid response", 1},
		{"xml-rpc 500", "xml-rpc", status(500), fine, "500", 1},
		{"xml-rpc 403", "xml-rpc", status(403), fine, "403", 1},
		{"xml-rpc 405, then a call", "xml-rpc", status(405), fine, "", 2},
		{"xml-rpc 404, then a call", "xml-rpc", status(404), fine, "", 2},
		{"xml-rpc 501, then a call", "xml-rpc", status(501), fine, "", 2},
		{"xml-rpc 405, then no response", "xml-rpc", status(405), no, "no valid response", 2},
		{"xml-rpc 405, then a page", "xml-rpc", status(405), page, "is not a valid XML-RPC or SOAP response", 2},
		{"xml-rpc 405, then an unknown procedure", "xml-rpc", status(405), failed, "with a fault", 2},
		{"soap 405, then a call", "soap", status(405), fetch.Reply{Status: 200, Body: soapAnswer(t)}, "", 2},
		{"soap 405, then xml-rpc", "soap", status(405), fine, "is not a valid XML-RPC or SOAP response", 2},
	} {
		s := challenged(t, c.get, c.post)
		_, err := (&Verifier{Sender: s}).Verify(t.Context(), subscription(c.protocol), hub.Topic{URL: feed}, true)
		if (err == nil) != (c.msg == "") || err != nil && !strings.Contains(fault.Message(err), c.msg) {
			t.Errorf("%s: %v", c.name, err)
		}
		if len(s.sent) != c.requests {
			t.Errorf("%s: %d requests", c.name, len(s.sent))
		}
	}
}

// TestHubNotifiesRSSCloudSubscriberOverHTTP replaces only the subscriber's server by a fake.
func TestHubNotifiesRSSCloudSubscriberOverHTTP(t *testing.T) {
	t.Parallel()
	notices := make(chan rsscloud.Received, 16)
	agents := make(chan string, 16)
	sub := &rsscloud.Subscriber{
		Wants:    func(f string) bool { return f == feed },
		OnNotify: onNotify(notices, agents),
	}
	srv := httptest.NewServer(sub)
	t.Cleanup(srv.Close)
	sender := fetch.NewSender(fetch.SenderOptions{
		Guard:     &fetch.Guard{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Callback: true},
		UserAgent: endpoint.UserAgent("1", "http://hub.example/docs"), Bucket: -1,
	})
	t.Cleanup(sender.Close)
	n, v := &Notifier{Sender: sender}, &Verifier{Sender: sender}
	for _, protocol := range []string{"http-post", "xml-rpc", "soap"} {
		s := hub.Subscription{Protocol: protocol, Callback: srv.URL + "/cb?x=1", Procedure: "river.updated"}
		for _, challenge := range []bool{false, true} {
			if x, err := v.Verify(t.Context(), s, hub.Topic{URL: feed}, challenge); err != nil {
				t.Errorf("%s, challenge %t: %v %+v", protocol, challenge, err, x)
			}
			if _, err := v.Verify(t.Context(), s, hub.Topic{URL: "http://unwanted.example/"}, challenge); err == nil {
				t.Errorf("%s, challenge %t: consent for an unwanted feed", protocol, challenge)
			}
		}
		if r := n.Notify(t.Context(), &s, new(topic(feed)), nil, 1); !r.OK {
			t.Errorf("%s: %+v", protocol, r)
		}
		for _, hops := range []int{1, 2} { // first the test call, then the notification
			if got := <-notices; got.URL != feed || got.Protocol != protocol || got.Hops != hops {
				t.Errorf("%s: %+v", protocol, got)
			}
			if got := <-agents; got != "Cloudburst/1 (+http://hub.example/docs)" {
				t.Errorf("%s: User-Agent %q", protocol, got)
			}
		}
		if r := n.Notify(t.Context(), &s, new(topic("http://unwanted.example/")), nil, 0); !r.Gone || r.OK {
			t.Errorf("%s: %+v", protocol, r)
		}
	}
	forbidden := fetch.NewSender(fetch.SenderOptions{Bucket: -1})
	t.Cleanup(forbidden.Close)
	_, err := (&Verifier{Sender: forbidden}).Verify(t.Context(), hub.Subscription{Protocol: "http-post", Callback: srv.URL}, hub.Topic{URL: feed}, false)
	if err == nil || !strings.Contains(fault.Message(err), unanswered) {
		t.Errorf("an address that may not be reached: %v", err)
	}
}
