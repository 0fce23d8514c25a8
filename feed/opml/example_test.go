package opml_test

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"cloudburst/feed/opml"
)

const list = `<opml version="2.0">
  <head><title>What I read</title></head>
  <body>
    <outline text="Weather">
      <outline text="Storms" type="rss" xmlUrl="https://storms.example.org/rss.xml"/>
      <outline text="Tides" type="rss" xmlUrl="https://tides.example.org/feed"/>
    </outline>
    <outline text="A friend" type="rss" xmlUrl="https://friend.example.net/atom.xml"/>
  </body>
</opml>`

func ExampleParse() {
	d, err := opml.Parse(strings.NewReader(list), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(d.Head.Title, d.Version)
	fmt.Println(d.Outlines[0].Text, len(d.Outlines[0].Outlines))
	// Output:
	// What I read 2.0
	// Weather 2
}

func ExampleParse_notOPML() {
	_, err := opml.Parse(strings.NewReader("<!DOCTYPE html><html><title>Sign in</title></html>"), nil)
	if no, ok := errors.AsType[*opml.NotOPMLError](err); ok {
		fmt.Println(no.Looks)
	}
	fmt.Println(err)
	// Output:
	// html
	// opml: not an OPML document: it looks like an HTML page
}

func ExampleDocument_Feeds() {
	d, err := opml.Parse(strings.NewReader(list), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for folders, feed := range d.Feeds() {
		fmt.Println(folders, feed.Text, feed.FeedURL())
	}
	// Output:
	// [Weather] Storms https://storms.example.org/rss.xml
	// [Weather] Tides https://tides.example.org/feed
	// [] A friend https://friend.example.net/atom.xml
}

func ExampleDocument_Add() {
	d := &opml.Document{Head: opml.Head{Title: "Mine"}}
	d.Add(opml.Outline{Text: "Storms", XMLURL: "https://storms.example.org/rss.xml"}, "Weather")
	if _, err := d.WriteTo(os.Stdout); err != nil {
		fmt.Println(err)
	}
	// Output:
	// <?xml version="1.0" encoding="UTF-8"?>
	// <opml version="2.0">
	//   <head>
	//     <title>Mine</title>
	//   </head>
	//   <body>
	//     <outline text="Weather">
	//       <outline text="Storms" type="rss" xmlUrl="https://storms.example.org/rss.xml"/>
	//     </outline>
	//   </body>
	// </opml>
}
