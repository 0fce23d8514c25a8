package metaweblog_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os"

	"cloudburst/protocol/metaweblog"
	"cloudburst/protocol/xmlrpc"
)

func ExampleClient() {
	server := httptest.NewServer(&xmlrpc.Handler{Methods: (&metaweblog.Server{Backend: newSite()}).Methods()})
	defer server.Close()
	ctx := context.Background()

	c := &metaweblog.Client{URL: server.URL, Blog: "alice", Name: "alice", Password: "secret"}
	id, err := c.NewPost(ctx, metaweblog.Edit{
		Title: new("Hello"), Description: new("<p>Hi there</p>"), Categories: []string{"greetings"}, Publish: new(true),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	post, err := c.Post(ctx, id)
	fmt.Println(post.Title, post.PermaLink, post.Status, err)
	// Output: Hello https://w.example/alice/1 publish <nil>
}

func ExampleRSD_Append() {
	d := metaweblog.RSD{
		Engine: "Cloudburst", EngineLink: "https://w.example/", Home: "https://w.example/alice/",
		APIs: []metaweblog.API{{Name: "MetaWeblog", Preferred: true, Link: "https://w.example/RPC2", BlogID: "alice"}},
	}
	_, _ = os.Stdout.Write(d.Append(nil))
	// Output:
	// <?xml version="1.0" encoding="UTF-8"?>
	// <rsd version="1.0" xmlns="http://archipelago.phrasewise.com/rsd">
	//  <service>
	//   <engineName>Cloudburst</engineName>
	//   <engineLink>https://w.example/</engineLink>
	//   <homePageLink>https://w.example/alice/</homePageLink>
	//   <apis>
	//    <api name="MetaWeblog" preferred="true" apiLink="https://w.example/RPC2" blogID="alice"/>
	//   </apis>
	//  </service>
	// </rsd>
}
