package hubhttp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"cloudburst/internal/fault"
	"cloudburst/internal/upstream"
	"cloudburst/protocol/rsscloud"
	"cloudburst/protocol/xmlrpc"

	"github.com/google/go-cmp/cmp"
)

// oldCloud is a cloud that is called by XML-RPC. It accepts some registrations only.
type oldCloud struct {
	*httptest.Server
	likes func(g rsscloud.Registration) bool

	mu    sync.Mutex
	asked []rsscloud.Registration
}

func newOldCloud(t *testing.T, likes func(g rsscloud.Registration) bool) *oldCloud {
	t.Helper()
	c := &oldCloud{likes: likes}
	please := func(_ context.Context, params []any) (any, error) {
		g, err := rsscloud.RegistrationFromParams(params)
		if err != nil {
			return nil, err
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.asked = append(c.asked, g)
		if !c.likes(g) {
			return nil, errors.New("not like this")
		}
		return true, nil
	}
	c.Server = httptest.NewServer(&xmlrpc.Handler{
		Methods: []xmlrpc.Method{{Name: "rssCloud.pleaseNotify", Do: please}, {Name: "xmlStorageSystem.rssPleaseNotify", Do: please}},
		FaultOf: func(err error) *xmlrpc.Fault { return &xmlrpc.Fault{Code: 4, String: err.Error()} },
	})
	t.Cleanup(c.Close)
	return c
}

func TestRSSCloudProtocolsAreTriedInOrder(t *testing.T) {
	t.Parallel()
	const old, newer = "xmlStorageSystem.rssPleaseNotify", "rssCloud.pleaseNotify"
	form := rsscloud.Registration{Port: 80, Path: "/notify/rsscloud", Protocol: rsscloud.HTTPPost, URLs: []string{feed}, Domain: "me.example"}
	call := rsscloud.Registration{Procedure: "rssCloud.notify", Port: 80, Path: "/notify/RPC2", Protocol: rsscloud.XMLRPC, URLs: []string{feed}, Domain: "me.example"}
	five := call
	five.Domain = ""
	address := call
	address.Domain = "192.0.2.1"
	secure, bare := call, five
	secure.Port, bare.Port = 443, 443
	each := func(rsscloud.Registration) bool { return true }
	none := func(rsscloud.Registration) bool { return false }
	forms := func(g rsscloud.Registration) bool { return g.Protocol == rsscloud.HTTPPost }
	for name, c := range map[string]struct {
		procedure, public, before string
		likes                     func(g rsscloud.Registration) bool
		asked                     []rsscloud.Registration
		agreed                    string
	}{
		"interface of 2009":                        {newer, "http://me.example", "", each, []rsscloud.Registration{call}, "xml-rpc domain"},
		"interface of 2009, five parameters":       {newer, "http://me.example", "", func(g rsscloud.Registration) bool { return g.Domain == "" }, []rsscloud.Registration{call, five}, "xml-rpc"},
		"interface of 2009, only forms":            {newer, "http://me.example", "", forms, []rsscloud.Registration{call, five, form}, "http-post domain"},
		"interface of the last registration":       {newer, "http://me.example", "http-post domain", each, []rsscloud.Registration{form}, "http-post domain"},
		"interface of the last registration fails": {newer, "http://me.example", "http-post domain", func(g rsscloud.Registration) bool { return g.Protocol == rsscloud.XMLRPC }, []rsscloud.Registration{form, call}, "xml-rpc domain"},
		"interface of 2003":                        {old, "http://me.example", "", func(g rsscloud.Registration) bool { return g.Domain == "" }, []rsscloud.Registration{five}, "xml-rpc"},
		"interface of 2003, with domain":           {old, "http://me.example", "", func(g rsscloud.Registration) bool { return g.Domain != "" }, []rsscloud.Registration{five, call}, "xml-rpc domain"},
		"interface of 2003, over TLS":              {old, "https://me.example", "", func(g rsscloud.Registration) bool { return g.Domain == "" }, []rsscloud.Registration{secure, bare}, "xml-rpc"},
		"interface of 2003, no host name":          {old, "http://192.0.2.1", "", none, []rsscloud.Registration{five, address}, ""},
		"interface of 2009, no host name":          {newer, "http://192.0.2.1", "", func(g rsscloud.Registration) bool { return g.Domain != "" }, []rsscloud.Registration{five, address}, "xml-rpc domain"},
		"refusal":                                  {old, "http://me.example", "", none, []rsscloud.Registration{five, call}, ""},
		"interface of 2009, over TLS": {newer, "https://me.example:8443", "", func(g rsscloud.Registration) bool { return g.Protocol == rsscloud.HTTPSPost }, []rsscloud.Registration{
			{Port: 8443, Path: "/notify/rsscloud", Protocol: rsscloud.HTTPSPost, URLs: []string{feed}, Domain: "me.example"},
		}, "http-post domain"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cloud := newOldCloud(t, c.likes)
			f := follow(upstream.RSSCloud, cloud.URL+"/RPC2")
			f.Wire, f.Proc, f.Notify = rsscloud.XMLRPC, c.procedure, c.before
			a, err := asking(t, c.public).Ask(t.Context(), f)
			if a.Notify != c.agreed || a.Confirmed != (c.agreed != "") || c.agreed == "" && (fault.CodeOf(err) != fault.Refused || !strings.Contains(err.Error(), "not like this")) {
				t.Errorf("%+v, %v", a, err)
			}
			if d := cmp.Diff(c.asked, cloud.asked); d != "" {
				t.Errorf("requests (- want, + got):\n%s", d)
			}
		})
	}
}

// Most clouds are called by a form. The test call of some fails although the challenge succeeds, and
// the reverse.
//
// spec:cloudburst#cloud-fallback
func TestFormsAreSentWithAndWithoutDomain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		public, before, accepted string // accepted: domain that the cloud accepts; "-": none
		domains                  []string
		agreed                   string
	}{
		"host name":                   {"http://me.example", "", "me.example", []string{"me.example"}, "http-post domain"},
		"host name that is unknown":   {"http://me.example", "", "", []string{"me.example", ""}, "http-post"},
		"host name, refusal":          {"http://me.example", "", "-", []string{"me.example", ""}, ""},
		"address":                     {"http://192.0.2.1", "", "", []string{""}, "http-post"},
		"address, another one asks":   {"http://192.0.2.1:5337", "", "192.0.2.1", []string{"", "192.0.2.1"}, "http-post domain"},
		"address, accepted last time": {"http://192.0.2.1", "http-post domain", "192.0.2.1", []string{"192.0.2.1"}, "http-post domain"},
		"host name, over TLS":         {"https://me.example", "", "", []string{"me.example"}, ""},
		"loopback name":               {"http://localhost:5337", "", "-", []string{""}, ""},
		"loopback address":            {"http://127.0.0.1:5337", "", "-", []string{""}, ""},
		"loopback IPv6 address":       {"http://[::1]:5337", "", "-", []string{""}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var domains []string
			cloud := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				domains = append(domains, r.PostFormValue("domain"))
				fmt.Fprintf(w, `<notifyResult success="%t" msg="x"/>`, r.PostFormValue("domain") == c.accepted)
			}))
			defer cloud.Close()
			f := follow(upstream.RSSCloud, cloud.URL+"/pleaseNotify")
			f.Wire, f.Notify = rsscloud.HTTPPost, c.before
			a, err := asking(t, c.public).Ask(t.Context(), f)
			if a.Notify != c.agreed || (err == nil) != (c.agreed != "") || !slices.Equal(domains, c.domains) {
				t.Errorf("asked with the domains %q: %+v, %v", domains, a, err)
			}
		})
	}
}

func TestUnreachableCloudServerIsCalledOnce(t *testing.T) {
	t.Parallel()
	h := newPlayedHub(t)
	h.status = 503
	f := follow(upstream.RSSCloud, h.URL+"/RPC2")
	f.Wire, f.Proc = rsscloud.SOAP, "rssPleaseNotify"
	if a, err := asking(t, "http://me.example").Ask(t.Context(), f); a.Confirmed || fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("%+v, %v", a, err)
	}
	f.Hub = "nonsense"
	if _, err := asking(t, "http://me.example").Ask(t.Context(), f); fault.CodeOf(err) != fault.Invalid {
		t.Errorf("an invalid endpoint: %v", err)
	}
}
