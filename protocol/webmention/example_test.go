package webmention_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"cloudburst/protocol/webmention"
)

// Send notifies every page to which a post links.
func ExampleClient_Send() {
	notify := func(ctx context.Context, c *webmention.Client, post string, doc []byte) error {
		for _, target := range webmention.Links(doc, "text/html", post) {
			d, err := c.Discover(ctx, target)
			if errors.Is(err, webmention.ErrNoEndpoint) {
				continue
			}
			if err == nil {
				_, err = c.Send(ctx, d.Endpoint, webmention.Request{Source: post, Target: target})
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	err := notify(context.Background(), &webmention.Client{}, "https://me.example/post", []byte("<p>No links"))
	fmt.Println(err)
	// Output: <nil>
}

func ExampleEndpoint() {
	header := http.Header{"Content-Type": {"text/html"}}
	fmt.Println(webmention.Endpoint(header, "https://you.example/post", []byte(`<link rel="webmention" href="/webmention">`)))
	// Output: https://you.example/webmention true
}

func ExampleLinkHeader() {
	fmt.Println(webmention.LinkHeader("https://me.example/webmention"))
	// Output: <https://me.example/webmention>; rel="webmention"
}
