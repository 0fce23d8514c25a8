package river

import (
	"fmt"
	"net/http"
	"testing"

	"cloudburst/feed"
	"cloudburst/internal/fetch"

	"github.com/google/go-cmp/cmp"
)

const rssHead = `<rss version="2.0" xmlns:media="http://search.yahoo.com/mrss/" xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd" xmlns:content="http://purl.org/rss/1.0/modules/content/"
 xmlns:source="http://source.scripting.com/" xmlns:thr="http://purl.org/syndication/thread/1.0" xmlns:dc="http://purl.org/dc/elements/1.1/"><channel><title>F</title><language>de</language>`

func TestPushEndpointsAreFoundInFeedsAndHeaders(t *testing.T) {
	t.Parallel()
	atom := `<feed xmlns="http://www.w3.org/2005/Atom"><title>F</title>%s<entry><id>1</id><title>a</title></entry></feed>`
	for name, c := range map[string]struct {
		doc     string
		header  http.Header
		want    []PushEndpoint
		topic   string
		problem string
	}{
		"none": {doc: rssHead + "</channel></rss>"},
		"a cloud of 2009": {
			doc:  rssHead + `<cloud domain="cloud.test" port="5337" path="/rsscloud/pleaseNotify" registerProcedure="" protocol="http-post"/></channel></rss>`,
			want: []PushEndpoint{{Protocol: "rsscloud", Hub: "http://cloud.test:5337/rsscloud/pleaseNotify", Wire: "http-post"}},
		},
		"a cloud of 2003, over TLS": {
			doc:  rssHead + `<cloud domain="cloud.test" port="443" path="/RPC2" registerProcedure="xmlStorageSystem.rssPleaseNotify" protocol="xml-rpc"/></channel></rss>`,
			want: []PushEndpoint{{Protocol: "rsscloud", Hub: "https://cloud.test/RPC2", Wire: "xml-rpc", Procedure: "xmlStorageSystem.rssPleaseNotify"}},
		},
		"no domain is the feed's own": {
			doc:  rssHead + `<cloud domain="" port="80" path="/?rsscloud=notify" registerProcedure="" protocol="http-post"/></channel></rss>`,
			want: []PushEndpoint{{Protocol: "rsscloud", Hub: "http://feeds.test/?rsscloud=notify", Wire: "http-post"}},
		},
		"invalid clouds": {
			doc:     rssHead + `<cloud domain="a b" port="80" path="/" protocol="http-post"/><cloud domain="c.test" port="99999" path="/" protocol="http-post"/><cloud domain="c.test" port="80" path="/" protocol="smoke"/></channel></rss>`,
			problem: `The <cloud> is not used: its protocol is "smoke", which must be http-post, https-post, xml-rpc or soap.`,
		},
		"the name of a protocol is case-sensitive": {
			doc:     rssHead + `<cloud domain="c.test" port="80" path="/a" registerProcedure="" protocol="HTTP-POST"/><cloud domain="c.test" port="80" path="/RPC2" registerProcedure="p" protocol=" xml-rpc "/></channel></rss>`,
			want:    []PushEndpoint{{Protocol: "rsscloud", Hub: "http://c.test/RPC2", Wire: "xml-rpc", Procedure: "p"}},
			problem: `The <cloud> is not used: its protocol is "HTTP-POST", and the name is http-post, in lowercase.`,
		},
		"WebSub in Atom": {
			doc:  fmt.Sprintf(atom, `<link rel="hub" href="https://hub.test/"/><link rel="hub" href="https://hub.test/"/><link rel="self" href="https://feeds.test/self"/>`),
			want: []PushEndpoint{{Protocol: "websub", Hub: "https://hub.test/"}}, topic: "https://feeds.test/self",
		},
		"headers come first": {
			doc:    fmt.Sprintf(atom, `<link rel="hub" href="https://hub.test/"/><link rel="self" href="https://feeds.test/self"/>`),
			header: http.Header{"Link": {`<https://other.test/>; rel="hub", <https://feeds.test/other>; rel="self"`}},
			want:   []PushEndpoint{{Protocol: "websub", Hub: "https://other.test/"}}, topic: "https://feeds.test/other",
		},
		"JSON Feed": {
			doc:  `{"version":"https://jsonfeed.org/version/1.1","title":"F","feed_url":"https://feeds.test/f","hubs":[{"type":"rssCloud","url":"https://c.test"},{"type":"WebSub","url":"https://hub.test/"}],"items":[]}`,
			want: []PushEndpoint{{Protocol: "websub", Hub: "https://hub.test/"}, {Protocol: "rsscloud", Hub: "https://c.test/rsscloud/pleaseNotify", Wire: "http-post"}}, topic: "https://feeds.test/f",
		},
		"an invalid hub URL": {doc: fmt.Sprintf(atom, `<link rel="hub" href="javascript:x"/>`)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, err := feed.ParseBytes([]byte(c.doc), &feed.Options{URL: "https://feeds.test/rss.xml"})
			if err != nil {
				t.Fatal(err)
			}
			s := Source{URL: "https://feeds.test/rss.xml"}
			describe(&s, f, &fetch.Response{Header: c.header, URL: s.URL})
			if d := cmp.Diff(c.want, s.PushEndpoints); d != "" || s.Topic != c.topic {
				t.Errorf("topic %q: %s", s.Topic, d)
			}
			if c.problem != "" && s.About.Problem != c.problem {
				t.Errorf("the problem is %q", s.About.Problem)
			}
			private := Source{URL: s.URL, Login: Login{Kind: LoginBasic}}
			if describe(&private, f, nil); len(private.PushEndpoints) != 0 {
				t.Error("a private feed has push endpoints")
			}
		})
	}
}
