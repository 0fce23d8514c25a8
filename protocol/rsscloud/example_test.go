package rsscloud_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"cloudburst/protocol/rsscloud"
)

func ExampleFindCloud() {
	feed := []byte(`<rss version="2.0"><channel>
		<cloud domain="cloud.example.org" port="5337" path="/rsscloud/pleaseNotify" registerProcedure="" protocol="http-post" />
	</channel></rss>`)
	cloud, err := rsscloud.FindCloud(feed, "http://example.com/rss.xml")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(cloud.RegisterURL())
	fmt.Println(cloud.PingURL())
	// Output:
	// http://cloud.example.org:5337/rsscloud/pleaseNotify <nil>
	// http://cloud.example.org:5337/rsscloud/ping <nil>
}

func ExampleClient_Ping() {
	cloud := httptest.NewServer(&rsscloud.Handler{Backend: friendly()})
	defer cloud.Close()

	endpoint, err := rsscloud.PingEndpoint(rsscloud.HTTPPost, cloud.URL)
	if err != nil {
		fmt.Println(err)
		return
	}
	client := &rsscloud.Client{UserAgent: "example/1.0 (+http://example.com/about)"}
	result, err := client.Ping(context.Background(), rsscloud.HTTPPost, endpoint, "http://example.com/rss.xml")
	fmt.Println(result.Success, result.Msg, err)
	// Output: true Thanks for the ping. <nil>
}

func ExampleSubscriber() {
	aggregator := httptest.NewServer(&rsscloud.Subscriber{
		Wants: func(feed string) bool { return feed == "http://example.com/rss.xml" },
		OnNotify: func(_ context.Context, n rsscloud.Received) {
			fmt.Println("changed:", n.URL)
		},
	})
	defer aggregator.Close()

	cloud := &rsscloud.Client{HTTP: http.DefaultClient}
	ctx := context.Background()
	fmt.Println(cloud.Challenge(ctx, aggregator.URL+"/updated", "http://example.com/rss.xml"))
	fmt.Println(cloud.Notify(ctx, rsscloud.HTTPPost, aggregator.URL+"/updated", "", "http://example.com/rss.xml", 1))
	// Output:
	// <nil>
	// changed: http://example.com/rss.xml
	// <nil>
}

func ExampleRegistration_Form() {
	g := rsscloud.Registration{Port: 5337, Path: "/updated", Protocol: rsscloud.HTTPPost, URLs: []string{"http://example.com/rss.xml"}}
	fmt.Printf("%s\n", g.Form().Encode())
	// Output: notifyProcedure=&port=5337&path=%2Fupdated&protocol=http-post&url1=http%3A%2F%2Fexample.com%2Frss.xml
}
