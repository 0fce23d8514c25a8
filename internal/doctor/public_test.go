package doctor_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cloudburst/internal/doctor"
	"cloudburst/protocol/rsscloud"
)

// everywhere serves one site for all hosts, over http and https.
func (s *site) everywhere() doctor.HTTPClient {
	real := s.url
	transport := &http.Transport{DisableKeepAlives: true}
	return clientFunc(func(r *http.Request) (*http.Response, error) {
		to, err := url.Parse(real)
		if err != nil {
			return nil, err
		}
		asked := r.Clone(r.Context())
		asked.URL.Scheme, asked.URL.Host = "http", to.Host
		res, err := transport.RoundTrip(asked)
		if err == nil {
			res.Request = r
		}
		return res, err
	})
}

func TestProblemsOfPublicFeedsAreReported(t *testing.T) {
	t.Parallel()
	const cloud = `<cloud domain="hub.example" port="80" path="/rsscloud/pleaseNotify" registerProcedure="" protocol="http-post"/>`
	const hub = `<atom:link rel="hub" href="http://hub.example/websub"/>`
	self := func(u string) string { return `<atom:link rel="self" href="` + u + `"/>` }
	for name, c := range map[string]struct {
		url, head string
		site      func(*site)
		want      []string
		says      string
	}{
		"nothing":                      {url: "https://feed.example/rss.xml", head: cloud + hub + self("https://feed.example/rss.xml"), want: []string{}},
		"http":                         {url: "http://feed.example/rss.xml", head: cloud + hub + self("http://feed.example/rss.xml"), want: []string{"feed-insecure note", "page-alternate note"}, says: "over http"},
		"a self of http":               {url: "https://feed.example/rss.xml", head: cloud + hub + self("http://feed.example/rss.xml"), want: []string{"websub-self note", "websub-self-insecure warning"}, says: "ping the hub with it"},
		"a cloud at home":              {url: "https://feed.example/rss.xml", head: strings.ReplaceAll(cloud, "hub.example", "localhost") + hub + self("https://feed.example/rss.xml"), want: []string{"cloud-local problem"}, says: "localhost"},
		"a cloud in a private network": {url: "https://feed.example/rss.xml", head: strings.ReplaceAll(cloud, "hub.example", "192.168.1.7") + hub + self("https://feed.example/rss.xml"), want: []string{"cloud-local problem"}, says: "192.168.1.7"},
		"a hub at home":                {url: "https://feed.example/rss.xml", head: cloud + strings.ReplaceAll(hub, "hub.example", "127.0.0.1") + self("https://feed.example/rss.xml"), want: []string{"websub-local problem"}, says: "127.0.0.1"},
		"to https": {url: "http://feed.example/old", head: cloud + hub + self("https://feed.example/rss.xml"), site: moved("/old", 301, "https://feed.example/rss.xml"),
			want: []string{"redirect note"}, says: "from http to https"},
		"to http": {url: "https://feed.example/old", head: cloud + hub + self("http://feed.example/rss.xml"), site: moved("/old", 308, "http://feed.example/rss.xml"),
			want: []string{"redirect warning", "feed-insecure note", "page-alternate note"}, says: "some readers do not follow"},
		"to another host": {url: "https://www.feed.example/old", head: cloud + hub + self("https://feed.example/rss.xml"), site: moved("/old", 301, "https://feed.example/rss.xml"),
			want: []string{"redirect note"}, says: "host changes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, c.site)
			client := s.everywhere()
			s.url = "https://feed.example"
			s.body = rss(c.head, goodItems)
			r, err := (&doctor.Doctor{HTTP: client}).Examine(t.Context(), c.url, nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, found(r)); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
			if len(c.want) > 0 {
				id, _, _ := strings.Cut(c.want[0], " ")
				if text := textOf(r, id); !strings.Contains(text, c.says) {
					t.Errorf("%q has no %q", text, c.says)
				}
			}
		})
	}
}

func TestSlowServerIsReported(t *testing.T) {
	t.Parallel()
	for each, want := range map[time.Duration]string{time.Second: "", 3 * time.Second: "feed-time note", 11 * time.Second: "feed-time warning"} {
		s := newSite(t, nil)
		now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
		r := s.examine(t, &doctor.Doctor{Now: func() time.Time { now = now.Add(each); return now }}, "/rss.xml")
		if got := strings.Join(found(r), " "); got != want {
			t.Errorf("%s a step: %s, want %s", each, got, want)
		}
	}
}

func TestSOAPFaultCountsAsResponseOfAHub(t *testing.T) {
	t.Parallel()
	head := `<cloud domain="HOST" port="PORT" path="/soap" registerProcedure="pleaseNotify" protocol="soap"/>` + hubLink + selfLink
	fault := `<Envelope xmlns="http://schemas.xmlsoap.org/soap/envelope/"><Body><Fault><faultcode>Client</faultcode><faultstring>No.</faultstring></Fault></Body></Envelope>`
	check(t, map[string]wrong{
		"a hub":  {site: all(body(rss(head, goodItems)), func(s *site) { s.paths["/soap"] = answer(500, fault) }), want: []string{"ping-rsscloud problem"}, says: "No."},
		"a page": {site: all(body(rss(head, goodItems)), func(s *site) { s.paths["/soap"] = answer(200, "hello") }), want: []string{"cloud-door warning", "ping-rsscloud problem"}, says: "a SOAP server"},
	})
}

func TestEndpointCheckCreatesNoSubscription(t *testing.T) {
	t.Parallel()
	var forms []string
	s := newSite(t, func(s *site) {
		for _, path := range []string{"/rsscloud/pleaseNotify", "/websub"} {
			s.paths[path] = func(w http.ResponseWriter, r *http.Request) {
				if err := r.ParseForm(); err != nil {
					t.Error(err)
				}
				forms = append(forms, r.Method+" "+r.URL.Path+" "+r.PostForm.Encode())
				w.WriteHeader(http.StatusBadRequest)
				fmt.Fprintf(w, "%s", rsscloud.Result{Msg: "What?"}.XML(rsscloud.NotifyResultElement))
			}
		}
	})
	r := s.examine(t, &doctor.Doctor{NoPing: true}, "/rss.xml")
	if diff := cmp.Diff([]string{"POST /rsscloud/pleaseNotify ", "POST /websub "}, forms); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"ping note"}, found(r)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
