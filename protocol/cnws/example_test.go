package cnws_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"time"

	"cloudburst/protocol/cnws"
)

// publisher accepts every subscriber.
type publisher struct{}

func (publisher) Subscribe(_ context.Context, s cnws.Subscribe) (cnws.Result, error) {
	return cnws.Result{Status: true, Title: "The news", Description: "Subscribed by " + s.NotificationURL}, nil
}

// A subscriber subscribes at a publisher, and the publisher notifies it of a change.
func Example() {
	subscriber := httptest.NewServer(&cnws.Handler{
		Subscriber: cnws.SubscriberFunc(func(_ context.Context, c cnws.Change) (bool, error) {
			fmt.Println(c.ResourceID, "changed:", c.Title)
			return false, nil // end the subscription
		}),
	})
	defer subscriber.Close()
	endpoint := httptest.NewServer(&cnws.Handler{Publisher: publisher{}})
	defer endpoint.Close()

	var client cnws.Client
	ctx := context.Background()
	r, err := client.Subscribe(ctx, endpoint.URL, cnws.Subscribe{ResourceID: "http://news.example.com/", NotificationURL: subscriber.URL})
	fmt.Println(r.Status, r.Title, err)

	wanted, err := client.Notify(ctx, subscriber.URL, cnws.Change{
		ResourceID: "http://news.example.com/", ChangeTime: time.Date(2003, 4, 7, 21, 59, 33, 0, time.UTC), Title: "Spring",
	})
	fmt.Println(wanted, err)
	// Output:
	// true The news <nil>
	// http://news.example.com/ changed: Spring
	// false <nil>
}
