package websub_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"cloudburst/protocol/websub"

	"github.com/google/go-cmp/cmp"
)

const (
	testTopic    = "http://topics.example/feed?a=1&b=%2F"
	testCallback = "https://sub.example/cb/0123?x=%20&hub.mode=mine"
)

// form encodes pairs of names and values as a body.
func form(pairs ...string) string {
	var b []string
	for i := 0; i+1 < len(pairs); i += 2 {
		b = append(b, url.QueryEscape(pairs[i])+"="+url.QueryEscape(pairs[i+1]))
	}
	return strings.Join(b, "&")
}

// subscribe encodes a subscribe request with additional fields.
func subscribe(more ...string) string {
	return form(append([]string{"hub.mode", "subscribe", "hub.callback", testCallback, "hub.topic", testTopic}, more...)...)
}

func TestSubscriptionRequestIsParsedFromForm(t *testing.T) {
	t.Parallel()
	plain := websub.Subscription{Callback: testCallback, Topic: testTopic}
	with := func(lease time.Duration, secret string) websub.Request {
		s := plain
		s.Lease, s.Secret = lease, secret
		return websub.Request{Mode: "subscribe", Subscription: s}
	}
	many := make([]string, 0, 100)
	for i := range 50 {
		many = append(many, "hub.url", "http://t.example/"+strings.Repeat("x", i))
	}
	for name, c := range map[string]struct {
		body string
		want websub.Request
	}{
		"the three required fields":      {subscribe(), with(0, "")},
		"a lease":                        {subscribe("hub.lease_seconds", "3600"), with(time.Hour, "")},
		"a lease beyond the limit":       {subscribe("hub.lease_seconds", "1"), with(time.Second, "")},
		"a lease of years":               {subscribe("hub.lease_seconds", "0009000000000"), with(9_000_000_000*time.Second, "")},
		"an empty lease":                 {subscribe("hub.lease_seconds", ""), with(0, "")},
		"a secret":                       {subscribe("hub.secret", " a=b&c%ü "), with(0, " a=b&c%ü ")},
		"an empty secret":                {subscribe("hub.secret", ""), with(0, "")},
		"the longest secret":             {subscribe("hub.secret", strings.Repeat("x", 199)), with(0, strings.Repeat("x", 199))},
		"unknown parameters":             {subscribe("foo", "bar", "hub.foo", "1", "hub.foo", "2", "HUB.MODE", "x"), with(0, "")},
		"the parameters of another mode": {subscribe("hub.url", "x"), with(0, "")},
		"a line end of a shell":          {subscribe() + "\r\n", with(0, "")},
		"empty pairs":                    {"&&" + subscribe() + "&", with(0, "")},
		"unsubscribe":                    {form("hub.mode", "unsubscribe", "hub.callback", testCallback, "hub.topic", testTopic), websub.Request{Mode: "unsubscribe", Subscription: plain}},
		"unsubscribe with a lease":       {form("hub.mode", "unsubscribe", "hub.callback", testCallback, "hub.topic", testTopic, "hub.lease_seconds", "-1", "hub.secret", strings.Repeat("x", 500)), websub.Request{Mode: "unsubscribe", Subscription: plain}},
		"publish by hub.url":             {form("hub.mode", "publish", "hub.url", testTopic), websub.Request{Mode: "publish", URLs: []string{testTopic}}},
		"publish by hub.topic":           {form("hub.mode", "publish", "hub.topic", testTopic), websub.Request{Mode: "publish", URLs: []string{testTopic}}},
		"publish by both":                {form("hub.url", "http://a.example/", "hub.topic", testTopic, "hub.mode", "publish", "hub.url", testTopic, "hub.url", ""), websub.Request{Mode: "publish", URLs: []string{"http://a.example/", testTopic}}},
		"publish of an invalid URL":      {form("hub.mode", "publish", "hub.url", "x"), websub.Request{Mode: "publish", URLs: []string{"x"}}},
		"publish of fifty":               {form(append(many, "hub.mode", "publish")...), websub.Request{Mode: "publish", URLs: odd(many)}},
		"a callback in another case":     {form("hub.mode", "subscribe", "hub.callback", "HTTPS://SUB.example:8443", "hub.topic", "http://[2001:db8::1]/ü"), websub.Request{Mode: "subscribe", Subscription: websub.Subscription{Callback: "HTTPS://SUB.example:8443", Topic: "http://[2001:db8::1]/ü"}}},
		"the longest callback":           {form("hub.mode", "subscribe", "hub.callback", "http://s.example/"+strings.Repeat("c", 2048-17), "hub.topic", testTopic), websub.Request{Mode: "subscribe", Subscription: websub.Subscription{Callback: "http://s.example/" + strings.Repeat("c", 2048-17), Topic: testTopic}}},
		"an invalid percent sign":        {form("hub.mode", "subscribe", "hub.callback", "http://s.example/%zz", "hub.topic", testTopic), websub.Request{Mode: "subscribe", Subscription: websub.Subscription{Callback: "http://s.example/%zz", Topic: testTopic}}},
	} {
		got, err := websub.ParseRequest([]byte(c.body))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s\n%s", name, d)
		}
	}
}

// odd returns the elements with the indexes 1, 3, 5 and so on.
func odd(list []string) []string {
	var out []string
	for i := 1; i < len(list); i += 2 {
		out = append(out, list[i])
	}
	return out
}

func TestParseRequestRejectsInvalidForm(t *testing.T) {
	t.Parallel()
	mode := func(m string) string {
		return form("hub.mode", m, "hub.callback", testCallback, "hub.topic", testTopic)
	}
	callback := func(u string) string {
		return form("hub.mode", "subscribe", "hub.callback", u, "hub.topic", testTopic)
	}
	topic := func(u string) string {
		return form("hub.mode", "unsubscribe", "hub.callback", testCallback, "hub.topic", u)
	}
	lease := func(s string) string { return subscribe("hub.lease_seconds", s) }
	fields := strings.Repeat("&a=b", 197)
	var urls []string
	for i := range 51 {
		urls = append(urls, "hub.url", "http://t.example/"+strings.Repeat("x", i))
	}
	for name, c := range map[string]struct {
		body, want string
	}{
		"nothing":                      {"", "hub.mode is missing"},
		"JSON":                         {`{"hub.mode":"subscribe"}`, "hub.mode is missing"},
		"an empty mode":                {mode(""), "hub.mode is missing"},
		"a mode in uppercase":          {mode("Subscribe"), "in lowercase"},
		"a mode of callbacks":          {mode("denied"), "hub.mode is \"denied\""},
		"a mode twice":                 {subscribe("hub.mode", "subscribe"), "hub.mode occurs more than once"},
		"a callback twice":             {subscribe("hub.callback", "http://other.example/"), "hub.callback occurs more than once"},
		"a topic twice":                {subscribe("hub.topic", "http://other.example/"), "hub.topic occurs more than once"},
		"a lease twice":                {lease("300&hub.lease_seconds=300"), "hub.lease_seconds"},
		"a secret twice":               {subscribe("hub.secret", "a", "hub.secret", "b"), "hub.secret occurs more than once"},
		"no callback":                  {form("hub.mode", "subscribe", "hub.topic", testTopic), "hub.callback is missing"},
		"no topic":                     {form("hub.mode", "subscribe", "hub.callback", testCallback), "hub.topic is missing"},
		"a script as callback":         {callback("javascript:alert(1)"), "http://"},
		"a script with slashes":        {callback("javascript://x.example/%0aalert(1)"), "http://"},
		"a file as callback":           {callback("file:///etc/passwd"), "http://"},
		"a callback without host":      {callback("http:///cb"), "no host"},
		"a callback with a port only":  {callback("http://:80/cb"), "no host"},
		"a callback with a wrong port": {callback("http://a.example:x/cb"), "no host"},
		"a callback with no port":      {callback("http://s.example:99999/cb"), "port"},
		"a callback with port 0":       {callback("http://s.example:0/cb"), "port"},
		"a topic with no port":         {topic("http://t.example:65536/"), "hub.topic"},
		"a relative callback":          {callback("/cb"), "http://"},
		"a callback with a fragment":   {callback("http://s.example/cb#top"), "fragment"},
		"an empty fragment":            {callback("http://s.example/cb#"), "fragment"},
		"a callback with a user":       {callback("http://user:secret@s.example/cb"), "user name"},
		"a callback with a space":      {callback("http://s.example/c b"), "space"},
		"a callback with a line end":   {callback("http://s.example/cb\r\nX: y"), "space"},
		"a callback with a backslash":  {callback(`http://s.example\@t.example/`), "backslash"},
		"a callback that is too long":  {callback("http://s.example/" + strings.Repeat("c", 2048-16)), "2049 bytes"},
		"a topic with a fragment":      {topic("http://t.example/#x"), "hub.topic"},
		"a topic over ftp":             {topic("ftp://t.example/"), "hub.topic"},
		"a lease of -1":                {lease("-1"), `hub.lease_seconds is "-1"`},
		"a lease of 0":                 {lease("0"), "hub.lease_seconds is 0"},
		"a lease of 00":                {lease("00"), "hub.lease_seconds is 0"},
		"a lease with a plus":          {lease("+60"), "decimal"},
		"a lease with a point":         {lease("60.5"), "decimal"},
		"a lease in words":             {lease("forever"), "decimal"},
		"a lease in hexadecimal":       {lease("0x10"), "decimal"},
		"a secret of 200 bytes":        {subscribe("hub.secret", strings.Repeat("x", 200)), "hub.secret is 200 bytes long"},
		"a secret of 100 characters":   {subscribe("hub.secret", strings.Repeat("ü", 100)), "hub.secret is 200 bytes long"},
		"nothing to publish":           {form("hub.mode", "publish"), "No topic is named"},
		"fifty-one topics":             {form(append(urls, "hub.mode", "publish")...), "More than 50"},
		"a broken escape":              {subscribe() + "&x=%2", "percent sign"},
		"a broken name":                {subscribe() + "&%=1", "percent sign"},
		"a semicolon":                  {subscribe() + "&a=b;c=d", "a ; in"},
		"a NUL":                        {subscribe() + "&a=%00", "NUL"},
		"Latin-1":                      {subscribe() + "&a=%FC", "UTF-8"},
		"too many fields":              {subscribe() + fields + "&a=b", "200 fields"},
	} {
		got, err := websub.ParseRequest([]byte(c.body))
		e, ok := errors.AsType[*websub.Error](err)
		if !ok || e.Status != 400 || !strings.Contains(e.Msg, c.want) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		if d := cmp.Diff(websub.Request{Mode: got.Mode}, got); d != "" {
			t.Errorf("%s: a request was returned with the error\n%s", name, d)
		}
	}
	if _, err := websub.ParseRequest([]byte(subscribe() + fields)); err != nil {
		t.Errorf("200 fields: %v", err)
	}
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func TestUnsupportedBodyIsRejected(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		body   io.Reader
		header []string
		status int // expected status; 0: the request is accepted
	}{
		"a form":                           {strings.NewReader(subscribe()), []string{"Content-Type", "application/x-www-form-urlencoded"}, 0},
		"a form with a charset":            {strings.NewReader(subscribe()), []string{"Content-Type", "Application/X-WWW-Form-URLencoded; charset=UTF-8"}, 0},
		"broken parameters":                {strings.NewReader(subscribe()), []string{"Content-Type", "application/x-www-form-urlencoded; charset"}, 0},
		"no type":                          {strings.NewReader(subscribe()), nil, 0},
		"plain text":                       {strings.NewReader(subscribe()), []string{"Content-Type", "text/plain"}, 0},
		"identity":                         {strings.NewReader(subscribe()), []string{"Content-Encoding", "identity"}, 0},
		"multipart":                        {strings.NewReader(subscribe()), []string{"Content-Type", "multipart/form-data; boundary=x"}, 415},
		"JSON":                             {strings.NewReader(subscribe()), []string{"Content-Type", "application/json"}, 415},
		"gzip":                             {strings.NewReader(subscribe()), []string{"Content-Encoding", "gzip"}, 415},
		"too large":                        {strings.NewReader(subscribe() + strings.Repeat("&", 64<<10)), nil, 413},
		"too large without Content-Length": {io.MultiReader(strings.NewReader(subscribe() + strings.Repeat("&", 64<<10))), nil, 413},
		"truncated":                        {io.MultiReader(strings.NewReader(subscribe()), broken{}), nil, 400},
	} {
		r := httptest.NewRequest("POST", "/websub", c.body)
		for i := 0; i+1 < len(c.header); i += 2 {
			r.Header.Set(c.header[i], c.header[i+1])
		}
		_, err := websub.ReadRequest(r)
		status := 0
		if e, ok := errors.AsType[*websub.Error](err); ok {
			status = e.Status
		} else if err != nil {
			status = -1
		}
		if status != c.status {
			t.Errorf("%s: %v", name, err)
		}
	}
	r := httptest.NewRequest("POST", "/websub", strings.NewReader(strings.Repeat("&", 100)))
	r.Body = http.MaxBytesReader(httptest.NewRecorder(), r.Body, 10)
	if _, err := websub.ReadRequest(r); err == nil || !strings.Contains(err.Error(), "larger than 64 KiB") {
		t.Errorf("a limit of the server: %v", err)
	}
	if _, err := websub.ReadRequest(&http.Request{Header: http.Header{}}); err == nil {
		t.Error("a missing body was accepted as a request")
	}
}

func TestRequestRoundTrip(t *testing.T) {
	t.Parallel()
	s := websub.Subscription{Callback: testCallback, Topic: testTopic, Lease: time.Hour, Secret: "a&b=ü %"}
	for _, q := range []websub.Request{
		{Mode: "subscribe", Subscription: s},
		{Mode: "unsubscribe", Subscription: websub.Subscription{Callback: testCallback, Topic: testTopic}},
		{Mode: "publish", URLs: []string{testTopic}},
		{Mode: "publish", URLs: []string{testTopic, "http://other.example/"}},
	} {
		got, err := websub.ParseRequest(q.Encode())
		if d := cmp.Diff(q, got); err != nil || d != "" {
			t.Errorf("%s: %v\n%s", q.Encode(), err, d)
		}
	}
	if got := string(websub.Request{Mode: "unsubscribe", Subscription: s}.Encode()); strings.Contains(got, "secret") || strings.Contains(got, "lease") {
		t.Errorf("unsubscribe sends a secret: %s", got)
	}
}

func TestLeasesAreClamped(t *testing.T) {
	t.Parallel()
	for asked, want := range map[time.Duration]time.Duration{
		0: websub.MaxLease, -time.Second: websub.MaxLease, 1: websub.MinLease, time.Second: websub.MinLease,
		300 * time.Second: 300 * time.Second, time.Hour + time.Millisecond: time.Hour,
		864_000 * time.Second: websub.MaxLease, 864_001 * time.Second: websub.MaxLease, 1<<63 - 1: websub.MaxLease,
	} {
		if got := websub.ClampLease(asked); got != want {
			t.Errorf("%s: %s, want %s", asked, got, want)
		}
	}
}

func TestLeaseAboveMaximumIsReducedToMaximum(t *testing.T) {
	t.Parallel()
	for _, seconds := range []string{"9223372037", "9223372036854775807", "99999999999999999999999"} {
		q, err := websub.ParseRequest([]byte("hub.mode=subscribe&hub.topic=http://t.example/&hub.callback=http://c.example/&hub.lease_seconds=" + seconds))
		if err != nil || q.Subscription.Lease < websub.MaxLease || websub.ClampLease(q.Subscription.Lease) != websub.MaxLease {
			t.Errorf("%s: %s, %v", seconds, q.Subscription.Lease, err)
		}
	}
}
