package discover_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"cloudburst/feed/discover"
)

func ExampleHTML() {
	page := []byte(`<html><head><title>Harbour notes</title>
		<link rel="alternate" type="application/rss+xml" title="Comments on Harbour notes" href="/comments.xml">
		<link rel="alternate" type="application/atom+xml" title="Harbour notes" href="/atom.xml">
		</head></html>`)
	r := discover.HTML(page, "https://harbour.example/", http.Header{"Link": {`<https://hub.example/>; rel="hub"`}})
	for _, l := range r.Links {
		fmt.Println(l.Kind, l.Format, l.URL, l.Title)
	}
	fmt.Println("hub", r.Hubs[0])
	// Output:
	// feed atom https://harbour.example/atom.xml Harbour notes
	// comments rss https://harbour.example/comments.xml Comments on Harbour notes
	// hub https://hub.example/
}

func ExampleFind() {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, `<!doctype html><title>Harbour notes</title><link rel="alternate" type="application/rss+xml" href="/rss.xml">`)
	}))
	defer site.Close()
	r, err := discover.Find(context.Background(), http.DefaultClient, site.URL)
	if err != nil {
		fmt.Println(err)
		return
	}
	if best, ok := r.Best(); ok {
		fmt.Println("subscribe to", strings.TrimPrefix(best.URL, site.URL))
	}
	// Output: subscribe to /rss.xml
}
