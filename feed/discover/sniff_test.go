package discover_test

import (
	"testing"

	"cloudburst/feed/discover"
)

func TestRootElementDeterminesTheFormat(t *testing.T) {
	t.Parallel()
	for doc, want := range map[string]discover.Format{
		`<rss version="0.91">`: discover.RSS,
		"\xef\xbb\xbf \n<?xml?><!-- <feed> --><!DOCTYPE rss PUBLIC \"x\" \"y\"><RSS>": discover.RSS,
		`<!DOCTYPE rss [<!ENTITY a "<feed>">]><rss>`:                                  discover.RSS,
		`<feed version="0.3" xmlns="http://purl.org/atom/ns#">`:                       discover.Atom,
		`<a:feed xmlns:a="http://www.w3.org/2005/Atom"/>`:                             discover.Atom,
		`<rdf:RDF xmlns="http://my.netscape.com/rdf/simple/0.9/">`:                    discover.RDF,
		`<RDF><channel>`:      discover.RDF,
		`<rdf:RDF><Person>`:   "",
		`<CHANNEL HREF="x">`:  discover.CDF,
		`<scriptingNews>`:     discover.ScriptingNews,
		`<redirect>`:          discover.Redirect,
		`<opml version="1">`:  discover.OPML,
		`<html><rss>`:         "",
		`<!DOCTYPE html><rss`: "rss",
		`<entry xmlns="http://www.w3.org/2005/Atom">`: "",
		`<urlset>`:          "",
		`<b>noise</b><rss>`: discover.RSS,
		`text only`:         "",
		``:                  "",
		`<`:                 "",
		`<!--`:              "",
		`<?xml`:             "",
		`{"version": "https://jsonfeed.org/version/1"}`:     discover.JSON,
		`{"version": "https:\/\/jsonfeed.org\/version\/1"}`: discover.JSON,
		`{"items": []}`:     "",
		`[]`:                "",
		"\x89PNG\r\n\x1a\n": "",
	} {
		if got := discover.Sniff([]byte(doc), ""); got != want {
			t.Errorf("%q is %q, want %q", doc, got, want)
		}
	}
}
