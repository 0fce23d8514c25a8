package publishhttp

import (
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"cloudburst/internal/announce"
	"cloudburst/internal/fault"
	"cloudburst/internal/fetch"
)

func someNews() announce.News {
	return announce.News{User: "ann", Topic: "http://me.example/ann/rss.xml", Name: "Ann's\nfeed & more", Home: "http://me.example/ann/", Version: 3}
}

// targetServer responds to every request in the same way and records the last one.
type targetServer struct {
	*httptest.Server
	got string
}

func targetThat(t *testing.T, status int, header http.Header, body string) *targetServer {
	s := &targetServer{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		s.got = r.Method + " " + r.URL.RequestURI() + "\n" + string(b)
		maps.Copy(w.Header(), header)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(s.Close)
	return s
}

const (
	rpcTrue   = `<?xml version="1.0"?><methodResponse><params><param><value><boolean>1</boolean></value></param></params></methodResponse>`
	rpcThanks = `<?xml version="1.0"?><methodResponse><params><param><value><struct><member><name>flerror</name><value><boolean>0</boolean></value></member><member><name>message</name><value>Thanks for the ping.</value></member></struct></value></param></params></methodResponse>`
	rpcNo     = `<?xml version="1.0"?><methodResponse><params><param><value><struct><member><name>flerror</name><value><boolean>1</boolean></value></member><member><name>message</name><value>Not you.</value></member></struct></value></param></params></methodResponse>`
	rpcFault  = `<?xml version="1.0"?><methodResponse><fault><value><struct><member><name>faultCode</name><value><int>4</int></value></member><member><name>faultString</name><value>Too old.</value></member></struct></value></fault></methodResponse>`
)

func TestEachPingTargetIsPingedByItsProtocol(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		kind, path, body string
		wants            []string
		text             string
	}{
		"rssCloud": {announce.RSSCloud, "/some/ping", `<result success="true" msg="Thanks."/>`,
			[]string{"POST /some/ping\n", "url=http%3A%2F%2Fme.example%2Fann%2Frss.xml"}, "Thanks."},
		"rssCloud without a path": {announce.RSSCloud, "", `<result success="true" msg="Thanks."/>`, []string{"POST /rsscloud/ping\n"}, "Thanks."},
		"rssCloud over XML-RPC":   {announce.RSSCloudRPC, "", rpcTrue, []string{"POST /RPC2\n", "rssCloud.ping", "http://me.example/ann/rss.xml"}, ""},
		"weblogs":                 {announce.Weblogs, "/RPC2", rpcThanks, []string{"weblogUpdates.ping", "Ann's feed &amp; more", "http://me.example/ann/<"}, "Thanks for the ping."},
		"weblogs, extended":       {announce.WeblogsExtended, "/RPC2", rpcThanks, []string{"weblogUpdates.extendedPing", "http://me.example/ann/rss.xml"}, "Thanks for the ping."},
		"GET":                     {announce.Get, "/p?n={0}&u={1}", "Thanks.", []string{"GET /p?n=Ann%27s+feed+%26+more&u=http%3A%2F%2Fme.example%2Fann%2F\n"}, "Thanks."},
		"GET with one place":      {announce.Get, "/p?url={0}", "Thanks.", []string{"GET /p?url=http%3A%2F%2Fme.example%2Fann%2F\n"}, "Thanks."},
		"WebSub":                  {announce.WebSub, "/hub", "", []string{"POST /hub\n", "hub.mode=publish", "http%3A%2F%2Fme.example%2Fann%2Frss.xml"}, "It accepted the ping."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kind := http.Header{"Content-Type": {"text/xml"}}
			if c.kind == announce.Get {
				kind = http.Header{"Content-Type": {"text/plain"}}
			}
			s := targetThat(t, 200, kind, c.body)
			text, err := (&TargetSender{HTTP: s.Client()}).Send(t.Context(), announce.Target{Kind: c.kind, URL: s.URL + c.path}, someNews())
			if err != nil || text != c.text {
				t.Errorf("%q, %v", text, err)
			}
			for _, w := range c.wants {
				if !strings.Contains(s.got, w) {
					t.Errorf("there is no %q in %s", w, s.got)
				}
			}
		})
	}
	if _, err := (&TargetSender{}).Send(t.Context(), announce.Target{Kind: "smoke"}, someNews()); fault.CodeOf(err) != fault.Invalid {
		t.Error(err)
	}
}

func TestRefusedPingsAreDistinguishedFromTemporaryFailures(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		kind   string
		status int
		header http.Header
		body   string
		code   fault.Code
		says   string
		after  time.Duration
	}{
		"refusal by rssCloud":          {announce.RSSCloud, 200, nil, `<result success="false" msg="I do not know you."/>`, fault.Refused, "I do not know you.", 0},
		"missing endpoint":             {announce.RSSCloud, 404, nil, "", fault.Refused, "404 Not Found", 0},
		"flerror":                      {announce.Weblogs, 200, nil, rpcNo, fault.Refused, "Not you.", 0},
		"a fault":                      {announce.RSSCloudRPC, 200, nil, rpcFault, fault.Refused, "Too old.", 0},
		"status 410":                   {announce.WebSub, 410, nil, "", fault.Gone, "410 Gone", 0},
		"redirect":                     {announce.Weblogs, 301, http.Header{"Location": {"/x"}}, "", fault.Refused, "301", 0},
		"too many":                     {announce.Weblogs, 429, http.Header{"Retry-After": {"90"}}, "", fault.Unreadable, "429", 90 * time.Second},
		"temporarily unavailable":      {announce.WebSub, 503, http.Header{"Retry-After": {"Sun, 22 Nov 2026 22:00:00 GMT"}}, "", fault.Unreadable, "503", time.Hour},
		"broken":                       {announce.Get, 500, nil, "", fault.Unreadable, "500", 0},
		"response of another protocol": {announce.RSSCloudRPC, 200, nil, "<html>", fault.Unreadable, "no valid response", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := targetThat(t, c.status, c.header, c.body)
			h := s.Client()
			h.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
			sender := &TargetSender{HTTP: h, Now: func() time.Time { return time.Date(2026, 11, 22, 21, 0, 0, 0, time.UTC) }}
			_, err := sender.Send(t.Context(), announce.Target{Kind: c.kind, URL: s.URL + "/x"}, someNews())
			if fault.CodeOf(err) != c.code || !strings.Contains(fault.Message(err), c.says) || fault.RetryAfter(err) != c.after {
				t.Errorf("%v (%s, %s)", err, fault.CodeOf(err), fault.RetryAfter(err))
			}
		})
	}
}

func TestPingTargetAtForbiddenAddressIsRefused(t *testing.T) {
	t.Parallel()
	doer := fetch.NewDoer(fetch.DoerOptions{}) // this Doer rejects private addresses
	defer doer.CloseIdle()
	for _, kind := range announce.Kinds() {
		s := targetThat(t, 200, nil, "")
		_, err := (&TargetSender{HTTP: doer}).Send(t.Context(), announce.Target{Kind: kind, URL: s.URL + "/x"}, someNews())
		if fault.CodeOf(err) != fault.Refused || s.got != "" {
			t.Errorf("%s: %v, %q", kind, err, s.got)
		}
		if strings.Contains(fault.Message(err), "127.0.0.1") {
			t.Errorf("%s reveals our network: %s", kind, fault.Message(err))
		}
	}
	s := targetThat(t, 200, nil, "")
	s.Close()
	_, err := (&TargetSender{HTTP: http.DefaultClient}).Send(t.Context(), announce.Target{Kind: announce.WebSub, URL: s.URL + "/x"}, someNews())
	if fault.CodeOf(err) != fault.Unreadable {
		t.Errorf("no server: %v", err)
	}
}
