package rsscloud_test

import (
	"net/http"
	"testing"

	"cloudburst/protocol/rsscloud"
)

func TestOutcomeRoundTrip(t *testing.T) {
	t.Parallel()
	for want, o := range map[string]rsscloud.Outcome{
		`changed; page="http://hub.example/topics/12?a=\"b"; subscribers=2`: {State: rsscloud.OutcomeChanged, Subscribers: 2, Page: `http://hub.example/topics/12?a="b`},
		`unchanged`:             {State: rsscloud.OutcomeUnchanged, Subscribers: -1},
		`nobody; subscribers=0`: {State: rsscloud.OutcomeNoSubscribers},
	} {
		if got := o.String(); got != want {
			t.Errorf("%+v is %s; want %s", o, got, want)
		}
		got, ok := rsscloud.OutcomeOf(http.Header{rsscloud.OutcomeHeader: {o.String()}})
		if got.Page != "" {
			got.Page = o.Page // quotes are percent-encoded
		}
		if !ok || got != o {
			t.Errorf("%s is parsed as %+v, %v", o, got, ok)
		}
	}
}

func TestInvalidOutcomeIsIgnored(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "text/html", ";", "changed; =", "a b"} {
		if o, ok := rsscloud.OutcomeOf(http.Header{rsscloud.OutcomeHeader: {text}}); ok {
			t.Errorf("%q is parsed as %+v", text, o)
		}
	}
	o, ok := rsscloud.OutcomeOf(http.Header{rsscloud.OutcomeHeader: {`changed; subscribers=-3; page="javascript:alert(1)"`}})
	if want := (rsscloud.Outcome{State: rsscloud.OutcomeChanged, Subscribers: -1}); !ok || o != want {
		t.Errorf("%+v, %v", o, ok)
	}
}

func TestOutcomeIsReturnedIfPreferHeaderRequestsIt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		values []string
		want   bool
	}{{nil, false}, {[]string{"hub-outcome"}, true}, {[]string{"wait=3, Hub-Outcome"}, true}, {[]string{"wait=3", "hub-outcome"}, true}, {[]string{"hub-outcomes"}, false}} {
		if got := rsscloud.WantsOutcome(http.Header{"Prefer": c.values}); got != c.want {
			t.Errorf("%q: %v", c.values, got)
		}
	}
}
