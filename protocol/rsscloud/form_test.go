package rsscloud_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"

	"cloudburst/protocol/rsscloud"

	"github.com/google/go-cmp/cmp"
)

func TestNumberedURLParametersAreOrderedIgnoringCase(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		body string
		want []string
	}{
		{"url1=http://a/", []string{"http://a/"}},
		{"url=http://a/", []string{"http://a/"}},
		{"url10=j&url9=i&url2=b&url=z&url1=a", []string{"z", "a", "b", "i", "j"}},
		{"URL2=b&Url1=a", []string{"a", "b"}},
		{"url1=a&url1=b&url01=c", []string{"a", "b", "c"}},
		{"url1=a&url2=a&url3=+a+", []string{"a"}},
		{"url1=&url2=b", []string{"b"}},
		{"url99999999999999999999999=z&url3=c", []string{"c", "z"}},
		{"urls=x&url1x=y&myurl=z&url-1=w&url1=a", []string{"a"}},
		{"url1=http%3A%2F%2Fa%2F%3Fx%3D1%26y%3D2", []string{"http://a/?x=1&y=2"}},
	} {
		f, err := rsscloud.ParseForm([]byte(c.body))
		if err != nil {
			t.Errorf("%s: %v", c.body, err)
			continue
		}
		got, err := f.URLs()
		if d := cmp.Diff(c.want, got); d != "" || err != nil {
			t.Errorf("%s: %v\n%s", c.body, err, d)
		}
	}
}

func TestFormWithOneInvalidValueIsRejectedCompletely(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, body, want string }{
		{"percent", "url1=http://a/&path=%zz", "percent sign"},
		{"percent at the end", "url1=http://a/%", "percent sign"},
		{"percent in a name", "url%1=http://a/", "percent sign"},
		{"semicolon", "url1=http://a/;b&path=/", "%3B"},
		{"NUL", "url1=http://a/%00", "NUL"},
		{"raw NUL", "url1=http://a/\x00", "NUL"},
		{"not UTF-8", "url1=http://a/%ff", "UTF-8"},
		{"raw, not UTF-8", "url1=http://a/\xff", "UTF-8"},
		{"fields", strings.Repeat("a=b&", 201), "200 fields"},
		{"urls", "port=80&path=/&protocol=http-post&" + strings.Join(numbered(51), "&"), "50 feeds"},
		{"no url", "port=80&path=/&protocol=http-post", "url1"},
		{"empty", "", "is missing"},
		{"port twice", "notifyProcedure=&port=80&port=81&path=/&protocol=http-post&url1=http://a/", "twice"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f, err := rsscloud.ParseForm([]byte(c.body))
			if err != nil && f != nil {
				t.Errorf("a form was returned with the error: %v", f)
			}
			if err == nil {
				_, err = f.Registration()
			}
			if fe, ok := errors.AsType[*rsscloud.FieldError](err); !ok || !strings.Contains(fe.Msg, c.want) {
				t.Errorf("got %v, want a FieldError with %q", err, c.want)
			}
		})
	}
	if f, err := rsscloud.ParseForm([]byte(strings.Repeat("a=b&", 200))); err != nil || len(f) != 200 {
		t.Errorf("200 fields: %d, %v", len(f), err)
	}
	f, err := rsscloud.ParseForm([]byte(strings.Join(numbered(50), "&")))
	if err != nil {
		t.Fatal(err)
	}
	if urls, err := f.URLs(); err != nil || len(urls) != 50 {
		t.Errorf("50 urls: %d, %v", len(urls), err)
	}
}

func numbered(n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf("url%d=http://a/%d", i+1, i)
	}
	return list
}

func TestBodyWithOtherContentTypeIsRejected(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		contentType, encoding string
		status                int
	}{
		{"application/x-www-form-urlencoded", "", 0},
		{"application/x-www-form-urlencoded; charset=UTF-8", "", 0},
		{"Application/X-WWW-Form-URLEncoded;charset", "", 0},
		{"", "", 0},
		{"text/plain", "", 0},
		{"text/plain;charset=UTF-8", "", 0},
		{"", "identity", 0},
		{"multipart/form-data; boundary=x", "", 415},
		{"application/json", "", 415},
		{"text/xml", "", 415},
		{"application/x-www-form-urlencoded", "gzip", 415},
		{"", "deflate", 415},
	} {
		r := httptest.NewRequest(http.MethodPost, "/ping", strings.NewReader("url=http://a/"))
		r.Header.Set("Content-Type", c.contentType)
		if c.contentType == "" {
			r.Header.Del("Content-Type")
		}
		if c.encoding != "" {
			r.Header.Set("Content-Encoding", c.encoding)
		}
		f, err := rsscloud.ReadForm(r)
		e, _ := errors.AsType[*rsscloud.Error](err)
		if c.status == 0 && (err != nil || len(f) != 1) || c.status != 0 && (e == nil || e.Status != c.status) {
			t.Errorf("%q %q: %v, %v", c.contentType, c.encoding, f, err)
		}
	}
}

func TestLargeOrTruncatedBodyIsRejected(t *testing.T) {
	t.Parallel()
	long := "url=http://a/" + strings.Repeat("a", rsscloud.MaxForm)
	for name, c := range map[string]struct {
		body   io.Reader
		length int64
		status int
	}{
		"announced":   {strings.NewReader(long), int64(len(long)), 413},
		"unannounced": {strings.NewReader(long), -1, 413},
		"truncated":   {io.MultiReader(strings.NewReader("url=http://a/"), iotest.ErrReader(io.ErrUnexpectedEOF)), 500, 400},
	} {
		r := httptest.NewRequest(http.MethodPost, "/ping", c.body)
		r.ContentLength = c.length
		f, err := rsscloud.ReadForm(r)
		if e, ok := errors.AsType[*rsscloud.Error](err); !ok || e.Status != c.status || f != nil {
			t.Errorf("%s: %v, %v", name, f, err)
		}
	}
	r := httptest.NewRequest(http.MethodPost, "/ping", strings.NewReader(long[:rsscloud.MaxForm]))
	if _, err := rsscloud.ReadForm(r); err != nil {
		t.Errorf("exactly the limit: %v", err)
	}
}

func TestRegistrationIsParsedFromForm(t *testing.T) {
	t.Parallel()
	const feed = "&url1=http%3A%2F%2Ffeeds.example%2Frss.xml"
	for _, c := range []struct {
		name, body string
		want       rsscloud.Registration
		err        string
	}{
		{name: "as weblogs send it", body: "notifyProcedure=&port=80&path=/?rsscloud=notify&protocol=http-post" + feed,
			want: rsscloud.Registration{Port: 80, Path: "/?rsscloud=notify", Protocol: "http-post"}},
		{name: "domain", body: "notifyProcedure=&port=80&path=/&protocol=http-post&domain=example.com" + feed,
			want: rsscloud.Registration{Port: 80, Path: "/", Protocol: "http-post", Domain: "example.com"}},
		{name: "empty domain is none", body: "notifyProcedure=&port=80&path=/&protocol=http-post&domain=" + feed,
			want: rsscloud.Registration{Port: 80, Path: "/", Protocol: "http-post"}},
		{name: "no procedure", body: "port=80&path=/&protocol=http-post" + feed,
			want: rsscloud.Registration{Port: 80, Path: "/", Protocol: "http-post"}},
		{name: "other case, spaces", body: "NotifyProcedure=a.b&PORT=+80+&Path=/&protocol=xml-rpc" + feed,
			want: rsscloud.Registration{Procedure: "a.b", Port: 80, Path: "/", Protocol: "xml-rpc"}},
		{name: "line end behind", body: "port=80&path=/&protocol=http-post" + feed + "\r\n",
			want: rsscloud.Registration{Port: 80, Path: "/", Protocol: "http-post"}},
		{name: "protocol is case-sensitive", body: "port=80&path=/&protocol=HTTP-POST" + feed, err: "in lowercase"},
		{name: "unknown protocol", body: "port=80&path=/&protocol=gopher" + feed, err: `"gopher"`},
		{name: "no port", body: "path=/&protocol=http-post" + feed, err: "port is missing"},
		{name: "no path", body: "port=80&protocol=http-post" + feed, err: "path is missing"},
		{name: "no protocol", body: "port=80&path=/" + feed, err: "protocol is missing"},
		{name: "port 0", body: "port=0&path=/&protocol=http-post" + feed, err: "from 1 to 65535"},
		{name: "port 65536", body: "port=65536&path=/&protocol=http-post" + feed, err: "from 1 to 65535"},
		{name: "signed port", body: "port=%2B80&path=/&protocol=http-post" + feed, err: "from 1 to 65535"},
		{name: "Arabic digits", body: "port=%D9%A8%D9%A0&path=/&protocol=http-post" + feed, err: "from 1 to 65535"},
		{name: "line end in path", body: "port=80&path=/a%0D%0AHost:+b&protocol=http-post" + feed, err: "line end"},
		{name: "fragment", body: "port=80&path=/a%23b&protocol=http-post" + feed, err: "fragment"},
		{name: "whole URL as path", body: "port=80&path=http://a/b&protocol=http-post" + feed, err: "whole URL"},
		{name: "procedure needed", body: "notifyProcedure=&port=80&path=/&protocol=xml-rpc" + feed, err: "notifyProcedure is empty"},
		{name: "procedure with a space", body: "notifyProcedure=a+b&port=80&path=/&protocol=xml-rpc" + feed, err: "letters, digits"},
		{name: "our own procedure", body: "notifyProcedure=rssCloud.ping&port=80&path=/&protocol=xml-rpc" + feed, err: "own method"},
		{name: "not an element name", body: "notifyProcedure=a/b&port=80&path=/&protocol=soap" + feed, err: "XML element"},
		{name: "domain with a path", body: "port=80&path=/&protocol=http-post&domain=a/b" + feed, err: "domain"},
		{name: "domain with a port", body: "port=80&path=/&protocol=http-post&domain=a:81" + feed, err: "own field"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := readRegistration(t, c.body, c.err)
			if c.err != "" {
				return
			}
			c.want.URLs = []string{"http://feeds.example/rss.xml"}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Fatal(d)
			}
			again, err := got.Form().Registration()
			if d := cmp.Diff(got, again); err != nil || d != "" {
				t.Errorf("the encoded form does not parse to the same value: %v\n%s", err, d)
			}
			params, err := rsscloud.RegistrationFromParams(got.Params())
			if d := cmp.Diff(got, params); err != nil || d != "" {
				t.Errorf("the parameters do not parse to the same value: %v\n%s", err, d)
			}
		})
	}
}

// readRegistration parses a form. The error must contain wrong, or be nil if wrong is
// empty.
func readRegistration(t *testing.T, body, wrong string) rsscloud.Registration {
	t.Helper()
	f, err := rsscloud.ParseForm([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	g, err := f.Registration()
	if wrong == "" && err != nil {
		t.Fatal(err)
	}
	if fe, ok := errors.AsType[*rsscloud.FieldError](err); wrong != "" && (!ok || !strings.Contains(fe.Msg, wrong)) {
		t.Fatalf("got %v, want %q", err, wrong)
	}
	return g
}

func TestPingFormMustContainExactlyOneFeed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ body, want, err string }{
		{"url=http://a.example/rss.xml", "http://a.example/rss.xml", ""},
		{"URL=http://a.example/rss.xml", "http://a.example/rss.xml", ""},
		{"url=%20http://a.example/%20", "http://a.example/", ""},
		{"", "", "No feed"},
		{"feed=http://a.example/", "", "No feed"},
		{"url=http://a.example/&url=http://b.example/", "", "names 2 feeds"},
		{"url=feed://a.example/", "", "http://"},
		{"url=/rss.xml", "", "http://"},
		{"url=http:///rss.xml", "", "no host"},
		{"url=http://u:p@a.example/", "", "user name"},
		{"url=http://a.example/%23x", "", "fragment"},
		{"url=http://a.example/a+b", "", "space"},
		{"url=http://a.example/%0d%0ax", "", "control"},
		{"url=http://a.example/" + strings.Repeat("a", 2048), "", "longer"},
		{"url=http://[::1", "", "not a URL"},
	} {
		f, err := rsscloud.ParseForm([]byte(c.body))
		if err != nil {
			t.Errorf("%.60s: %v", c.body, err)
			continue
		}
		got, err := f.PingURL()
		if c.err == "" && (err != nil || got != c.want) || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%.60s: %q, %v", c.body, got, err)
		}
		if err != nil && strings.Contains(err.Error(), "u:p") {
			t.Errorf("the message shows a password: %v", err)
		}
	}
}

func TestRegistrationParametersAreAcceptedWithAnyType(t *testing.T) {
	t.Parallel()
	want := rsscloud.Registration{Procedure: "river.updated", Port: 5337, Path: "/RPC2", Protocol: "xml-rpc", URLs: []string{"http://a/"}}
	with := func(i int, v any) []any {
		p := want.Params()
		if i == len(p) {
			return append(p, v)
		}
		p[i] = v
		return p
	}
	for name, params := range map[string][]any{
		"as written": want.Params(), "port as string": with(1, "5337"), "port as int64": with(1, int64(5337)),
		"port as double": with(1, 5337.0), "one string": with(4, "http://a/"), "strings": with(4, []string{"http://a/"}),
		"no domain": with(5, ""), "nil domain": with(5, nil),
	} {
		got, err := rsscloud.RegistrationFromParams(params)
		if d := cmp.Diff(want, got); err != nil || d != "" {
			t.Errorf("%s: %v\n%s", name, err, d)
		}
	}
	for _, protocol := range []string{"http-post", "https-post"} { // they ignore the procedure
		for _, none := range []any{false, nil, 0, []any{}} {
			got, err := rsscloud.RegistrationFromParams([]any{none, 5337, "/notify", protocol, []any{"http://a/"}, false})
			if err != nil || got.Procedure != "" || got.Protocol != protocol || got.Domain != "" {
				t.Errorf("%s with the procedure %v: %+v, %v", protocol, none, got, err)
			}
		}
	}
	withDomain, err := rsscloud.RegistrationFromParams(with(5, "example.com"))
	if err != nil || withDomain.Domain != "example.com" {
		t.Errorf("%+v, %v", withDomain, err)
	}
	for name, params := range map[string][]any{
		"none": nil, "four": want.Params()[:4], "seven": append(with(5, ""), ""), "port false": with(1, false),
		"port 0": with(1, 0), "port 1.5": with(1, 1.5), "port huge": with(1, 1e300), "port words": with(1, "http"), "path list": with(2, []any{}),
		"url struct": with(4, map[string]any{}), "url ints": with(4, []any{1}), "no url": with(4, []any{}),
		"urls": with(4, make([]string, 0)), "domain int": with(5, 1), "protocol": with(3, "XML-RPC"), "procedure false": with(0, false), "domain true": with(5, true),
	} {
		got, err := rsscloud.RegistrationFromParams(params)
		if _, ok := errors.AsType[*rsscloud.FieldError](err); !ok || got.Port != 0 && err == nil {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	for _, none := range []any{[]any{}, []any{" "}, ""} {
		_, err := rsscloud.RegistrationFromParams(with(4, none))
		if fe, ok := errors.AsType[*rsscloud.FieldError](err); !ok || fe.Msg != "The list of feed URLs is empty." {
			t.Errorf("%q: %v", none, err)
		}
	}
}
