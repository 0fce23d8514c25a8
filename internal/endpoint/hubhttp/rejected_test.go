package hubhttp

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// rejections returns kind and text of all logged rejections, one per line.
func rejections(h *fakeHub) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var b strings.Builder
	for _, t := range h.lastAgeChange {
		if !t.Source.IsValid() {
			b.WriteString("(from nowhere) ")
		}
		b.WriteString(t.Kind + " " + t.Via + " " + t.Topic + ": " + t.Text + "\n")
	}
	h.lastAgeChange = nil
	return b.String()
}

func TestInvalidRequestsAreLogged(t *testing.T) {
	t.Parallel()
	h := &fakeHub{}
	srv := listen(t, h)
	for _, c := range []struct {
		path string
		form url.Values
		want string
	}{
		{"/ping", url.Values{}, "ping rest : No feed is named; send its URL as url.\n"},
		{"/ping", url.Values{"url": {"nope"}}, `ping rest : The feed's URL "nope" must begin with http:// or https://.` + "\n"},
		{"/ping", url.Values{"url": {"http://u:geheim@h/ x"}}, "ping rest : The feed's URL … has a space or a control character in it; write a space as %20.\n"},
		{"/ping", url.Values{"url": {"http://h/u/private/a.geheim/rss.xml#x"}}, "ping rest : The feed's URL … has a fragment; leave out the # and what follows.\n"},
		{"/pleaseNotify", registration("port", "x"), `register rest : Not registered: The port is "x"; it must be a number from 1 to 65535.` + "\n"},
		{"/pleaseNotify", registration("protocol", "Soap"), `register rest : Not registered: The protocol is "Soap"; it must be soap, in lowercase.` + "\n"},
		{"/pleaseNotify", registration("path", `/geheim"#x`), "register rest : Not registered: The path … has a fragment; leave out the # and what follows.\n"},
		{"/pleaseNotify", registration("path", "/"+strings.Repeat("geheim", 999)), "register rest : Not registered: The path … is longer than 2000 bytes.\n"},
		{"/pleaseNotify", registration("protocol", "xml-rpc", "notifyProcedure", "a b"), `register rest : Not registered: notifyProcedure "a b" must be 1 to 128 letters, digits or any of _ . : /.` + "\n"},
		{"/pleaseNotify", registration("url2", "nope"), `register rest : Not registered: The feed's URL "nope" must begin with http:// or https://.` + "\n"},
		{"/rsscloud/cancel", url.Values{}, "cancel rest : Not cancelled: port is missing; cancel needs notifyProcedure, port, path, protocol and url1.\n"},
		{"/ping", url.Values{"url": {feed}}, ""},
		{"/pleaseNotify", registration(), ""},
	} {
		post(t, srv.URL+c.path, c.form)
		if got := rejections(h); got != c.want {
			t.Errorf("%s %v:\n%swant\n%s", c.path, c.form, got, c.want)
		}
	}
	resp, err := http.Post(srv.URL+"/ping", "multipart/form-data; boundary=x", strings.NewReader("--x--"))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if got := rejections(h); !strings.HasPrefix(got, "ping rest : The body is …; send a form") {
		t.Errorf("a multipart form: %q", got)
	}
}

func TestInvalidXMLRPCAndSOAPCallsAreLogged(t *testing.T) {
	t.Parallel()
	h := &fakeHub{}
	srv := listen(t, h)
	for _, c := range []struct{ path, body, want string }{
		{"/RPC2", "<methodCall><methodName>rssCloud.ping</methodName></methodCall>", "ping xml-rpc : There are 0 parameters; send one, the URL of the feed that changed.\n"},
		{"/RPC2", "<methodCall><methodName>xmlStorageSystem.rssPleaseNotify</methodName></methodCall>",
			"register xml-rpc : Not registered: There are 0 parameters; send notifyProcedure, port, path, protocol, the list of feeds and, where you need it, domain.\n"},
		{"/soap", `<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body><ping><url>nope</url></ping></s:Body></s:Envelope>`,
			`ping soap : The feed's URL "nope" must begin with http:// or https://.` + "\n"},
	} {
		resp, err := http.Post(srv.URL+c.path, "text/xml", strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if got := rejections(h); got != c.want {
			t.Errorf("%s:\n%swant\n%s", c.body, got, c.want)
		}
	}
}
