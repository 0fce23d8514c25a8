package render_test

import (
	"fmt"
	"os"
	"time"

	"cloudburst/feed"
	"cloudburst/feed/render"
)

func Example() {
	day := feed.Date{UTC: time.Date(2026, 3, 1, 6, 30, 0, 0, time.UTC)}
	f := &feed.Feed{
		Title: feed.Text{Value: "Lighthouse"},
		Link:  "https://lighthouse.example/",
		Items: []feed.Item{{
			ID: "tag:lighthouse.example,2026:1", Title: feed.Text{Value: "Fog & horn"},
			Link: "https://lighthouse.example/fog", Published: day,
			Summary: feed.Text{Value: "<p>It blew.</p>", Type: "text/html"},
		}},
	}
	_, err := render.Write(os.Stdout, f, "rss20", &render.Options{Self: "https://lighthouse.example/rss.xml"})
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// <?xml version="1.0" encoding="UTF-8"?>
	// <rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom">
	//   <channel>
	//     <title>Lighthouse</title>
	//     <link>https://lighthouse.example/</link>
	//     <atom:link rel="self" type="application/rss+xml" href="https://lighthouse.example/rss.xml"/>
	//     <description></description>
	//     <item>
	//       <title>Fog &amp; horn</title>
	//       <link>https://lighthouse.example/fog</link>
	//       <description><![CDATA[<p>It blew.</p>]]></description>
	//       <guid isPermaLink="false">tag:lighthouse.example,2026:1</guid>
	//       <pubDate>Sun, 01 Mar 2026 06:30:00 GMT</pubDate>
	//     </item>
	//   </channel>
	// </rss>
}

// A warning reports content that the format cannot represent, and its replacement.
func ExampleAppend_warnings() {
	f := &feed.Feed{
		Title: feed.Text{Value: "Lighthouse"}, Link: "https://lighthouse.example/",
		Items: []feed.Item{{Summary: feed.Text{Value: "It blew all night."}, Authors: []feed.Person{{Name: "Iris"}}}},
	}
	_, warnings, _ := render.Append(nil, f, "rss090", nil)
	for _, w := range warnings {
		fmt.Printf("%s (%s): %s\n", w.Path, w.Rule, w.Text)
	}
	// Output:
	// item[1]/title (title-made): RSS 0.90 requires a title, and the item has none; its first words are used.
	// item[1]/link (link-made): RSS 0.90 requires a link, and the item has none; the nearest URL is used.
	//  (left-out): RSS 0.90 cannot represent: authors, texts of items.
}
