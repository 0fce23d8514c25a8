package weblogs_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"time"

	"cloudburst/protocol/weblogs"
	"cloudburst/protocol/xmlrpc"
)

func ExampleClient_ExtendedPing() {
	server := httptest.NewServer(&xmlrpc.Handler{Methods: weblogs.Methods(&backend{})})
	defer server.Close()

	client := &weblogs.Client{UserAgent: "example/1.0 (+http://example.com/about)"}
	result, err := client.ExtendedPing(context.Background(), server.URL, weblogs.Ping{
		Name: "The Harbour", URL: "http://harbour.example/", FeedURL: "http://harbour.example/rss.xml", Tags: []string{"ships"},
	})
	fmt.Println(result.Err, result.Message, err)
	// Output: false Thanks for the ping. <nil>
}

func ExampleChanges_Append() {
	now := time.Date(2007, 1, 13, 19, 8, 0, 0, time.UTC)
	list := weblogs.Changes{Updated: now, Count: 1, List: []weblogs.Weblog{
		{Name: "The Harbour", URL: "http://harbour.example/", When: now.Add(-3 * time.Minute)},
	}}
	_, _ = os.Stdout.Write(list.Append(nil, time.Minute))
	// Output:
	// <?xml version="1.0" encoding="UTF-8"?>
	// <weblogUpdates version="2" updated="Sat, 13 Jan 2007 19:08:00 GMT" count="1">
	//  <weblog name="The Harbour" url="http://harbour.example/" when="3"/>
	// </weblogUpdates>
}

func ExampleReadChanges() {
	doc := []byte(`<weblogUpdates version="2" updated="Sat, 13 Jan 2007 19:08:00 GMT" count="2000001">
	 <weblog name="The Harbour" url="http://harbour.example/" when="1"/>
	</weblogUpdates>`)
	list, err := weblogs.ReadChanges(doc, weblogs.ReadOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, w := range list.List {
		fmt.Println(w.When.Format(time.TimeOnly), w.Name, w.URL)
	}
	// Output: 19:07:00 The Harbour http://harbour.example/
}
