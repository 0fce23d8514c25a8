package app_test

import (
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cloudburst/client"
	feedformat "cloudburst/feed"
	"cloudburst/feed/discover"
	"cloudburst/feed/opml"
	"cloudburst/feed/polling"
	"cloudburst/feed/render"
	"cloudburst/protocol/rsscloud"
)

// printed is an example in a guide: a document, a call, a header or a URL.
type printed struct {
	file  string // path below testdata/guides: GUIDE/EXAMPLE, where GUIDE is the name of the guide in spec/index.txt
	check func(*guide)
}

// printedExamples lists all examples of the five guides in the order of the guides. The files
// contain the examples byte for byte, including no-break spaces and line breaks within URLs.
func printedExamples() []printed {
	return []printed{
		{"rsscloud-2009/ping-call.txt", pingCallAsPrinted},
		{"rsscloud-2009/ping.txt", pingAsPrinted},
		{"rsscloud-2009/save-rss.txt", saveAsPrinted},
		{"rsscloud-2009/saved-at.txt", savedAtAsPrinted},
		{"rsscloud-2009/cloud-http-post.xml", cloudOfTheGuide},
		{"rsscloud-2009/cloud-xml-rpc.xml", cloudOfTheGuide},
		{"rsscloud-2009/please-notify.txt", pleaseNotifyAsPrinted},
		{"rsscloud-2009/endpoints.txt", endpointsAsPrinted},

		{"rsscloud-2003/cloud.xml", cloudWithoutDomain},

		{"datafeeds-2006/rss.xml", photosInRSS},
		{"datafeeds-2006/enclosure.xml", enclosureAsPrinted},
		{"datafeeds-2006/media-rss.xml", mediaAsPrinted},
		{"datafeeds-2006/rdf.xml", photosInRDF},
		{"datafeeds-2006/atom.xml", photosInAtom},
		{"datafeeds-2006/autodiscovery.html", autodiscoveryAsPrinted},
		{"datafeeds-2006/opml.xml", opmlAsPrinted},
		{"datafeeds-2006/wsse.http", wsseAsPrinted},
		{"datafeeds-2006/digest.txt", digestAsPrinted},

		{"cnws-2003/notification.xml", cnwsNotificationAsPrinted},
		{"cnws-2003/notification-answer.xml", cnwsNotificationAnswerAsPrinted},
		{"cnws-2003/subscribe.xml", cnwsSubscribeAsPrinted},
		{"cnws-2003/subscribe-answer.xml", cnwsSubscribeAnswerAsPrinted},

		{"feedstate-2007/skip.xml", skipAsPrinted},
		{"feedstate-2007/ttl.xml", ttlAsPrinted},
		{"feedstate-2007/sy.xml", syndicationAsPrinted},
		{"feedstate-2007/redirect.xml", redirectAsPrinted},
		{"feedstate-2007/gone.xml", goneAsPrinted},
		{"feedstate-2007/user-agent.txt", userAgentAsPrinted},
		{"feedstate-2007/ping.txt", pingByGetAsPrinted},
		{"feedstate-2007/ping.http", weblogsPingAsPrinted},
		{"feedstate-2007/extended-ping.http", extendedPingAsPrinted},
		{"feedstate-2007/ping-answer.http", pingAnswerAsPrinted},
		{"feedstate-2007/targets.txt", targetsAsPrinted},
		{"feedstate-2007/lists.txt", listsAsPrinted},
		{"feedstate-2007/changes.xml", changesAsPrinted},
	}
}

// guide is one example, together with a running program on which the test tries the example.
type guide struct {
	*testing.T
	doc string // text of the example
	w   *websubHub
}

// TestExamplesInGuidesGiveTheDocumentedResults sends each example to the program, or parses it
// with the program's parser.
func TestExamplesInGuidesGiveTheDocumentedResults(t *testing.T) {
	t.Parallel()
	const root = "testdata/guides"
	w := newWebSubHub(t, nil)
	w.addAlice()
	var listed []string
	for _, e := range printedExamples() {
		listed = append(listed, e.file)
		doc, err := os.ReadFile(path.Join(root, e.file))
		if err != nil {
			t.Error(err)
			continue
		}
		t.Run(e.file, func(t *testing.T) { e.check(&guide{t, strings.TrimSuffix(string(doc), "\n"), w}) })
	}
	var files []string
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files = append(files, name)
		}
		return err
	})
	slices.Sort(listed)
	if diff := cmp.Diff(listed, files); err != nil || diff != "" {
		t.Errorf("the list and the files differ (-list +files):\n%s\n%v", diff, err)
	}
}

// lines returns the lines of the example.
func (g *guide) lines() []string { return strings.Split(g.doc, "\n") }

// parse parses a feed with the program's parser.
func (g *guide) parse(doc string) *feedformat.Feed {
	g.Helper()
	f, err := feedformat.ParseBytes([]byte(doc), &feedformat.Options{URL: "http://www.flickr.com/photos/bees/feed"})
	if err != nil {
		g.Fatal(err)
	}
	return f
}

// writtenAgain writes a feed in its own format and parses the result. It checks that the result
// contains all values of the example.
func (g *guide) writtenAgain(f *feedformat.Feed, format string) {
	g.Helper()
	doc, warnings, err := render.Append(nil, f, format, nil)
	if err != nil {
		g.Fatal(err)
	}
	back := g.parse(string(doc))
	for _, p := range back.Problems {
		g.Errorf("what was written has a problem: %+v", p)
	}
	was := *f
	was.Problems, was.Items = nil, slices.Clone(f.Items)
	for i := range was.Items {
		if was.Items[i].IDFrom != feedformat.FromID { // the writer creates an ID for an item without one
			was.Items[i].ID, was.Items[i].IDFrom = "", ""
		}
	}
	var lost []string
	missing(&lost, "", reflect.ValueOf(was), reflect.ValueOf(*back))
	if len(lost) > 0 {
		g.Errorf("written again, it lacks %q\n%v\n%s", lost, warnings, doc)
	}
}

// missing compares two values of a feed. It appends to lost the path of each value that was
// contains and now does not contain. at is the path of was. now may contain further values.
func missing(lost *[]string, at string, was, now reflect.Value) {
	switch {
	case was.IsZero():
	case was.Type() == reflect.TypeFor[feedformat.Date]():
		if !was.Interface().(feedformat.Date).UTC.Equal(now.Interface().(feedformat.Date).UTC) {
			*lost = append(*lost, at)
		}
	case was.Kind() == reflect.Struct:
		for i := range was.NumField() {
			missing(lost, at+"."+was.Type().Field(i).Name, was.Field(i), now.Field(i))
		}
	case was.Kind() == reflect.Pointer && !now.IsNil():
		missing(lost, at, was.Elem(), now.Elem())
	case was.Kind() == reflect.Slice && was.Type() == reflect.TypeFor[[]feedformat.Link]():
		for _, l := range was.Interface().([]feedformat.Link) { // links may be in any order
			if !slices.Contains(now.Interface().([]feedformat.Link), l) {
				*lost = append(*lost, at+" "+l.Rel)
			}
		}
	case was.Kind() == reflect.Slice && was.Len() == now.Len():
		for i := range was.Len() {
			missing(lost, fmt.Sprintf("%s[%d]", at, i), was.Index(i), now.Index(i))
		}
	case !reflect.DeepEqual(was.Interface(), now.Interface()):
		*lost = append(*lost, fmt.Sprintf("%s (%v, now %v)", at, was, now))
	}
}

// is fails the test if two values differ.
func is[V any](g *guide, what string, got, want V) {
	g.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		g.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func channelWith(element string) string {
	return `<rss version="2.0"><channel><title>t</title><link>http://example.org/</link><description>d</description>` + element + `</channel></rss>`
}

func cloudOfTheGuide(g *guide) {
	c, err := rsscloud.FindCloud([]byte(channelWith(g.doc)), "http://example.org/rss.xml")
	if err != nil {
		g.Fatal(err)
	}
	is(g, "the element, written again", c.String(), g.doc)
	is(g, "where it stands", c.Domain, "rpc.rsscloud.org")
	to, err := c.RegisterURL()
	is(g, "where to register", to, "http://rpc.rsscloud.org:5337"+c.Path)
	if err != nil {
		g.Error(err)
	}
	g.writtenAgain(g.parse(channelWith(g.doc)), "rss20")
	if c.Protocol != rsscloud.HTTPPost {
		is(g, "the procedure", c.RegisterProcedure, "rssCloud.pleaseNotify")
		return
	}
	cfg := conf(g.T, g.TempDir())
	cfg.PublicURL = "http://rpc.rsscloud.org:5337"
	r := start(g.T, cfg)
	get(g.T, r.base+"/") // the server prints the element before it answers
	if err := r.stop(); err != nil {
		g.Fatal(err)
	}
	if !strings.Contains(r.out.String(), g.doc) {
		g.Errorf("a server at that URL prints another element:\n%s", r.out)
	}
}

// The example of 2003 has a <cloud> without a domain. Its domain is the host of the feed.
func cloudWithoutDomain(g *guide) {
	c, err := rsscloud.FindCloud([]byte(channelWith(g.doc)), "http://radio.example/rss.xml")
	if err != nil {
		g.Fatal(err)
	}
	is(g, "the cloud", c, rsscloud.Cloud{Domain: "radio.example", Port: 80, Path: "/RPC2", RegisterProcedure: "xmlStorageSystem.rssPleaseNotify", Protocol: "xml-rpc"})
	g.writtenAgain(g.parse(channelWith(g.doc)), "rss20")
}

// photos checks the content that all three forms of the photo feed have in common. It removes the
// second item from f, and returns the first item.
func (g *guide) photos(f *feedformat.Feed) *feedformat.Item {
	g.Helper()
	is(g, "title", f.Title.Value, "Cal's Photos")
	is(g, "description", f.Subtitle.Value, "A feed of Cal's Photos")
	is(g, "link", f.Link, "http://www.flickr.com/photos/bees/")
	if len(f.Items) != 2 {
		g.Fatalf("%d items", len(f.Items))
	}
	f.Items = f.Items[:1] // the second item of the example is only an ellipsis
	it := &f.Items[0]
	is(g, "title of the item", it.Title.Value, "Andy in a meeting")
	is(g, "link of the item", it.Link, "http://www.flickr.com/photos/bees/63434898/")
	return it
}

func takenAt() time.Time { return time.Date(2005, 11, 15, 3, 22, 41, 0, time.UTC) }

func photosInRSS(g *guide) {
	f := g.parse(g.doc)
	it := g.photos(f)
	is(g, "published", f.Published.UTC, takenAt())
	is(g, "updated", f.Updated.UTC, takenAt())
	is(g, "generator", f.Generator, &feedformat.Generator{Name: "http://www.flickr.com/"})
	is(g, "picture", f.Image, &feedformat.Image{URL: "http://static.flickr.com/33/buddyicons/12037949754@N01.jpg", Title: "Cal's Photos", Link: "http://www.flickr.com/photos/bees/"})
	is(g, "text", it.Summary.Value, "... &html; content here ...")
	is(g, "date", it.Published.UTC, takenAt())
	is(g, "author", it.Authors, []feedformat.Person{{Name: "Cal", Email: "nobody@flickr.com", Raw: "nobody@flickr.com (Cal)"}})
	is(g, "guid", it.ID, "tag:flickr.com,2004:/photo/63434898")
	is(g, "the guid is a URL", it.PermaLink, false)
	g.writtenAgain(f, "rss20")
}

func enclosureAsPrinted(g *guide) {
	item := func(enclosure string) *feedformat.Item {
		return &g.parse(channelWith(`<item><title>t</title><guid>http://example.org/1</guid>` + enclosure + `</item>`)).Items[0]
	}
	if got := item(g.doc).Enclosures; len(got) != 1 {
		g.Errorf("as printed: %+v", got)
	}
	filled := strings.NewReplacer("{url}", "http://example.org/a.mp3", "{mime-type}", "audio/mpeg", "{size}", "4000").Replace(g.doc)
	is(g, "filled in", item(filled).Enclosures, []feedformat.Enclosure{{URL: "http://example.org/a.mp3", Type: "audio/mpeg", Length: 4000}})
	g.writtenAgain(g.parse(channelWith(`<item><title>t</title><guid>http://example.org/1</guid>`+filled+`</item>`)), "rss20")
}

func mediaAsPrinted(g *guide) {
	f := g.parse(strings.Replace(channelWith(g.doc), "<rss ", `<rss xmlns:media="http://search.yahoo.com/mrss" `, 1))
	if len(f.Items) != 1 || f.Items[0].Media == nil || len(f.Items[0].Media.Groups) != 1 {
		g.Fatalf("%+v", f.Items)
	}
	it, group := f.Items[0], f.Items[0].Media.Groups[0]
	is(g, "title", it.Title.Value, "Cool song by an artist")
	is(g, "link", it.Link, "http://www.foo.com/item1.htm")
	var files []string
	for _, c := range group.Contents {
		files = append(files, c.URL+" "+c.Type)
	}
	is(g, "files", files, []string{
		"http://www.foo.com/song64kbps.mp3 audio/mpeg", "http://www.foo.com/song128kbps.mp3 audio/mpeg", "http://www.foo.com/song256kbps.mp3 audio/mpeg",
		"http://www.foo.com/song512kbps.mp3.torrent application/x-bittorrent;enclosed=audio/mpeg", "http://www.foo.com/song.wav audio/x-wav",
	})
	// A parameter value that contains a slash must be quoted, and the writer adds the quotes.
	group.Contents[3].Type = `application/x-bittorrent;enclosed="audio/mpeg"`
	g.writtenAgain(f, "rss20")
	group.Contents[3].Type = "application/x-bittorrent;enclosed=audio/mpeg"
	doc, _, err := render.Append(nil, f, "rss20", nil)
	if err != nil || !strings.Contains(string(doc), `type="application/x-bittorrent;enclosed=&quot;audio/mpeg&quot;"`) {
		g.Errorf("the type of the torrent is lost: %v\n%s", err, doc)
	}
}

func photosInRDF(g *guide) {
	f := g.parse(g.doc)
	it := g.photos(f)
	is(g, "date of the feed", f.Published.UTC.Equal(takenAt()) || f.Updated.UTC.Equal(takenAt()), true)
	is(g, "generator", f.Generator, &feedformat.Generator{URL: "http://www.flickr.com/"})
	is(g, "picture", f.Image.URL, "http://static.flickr.com/33/buddyicons/12037949754@N01.jpg")
	is(g, "ID", it.ID, "http://www.flickr.com/photos/bees/63434898/")
	is(g, "text", it.Summary.Value, "... content here ...")
	is(g, "author", it.Authors, []feedformat.Person{{Name: "Cal", URL: "http://www.flickr.com/people/bees/", Raw: "Cal (http://www.flickr.com/people/bees/)"}})
	g.writtenAgain(f, "rdf")
}

func photosInAtom(g *guide) {
	f := g.parse(g.doc)
	it := g.photos(f)
	is(g, "self", f.Self, "http://www.flickr.com/photos/bees/feed/")
	is(g, "ID of the feed", f.ID, "tag:flickr.com,2005:/photos/public/12037949754@N01")
	is(g, "icon", f.Icon, "http://static.flickr.com/33/buddyicons/12037949754@N01.jpg")
	is(g, "updated", f.Updated.UTC, time.Date(2005, 11, 15, 17, 24, 54, 0, time.UTC))
	is(g, "generator", f.Generator, &feedformat.Generator{Name: "Flickr", URL: "http://www.flickr.com/"})
	is(g, "ID", it.ID, "tag:flickr.com,2005:/photo/63434898")
	is(g, "published", it.Published.UTC, takenAt())
	is(g, "updated", it.Updated.UTC, takenAt())
	is(g, "text", it.Content[0].Value, "... content ...")
	is(g, "author", it.Authors, []feedformat.Person{{Name: "Cal", URL: "http://www.flickr.com/people/bees/"}})
	g.writtenAgain(f, "atom")
}

func autodiscoveryAsPrinted(g *guide) {
	page := "<html><head><title>t</title>" + strings.NewReplacer("{rss-url}", "/rss.xml", "{atom-url}", "/atom.xml").Replace(g.doc) + "</head><body></body></html>"
	at := g.w.put("/home", pageOf("text/html", page))
	found := discover.HTML([]byte(page), at, nil)
	var links []string
	for _, l := range found.Links {
		links = append(links, l.Title+" "+l.Type+" "+l.URL)
	}
	is(g, "links", links, []string{"My RSS feed application/rss+xml " + g.w.URL + "/rss.xml", "My Atom feed application/atom+xml " + g.w.URL + "/atom.xml"})
	raw := discover.HTML([]byte("<html><head>"+g.doc+"</head></html>"), "", nil)
	if len(raw.Links) != 2 {
		g.Errorf("as printed: %+v", raw.Links)
	}
}

func pageOf(contentType, body string) page {
	return page{body: body, header: []string{"Content-Type", contentType}}
}

func opmlAsPrinted(g *guide) {
	d, err := opml.ParseBytes([]byte(g.doc), nil)
	if err != nil {
		g.Fatal(err)
	}
	for _, p := range d.Problems {
		g.Errorf("%+v", p)
	}
	is(g, "title", d.Head.Title, "My feeds")
	var feeds []string
	for _, o := range d.Feeds() {
		feeds = append(feeds, o.Type+" "+o.Text+" "+o.Title+" "+o.FeedURL())
	}
	is(g, "feeds", feeds, []string{"rss My Discussions My Discussions http://www.app.com/cal/discuss.rss", "rss My Photos My Photos http://www.app.com/cal/photos.rss"})
	out, err := d.AppendXML(nil)
	if err != nil {
		g.Fatal(err)
	}
	again, err := opml.ParseBytes(out, nil)
	if diff := cmp.Diff(d, again, cmp.AllowUnexported(opml.Outline{})); err != nil || diff != "" {
		g.Errorf("written again: %v\n%s", err, diff)
	}
}

// checked returns the state and the decision of the river after it first reads a feed at a given
// time.
func (g *guide) checked(doc string, now time.Time) (polling.State, polling.Decision) {
	g.Helper()
	a := polling.Answer{Status: http.StatusOK, Header: http.Header{}, Hash: "h"}
	a.Read(feedformat.ParseBytes([]byte(doc), nil))
	return polling.Next(polling.New("http://www.scripting.com/rss.xml", now), a, now, polling.Options{})
}

func skipAsPrinted(g *guide) {
	f := g.parse(g.doc)
	is(g, "title", f.Title.Value, "Scripting News")
	is(g, "items", len(f.Items), 1)
	is(g, "hours", f.Hints.SkipHours, []string{"6", "7", "8", "9", "10", "11"})
	is(g, "days", f.Hints.SkipDays, []string{"Sunday"})
	monday := time.Date(2007, 1, 15, 0, 0, 0, 0, time.UTC)
	for at, want := range map[time.Duration]time.Duration{
		5*time.Hour + 30*time.Minute:         12 * time.Hour,     // the hours 6 to 11 are skipped, so the next check is at noon
		10 * time.Hour:                       12 * time.Hour,     // a read within the skipped hours: the next check is at noon too
		12 * time.Hour:                       13 * time.Hour,     // without skipped hours, the next check is an hour later
		-30 * time.Minute:                    30 * time.Minute,   // Sunday is skipped, but ends in half an hour
		5*24*time.Hour + 23*time.Hour + 30e9: 7 * 24 * time.Hour, // a read late on Saturday: the next check is on Monday
	} {
		_, d := g.checked(g.doc, monday.Add(at))
		if d.At.Before(monday.Add(want)) || d.At.After(monday.Add(want+time.Hour)) {
			g.Errorf("read at %v: the next check is at %v, want %v", monday.Add(at), d.At, monday.Add(want))
		}
	}
	g.writtenAgain(f, "rss20")
}

func ttlAsPrinted(g *guide) {
	f := g.parse(g.doc)
	is(g, "ttl", f.Hints.TTL, "120")
	now := time.Date(2007, 1, 15, 0, 0, 0, 0, time.UTC)
	_, d := g.checked(g.doc, now)
	is(g, "the next check", d.At, now.Add(2*time.Hour))
	g.writtenAgain(f, "rss20")
}

// The example has broken markup: an HTML tag, and a start tag without a space. The parser reports
// these errors. It reads the same title and hints as from the document without the errors.
func syndicationAsPrinted(g *guide) {
	now := time.Date(2007, 1, 15, 0, 5, 0, 0, time.UTC)
	f := g.parse(g.doc)
	if len(f.Problems) == 0 {
		g.Error("no problem is reported for the broken document")
	}
	repaired := strings.NewReplacer("<BR>", "", "<channelrdf:about", "<channel rdf:about").Replace(g.doc)
	whole := g.parse(repaired)
	is(g, "title", whole.Title.Value, "Meerkat")
	is(g, "period", whole.Hints.UpdatePeriod, "hourly")
	is(g, "frequency", whole.Hints.UpdateFrequency, "2")
	is(g, "base", whole.Hints.UpdateBase.UTC, time.Date(2000, 1, 1, 12, 0, 0, 0, time.UTC))
	_, d := g.checked(repaired, now)
	is(g, "the next check", d.At, time.Date(2007, 1, 15, 0, 30, 0, 0, time.UTC))
	is(g, "the hints of the broken one", f.Hints, whole.Hints)
	is(g, "the title of the broken one", f.Title.Value, "Meerkat")
	g.writtenAgain(whole, "rdf")
}

func redirectAsPrinted(g *guide) {
	f := g.parse(g.doc)
	is(g, "format", f.Format, feedformat.Redirect)
	is(g, "where it went", f.Moved, &feedformat.Moved{To: "http://feeds.feedburner.com/TheRssBlog", From: "redirect"})
	a := polling.Answer{Status: http.StatusOK}
	a.Read(f, nil)
	hop, ok := a.Follow(polling.New("http://www.kbcafe.com/rss", time.Now()))
	is(g, "followed like a 301", hop, polling.Hop{Status: 301, From: "http://www.kbcafe.com/rss", To: "http://feeds.feedburner.com/TheRssBlog", Document: true})
	is(g, "followed", ok, true)
}

func goneAsPrinted(g *guide) {
	now := time.Date(2007, 1, 15, 0, 0, 0, 0, time.UTC)
	a := polling.Answer{Status: http.StatusOK, Header: http.Header{}, Hash: "h"}
	a.Read(&feedformat.Feed{}, nil)
	s, _ := polling.Next(polling.New("http://www.kbcafe.com/rss", now), a, now, polling.Options{})
	gone := polling.Answer{Status: http.StatusOK, Header: http.Header{}, Hash: "g"}
	gone.Read(feedformat.ParseBytes([]byte(g.doc), nil))
	_, d := polling.Next(s, gone, now.Add(time.Hour), polling.Options{})
	is(g, "outcome", d.Outcome, polling.IsGone)
	is(g, "the next check", d.At, time.Time{})
	admin := &client.Client{Base: g.w.admin}
	g.must(admin.SaveFeed(g.Context(), "alice", client.PublicFeed, "", []byte(rssOf("one"))))
	g.must(admin.EndFeed(g.Context(), "alice", client.PublicFeed))
	code, body := get(g.T, g.w.base+"/alice/rss.xml")
	is(g, "status of a feed that ended here", code, http.StatusGone)
	is(g, "and its document", g.parse(body).Moved, g.parse(g.doc).Moved)
	g.must(admin.RestoreFeed(g.Context(), "alice", client.PublicFeed))
}

func (g *guide) must(_ client.SavedFeed, err error) {
	g.Helper()
	if err != nil {
		g.Fatal(err)
	}
}
