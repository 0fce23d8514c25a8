package opml_test

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"testing"
	"time"

	"cloudburst/feed/opml"
)

// subscriptions returns a list of n feeds in folders of a hundred, as feed readers export it.
func subscriptions(n int) []byte {
	var b bytes.Buffer
	b.WriteString(`<?xml version="1.0" encoding="UTF-8"?>
<opml version="2.0">
  <head>
    <title>Subscriptions of Iris &amp; Co.</title>
    <dateCreated>Fri, 20 Nov 2026 08:00:00 GMT</dateCreated>
  </head>
  <body>
`)
	for i := range n {
		if i%100 == 0 {
			if i > 0 {
				b.WriteString("    </outline>\n")
			}
			fmt.Fprintf(&b, "    <outline text=\"Folder %d\" title=\"Folder %d\">\n", i/100, i/100)
		}
		name := fmt.Sprintf("The weblog of person %d", i)
		if i%20 == 0 {
			name = fmt.Sprintf("Tom &amp; Ada no. %d", i)
		}
		fmt.Fprintf(&b, "      <outline text=\"%s\" title=\"%s\" type=\"rss\" xmlUrl=\"https://person-%d.example.org/feed/rss.xml\" htmlUrl=\"https://person-%d.example.org/\"/>\n",
			name, name, i, i)
	}
	b.WriteString("    </outline>\n  </body>\n</opml>\n")
	return b.Bytes()
}

// BenchmarkParse parses a list of 10,000 feeds. For comparison, it alternates with encoding/xml,
// which splits the same document into tokens.
func BenchmarkParse(b *testing.B) {
	doc := subscriptions(10_000)
	var ours, theirs time.Duration
	b.ReportAllocs()
	for b.Loop() {
		begin := time.Now()
		d, err := opml.ParseBytes(doc, nil)
		if err != nil || len(d.Outlines) != 100 {
			b.Fatal(len(d.Outlines), err)
		}
		middle := time.Now()
		dec := xml.NewDecoder(bytes.NewReader(doc))
		for {
			if _, err := dec.Token(); err == io.EOF {
				break
			} else if err != nil {
				b.Fatal(err)
			}
		}
		ours, theirs = ours+middle.Sub(begin), theirs+time.Since(middle)
	}
	b.ReportMetric(float64(len(doc))*float64(b.N)/ours.Seconds()/1e6, "MB/s")
	b.ReportMetric(float64(len(doc))*float64(b.N)/theirs.Seconds()/1e6, "MB/s-encoding/xml")
	b.ReportMetric(theirs.Seconds()/ours.Seconds(), "times-encoding/xml")
}

// BenchmarkParseSubscriptionList parses a list only, for profiles and allocation counts.
func BenchmarkParseSubscriptionList(b *testing.B) {
	doc := subscriptions(10_000)
	b.SetBytes(int64(len(doc)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := opml.ParseBytes(doc, nil); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkWrite(b *testing.B) {
	doc := subscriptions(10_000)
	d, err := opml.ParseBytes(doc, nil)
	if err != nil {
		b.Fatal(err)
	}
	var buf []byte
	b.SetBytes(int64(len(doc)))
	b.ReportAllocs()
	for b.Loop() {
		if buf, err = d.AppendXML(buf[:0]); err != nil {
			b.Fatal(err)
		}
	}
}
