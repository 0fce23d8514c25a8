package render

import (
	"slices"
	"testing"

	"cloudburst/feed"
)

func TestInvalidValuesAreDetected(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		what      string
		check     func(string) bool
		good, bad []string
	}{
		{"address", validIRI,
			[]string{"http://a.example/", "https://a.example/日本?x=1&y=%20#z", "urn:isbn:0451450523", "urn:uuid:917393e3-1b1e-5cef-ace4-edaa54e1f810", "tag:a.example,2026:1",
				"tag:me@a.example,2026-01-31:x/y", "mailto:a@b.example", "http://[::1]/", "data:,x", "at://did:plc:x/y"},
			[]string{"", "a", "/a", "a b:c", "http:", "http://", "http:///a", "http://a.example/a b", "http://a.example/\n", "http://a.example/?a[]=1", "http://a.example/\"", "urn:", "urn:x:y",
				"urn:uuid:1", "urn:isbn:", "tag:a.example:1", "tag:a.example,26:1", "tag:A.example,2026:1", "1:2", "http://a.example/\u202e", "http://a.example/\xff", ":x"}},
		{"media type", validMIME,
			[]string{"text/html", "application/atom+xml;type=entry", `text/plain; charset="utf-8"`, "audio/mpeg; a=b; c=d"},
			[]string{"", "text", "text/", "/html", "text/html;", "text/html; charset", "te xt/html", "text/html/x", `a/b; c="d`, "text/html; =x", "tëxt/html"}},
		{"language", validLanguage,
			[]string{"en", "pt-BR", "zh-Hant-TW", "de-at", "iw", "ast", "en-x-pirate"},
			[]string{"", "e", "xx", "english", "en_GB", "en-", "-en", "12", "en-abcdefghi", "日本"}},
		{"duration", isDuration,
			[]string{"0", "90", "1:30", "1:02:03", "100:59:00"},
			[]string{"", "1:2", "1:60", "1:02:03:04", ":30", "1h", "-1", "1.5", "01:2:03"}},
		{"number with decimals", isDecimal,
			[]string{"0", "44.1", "-12.5"}, []string{"", ".", "1.", ".5", "1e3", "+1", "1,5", "NaN"}},
		{"relation", validRel,
			[]string{"alternate", "http://a.example/rel", "next-archive"}, []string{"", "a b", "a:b c", "x/y", "http:"}},
	} {
		for _, s := range c.good {
			if !c.check(s) {
				t.Errorf("%q is a %s", s, c.what)
			}
		}
		for _, s := range c.bad {
			if c.check(s) {
				t.Errorf("%q is not a valid %s", s, c.what)
			}
		}
	}
}

func TestURLsAreEscapedOrOmitted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ base, in, iri, uri string }{
		{"", "http://a.example/a b[]|é", "http://a.example/a%20b%5B%5D%7Cé", "http://a.example/a%20b%5B%5D%7C%C3%A9"},
		{"", "http://[::1]/?a[]", "http://[::1]/?a%5B%5D", "http://[::1]/?a%5B%5D"},
		{"", "a.html", "", ""},
		{"http://a.example/b/", "a.html", "a.html", "http://a.example/b/a.html"},
		{"http://a.example/b/", "x:y z", "x:y%20z", "x:y%20z"},
		{"http://a.example/b/", "::", "", "http://a.example/b/::"},
		{"", "javascript:", "", ""},
		{"", "", "", ""},
	} {
		w := writer{f: &feed.Feed{Base: c.base}}
		if iri, uri := w.iri(c.in, ""), w.uri(c.in, ""); iri != c.iri || uri != c.uri {
			t.Errorf("%q on %q: %q and %q, want %q and %q", c.in, c.base, iri, uri, c.iri, c.uri)
		}
		if (c.iri == "" || c.uri == "") != (len(w.warnings) > 0) && c.in != "" {
			t.Errorf("%q on %q: warnings are %+v", c.in, c.base, w.warnings)
		}
	}
}

// Values that podcast directories or Media RSS do not allow are omitted or corrected, each
// with a warning.
func TestInvalidModuleValuesHaveWarnings(t *testing.T) {
	t.Parallel()
	f := &feed.Feed{
		Title: feed.Text{Value: "T"}, Link: "https://a.example/", Language: "xx",
		ITunes: &feed.ITunes{
			Explicit: "clean", Block: "perhaps", Type: "Serial", Owner: &feed.Person{Name: "n"}, Image: "ftp://a.example/i.png",
			Categories: []feed.Category{{Term: "Arts"}, {Term: "Nonsense", Scheme: "Arts"}, {Term: "Design", Scheme: "Arts"}, {Term: "Knots"}, {Term: "Ropes", Scheme: "Knots"}},
		},
		Items: []feed.Item{{
			ID: "urn:x-test:1", IDFrom: feed.FromID, Title: feed.Text{Value: "t"}, Link: "https://a.example/1",
			ITunes: &feed.ITunes{Duration: "1:2:3", Seconds: 3723, Episode: "four", Season: "0", Type: "FULL"},
			Media: &feed.Media{Contents: []feed.MediaContent{{URL: "https://a.example/1.mp4", Width: "wide", Medium: "Video", Type: "mp4", MediaInfo: feed.MediaInfo{
				Hashes: []feed.MediaHash{{Value: "12"}}, Credits: []feed.MediaCredit{{Role: "Keeper", Name: "N"}, {Role: "Author", Name: "A"}},
				Ratings: []feed.MediaRating{{Value: "good"}}, Restrictions: []feed.MediaRestriction{{Type: "country", Value: "se"}},
			}}}},
		}},
	}
	doc, warnings, err := Append(nil, f, "atom", nil)
	if err != nil {
		t.Fatal(err)
	}
	got := reread(t, doc)
	it, file := got.ITunes, got.Items[0].Media.Contents[0]
	if it.Explicit != "false" || it.Block != "" || it.Type != "serial" || it.Owner != nil || it.Image != "" || len(it.Categories) != 2 || it.Categories[1].Term != "Design" {
		t.Errorf("the feed has %+v", it)
	}
	if it := got.Items[0].ITunes; it.Duration != "3723" || it.Episode+it.Season != "" || it.Type != "full" {
		t.Errorf("the item has %+v", it)
	}
	if file.Width+file.Type != "" || file.Medium != "video" || file.Hashes != nil || file.Ratings != nil || file.Restrictions != nil || file.Credits[0].Role != "" || file.Credits[1].Role != "author" {
		t.Errorf("the file has %+v", file)
	}
	var rules []string
	for _, w := range warnings {
		rules = append(rules, w.Rule)
	}
	slices.Sort(rules)
	for _, rule := range []string{"itunes-category", "itunes-duration", "itunes-explicit", "itunes-owner", "language", "media-type", "value"} {
		if !slices.Contains(rules, rule) {
			t.Errorf("missing warning %q in %q", rule, rules)
		}
	}
}

func TestGeometriesSurviveRoundTripInEveryEncoding(t *testing.T) {
	t.Parallel()
	square := [][]float64{{11, 57}, {12, 57}, {12, 58}, {11, 57}}
	hole := [][]float64{{11.1, 57.1}, {11.2, 57.1}, {11.2, 57.2}, {11.1, 57.1}}
	places := []feed.Geometry{
		{Type: "Point", Coordinates: [][]float64{{11.97, 57.7}}, FeatureName: "Quay & co", FeatureType: "harbour", Relation: "is-at", Elevation: "12.5", Floor: "-1", Radius: 500},
		{Type: "Point", Coordinates: [][]float64{{11.97, 57.7, 3.5}}},
		{Type: "Point", Coordinates: [][]float64{{11.97, 57.7}}, SRS: "urn:ogc:def:crs:OGC:1.3:CRS84"},
		{Type: "Point", Coordinates: [][]float64{{319180, 6398220}}, SRS: "http://www.opengis.net/def/crs/EPSG/0/3006"},
		{Type: "LineString", Coordinates: square[:2]},
		{Type: "Polygon", Coordinates: square},
		{Type: "Polygon", Coordinates: square, Holes: [][][]float64{hole, hole}},
		{Type: "Box", Coordinates: [][]float64{{11, 57}, {12, 58}}},
		{Type: "Circle", Coordinates: [][]float64{{11, 57}}, Radius: 250.5},
		{Type: "Point", Coordinates: [][]float64{{-0.0000001, 1e-9}}},
	}
	for i := range places {
		f := &feed.Feed{Title: feed.Text{Value: "T"}, Link: "https://a.example/", Where: places[i : i+1]}
		for _, format := range []string{"rss20", "rdf", "atom", "atom03"} {
			doc := written(t, f, format)
			got := reread(t, doc)
			if len(got.Where) != 1 || len(got.Unknown) > 0 {
				t.Errorf("%s: %+v became %+v\n%s", format, places[i], got.Where, doc)
				continue
			}
			if g, w := got.Where[0], places[i]; g.Type != w.Type || g.SRS != w.SRS || g.Radius != w.Radius || g.FeatureName != w.FeatureName || g.Floor != w.Floor ||
				!slices.EqualFunc(g.Coordinates, w.Coordinates, slices.Equal) || len(g.Holes) != len(w.Holes) {
				t.Errorf("%s: %+v became %+v\n%s", format, w, g, doc)
			}
		}
	}
	for _, g := range []feed.Geometry{{}, {Type: "Point"}, {Type: "Point", Coordinates: [][]float64{{1}}}, {Type: "Polygon", Coordinates: square[:2]}, {Type: "Star", Coordinates: square}} {
		if validGeometry(&g) {
			t.Errorf("%+v is not a valid geometry", g)
		}
	}
}

func TestMediaTypeParametersAreQuotedIfNecessary(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"application/x-bittorrent;enclosed=audio/mpeg":   `application/x-bittorrent;enclosed="audio/mpeg"`,
		"text/html; a=b/c; charset=utf-8":                `text/html; a="b/c"; charset=utf-8`,
		`application/x-bittorrent;enclosed="audio/mpeg"`: `application/x-bittorrent;enclosed="audio/mpeg"`,
		`text/html; a=b"c`:                               "",
		"text/html;":                                     "",
		"words":                                          "",
	} {
		w := &writer{}
		if got := w.mime(given, "x"); got != want {
			t.Errorf("%s is written %s, want %s", given, got, want)
		}
	}
}
