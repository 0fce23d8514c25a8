package websub_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"time"

	"cloudburst/protocol/websub"
)

func ExampleClient_Subscribe() {
	hub := httptest.NewServer(&websub.Handler{Backend: backend{
		subscribe: func(_ context.Context, s websub.Subscription) error {
			fmt.Println("asked for", s.Topic, "for", s.Lease)
			return nil
		},
	}})
	defer hub.Close()

	client := &websub.Client{UserAgent: "example/1.0 (+http://example.com/about)"}
	err := client.Subscribe(context.Background(), hub.URL, websub.Subscription{
		Topic:    "http://example.com/rss.xml",
		Callback: "https://example.org/websub/" + websub.NewToken(),
		Lease:    24 * time.Hour,
		Secret:   websub.NewToken(),
	})
	fmt.Println(err)
	// Output:
	// asked for http://example.com/rss.xml for 24h0m0s
	// <nil>
}

func ExampleHandler() {
	hub := httptest.NewServer(&websub.Handler{Backend: backend{
		publish: func(_ context.Context, urls []string) []error {
			fmt.Println("changed:", urls)
			return make([]error, len(urls))
		},
	}})
	defer hub.Close()

	client := &websub.Client{}
	fmt.Println(client.Publish(context.Background(), hub.URL, "http://example.com/rss.xml", "http://example.com/atom.xml"))
	// Output:
	// changed: [http://example.com/rss.xml http://example.com/atom.xml]
	// <nil>
}

func ExampleVerifyURL() {
	fmt.Println(websub.VerifyURL("https://example.org/cb?user=7", websub.Verification{
		Mode: websub.ModeSubscribe, Topic: "http://example.com/rss.xml", Challenge: "k3yb0ard", Lease: time.Hour,
	}))
	fmt.Println(websub.CheckChallenge(200, []byte("k3yb0ard"), "k3yb0ard"))
	fmt.Println(websub.CheckChallenge(200, []byte("you asked k3yb0ard"), "k3yb0ard"))
	// Output:
	// https://example.org/cb?user=7&hub.mode=subscribe&hub.topic=http%3A%2F%2Fexample.com%2Frss.xml&hub.challenge=k3yb0ard&hub.lease_seconds=3600
	// <nil>
	// websub: the callback's response is not the challenge
}

func ExampleSign() {
	signature, err := websub.Sign(websub.SHA256, "secret", []byte("<rss/>"))
	fmt.Println(signature, err)
	fmt.Println(websub.CheckSignature(signature, "secret", []byte("<rss/>")))
	fmt.Println(websub.CheckSignature(signature, "secret", []byte("<rss>forged</rss>")))
	// Output:
	// sha256=5f74509bd137b5135e73bb30f53d1fe7fd111e07cf39bd57970d148c90bb1f2a <nil>
	// <nil>
	// websub: the signature does not match
}

func ExampleLinkHeader() {
	fmt.Println(websub.LinkHeader("https://hub.example.net/websub", "http://example.com/rss.xml"))
	// Output: <https://hub.example.net/websub>; rel="hub", <http://example.com/rss.xml>; rel="self"
}
