package upstream_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/upstream"
)

// Both URLs may belong to one server, which has one registration of this server's callback. A
// cancellation behind the new registration would end it.
func TestRegistrationAtTheFormerCloudIsCancelledBeforeTheNextOne(t *testing.T) {
	t.Parallel()
	withHarness(t, upstream.Options{}, func(t *testing.T, w *harness) {
		var requests []string
		w.engine.Ask = movingClouds{w, func(text string) { requests = append(requests, text) }}
		f := w.addEndpoint(theCloudEndpoint(), upstream.Reader)
		w.advance(time.Second)
		for _, hub := range []string{"http://second.test/pleaseNotify", "http://second.test/pleaseNotify", "http://third.test/pleaseNotify"} {
			w.addEndpoint(upstream.Endpoint{Protocol: upstream.RSSCloud, Hub: hub, Wire: "http-post"}, upstream.Reader)
			w.advance(time.Second)
		}
		w.state(f, upstream.Active)
		want := []string{
			"register " + cloudURL, "cancel " + cloudURL, "register http://second.test/pleaseNotify",
			"cancel http://second.test/pleaseNotify", "register http://third.test/pleaseNotify",
		}
		if !slices.Equal(requests, want) {
			t.Errorf("requests: %q, want %q", requests, want)
		}
	})
}

// movingClouds records the requests to clouds, which answer no cancellation.
type movingClouds struct {
	*harness
	record func(text string)
}

func (c movingClouds) Ask(_ context.Context, f upstream.Follow) (upstream.Answer, error) {
	c.configure(func() { c.record("register " + f.Hub) })
	return upstream.Answer{Confirmed: true}, nil
}

func (c movingClouds) End(_ context.Context, f upstream.Follow) error {
	c.configure(func() { c.record("cancel " + f.Hub) })
	return fault.New(fault.Unreadable, "The cloud is gone.")
}
