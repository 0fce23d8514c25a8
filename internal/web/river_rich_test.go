package web

import (
	"bytes"
	"context"
	"fmt"
	"hash/fnv"
	"image"
	"image/color"
	"image/png"
	"strings"
	"sync"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/fetch"
	"cloudburst/internal/river"
	"cloudburst/internal/sanitize"
)

// fakeImages returns an image for each URL, and derives the colors of the image from the URL. If give is
// set, the result comes from give. asked counts the requests. key of asked: URL
type fakeImages struct {
	mu    sync.Mutex
	asked map[string]int
	give  func(url string) (*fetch.Response, error)
}

func (g *fakeImages) Get(_ context.Context, r fetch.Request) (*fetch.Response, error) {
	g.mu.Lock()
	if g.asked == nil {
		g.asked = map[string]int{}
	}
	g.asked[r.URL]++
	g.mu.Unlock()
	if g.give != nil {
		return g.give(r.URL)
	}
	if strings.Contains(r.URL, "missing") {
		return nil, fault.New(fault.Unreadable, "It is not there.")
	}
	w, h := 640, 360
	if strings.Contains(r.URL, "icon") {
		w, h = 32, 32
	}
	sum := fnv.New32()
	sum.Write([]byte(r.URL))
	n := sum.Sum32()
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			img.Set(x, y, color.RGBA{uint8(n>>16) / 2, uint8(int(n>>8&0xff)/2 + 100*y/h), uint8(120 + 100*x/w), 255})
		}
	}
	var out bytes.Buffer
	_ = png.Encode(&out, img)
	return &fetch.Response{Status: 200, Body: out.Bytes()}, nil
}

const longPost = `<p>A hub is a small thing. Whoever writes a feed tells it that something changed, it looks, and if something did change it tells everybody who asked. Nobody polls, or almost nobody; and news is there when it happens, not when somebody next thought of asking for it.</p>
<p>We had this in 2001. It worked then, over modems, with a few hundred lines of code, and it works now. What was missing was not a better protocol but patience: somebody had to keep such a server running, renew what had to be renewed, and not give up when half of the callbacks were dead on a Monday morning.</p>
<blockquote><p>The best way to make something that lasts is to make something so simple that there is nothing in it to replace.</p></blockquote>
<p>So here is the plan for this winter. First the feeds: every format there ever was, read as kindly as we can. Then the river: the newest on top, whole texts where they are short, and nothing that moves while you read it.</p>
<h2>What it is not</h2><p>It is not a machine that decides what is good for you. What arrives is shown in the order in which it arrives. If that is too much, follow fewer feeds; that was always the answer, and it still is.</p>
<ul><li>No algorithm.</li><li>No counts, unless you want them.</li><li>No picture is loaded from anywhere but here.</li></ul><p>More when there is more to say. There is a <a href="https://example.org/plan">longer plan</a>, with numbers, for those who like numbers.</p>`

// addRiverItems adds items of all kinds from several days to the river of a reader.
func addRiverItems(b *fakeRiver, reader string) {
	now := b.now()
	feeds := []struct{ title, url, home, icon, category string }{
		{"Scripting News", "http://scripting.com/rss.xml", "http://scripting.com/", "http://scripting.com/icon.png", "Weblogs"},
		{"Radio for the Ears", "https://radio.example/feed", "https://radio.example/", "", "Podcasts"},
		{"例えばニュース", "https://例え.jp/feed.xml", "https://例え.jp/", "https://xn--r8jz45g.jp/icon.png", "News"},
		{"صحيفة الصباح", "https://sabah.example/rss", "https://sabah.example/", "", "News"},
		{"A Planet of Many Weblogs with a Rather Long Name That Goes On", "https://planet.example.org/atom.xml", "https://planet.example.org/", "", "Weblogs"},
		{"xkcd", "https://xkcd.com/atom.xml", "https://xkcd.com/", "https://xkcd.com/icon.png", "Comics"},
		{"Family", "https://family.example/secret.xml", "", "", "Family"},
	}
	ids := make([]int64, len(feeds))
	for i, f := range feeds {
		s := river.Source{URL: f.url, About: river.About{Title: f.title, Home: f.home, Icon: f.icon}}
		if f.category == "Family" {
			s.Login = river.Login{Kind: river.LoginBasic, Name: "anna"}
		}
		ids[i] = b.follow(reader, s, f.category).SourceID
	}
	_ = b.PutCategory(context.Background(), reader, "Weblogs", true)
	n := 0
	put := func(feed int, ago time.Duration, c river.Content, change ...func(*river.Item)) {
		n++
		at := now.Add(-ago)
		if c.HTML != "" {
			c.HTML = sanitize.HTML(c.HTML)
			c.Text = sanitize.Text(c.HTML)
		}
		if c.Published.IsZero() {
			c.Published = at.Add(-time.Duration(n%7) * 31 * time.Second)
		}
		it := river.Item{SourceID: ids[feed], GUID: fmt.Sprint("item-", n), At: at, ReadAt: at, Content: c}
		for _, f := range change {
			f(&it)
		}
		b.arrive(it)
	}
	put(0, 40*time.Second, river.Content{HTML: "<p>I just read my own feed in my own river, and it came before I had let go of the key.</p>", Link: "http://scripting.com/2026/11/20.html#a140127"})
	put(0, 40*time.Second, river.Content{HTML: `<p>It is <a href="http://example.com/">snowing</a> in the mountains. No title on this one; it needs none.</p>`, Link: "http://scripting.com/2026/11/20.html#a135501", Authors: []string{"Dave"}, Categories: []string{"weather", "mountains"}})
	put(0, 40*time.Second, river.Content{Title: "Why a hub is a small thing", HTML: longPost, Link: "http://scripting.com/2026/11/20/hub.html", Comments: "http://scripting.com/comments/1"},
		func(it *river.Item) { it.EditedAt = now.Add(-5 * time.Second) })
	put(1, 12*time.Minute, river.Content{Title: "Episode 214: The sound of rain", HTML: "<p>An hour in a hut with a tin roof.</p>", Link: "https://radio.example/214",
		Enclosures: []river.Enclosure{{URL: "https://radio.example/214.mp3", Type: "audio/mpeg", Length: 31_200_000, Duration: 3720, Title: "Episode 214"}}})
	put(5, 25*time.Minute, river.Content{Title: "Cloud", HTML: `<p><img src="https://imgs.xkcd.com/comics/cloud.png" alt="Two people look at a cloud." title="There is no cloud, only other people’s rain." width="640" height="360"/></p>`, Link: "https://xkcd.com/9999/"})
	put(2, 41*time.Minute, river.Content{Title: "雲が割れて、空が見えた", HTML: "<p>昨日の夜から降り続いた雨が止み、今朝は久しぶりに青い空が広がりました。市内の公園では子供たちが水たまりで遊んでいます。</p>", Link: "https://xn--r8jz45g.jp/1", Language: "ja"})
	put(3, 55*time.Minute, river.Content{Title: "مطر غزير على الساحل", HTML: "<p>هطلت أمطار غزيرة على المدن الساحلية صباح اليوم، ويُتوقع أن تستمر حتى المساء.</p>", Link: "https://sabah.example/1", Language: "ar"})
	put(4, 70*time.Minute, river.Content{Title: "A walk, as an outline", HTML: "<p>Where we went.</p>", Link: "https://planet.example.org/walk", Via: "Anna’s weblog", Nested: []river.Content{
		{Title: "Up", HTML: "<p>Along the stream, two hours, mud.</p>", Nested: []river.Content{{Title: "A heron"}, {Title: "Lunch", HTML: "<p>Bread and an apple.</p>"}}}, {Title: "Down, which was quicker"},
	}})
	put(4, 70*time.Minute, river.Content{Title: "Something that was said too early", HTML: "<p>This is not so.</p>", Link: "https://planet.example.org/early"}, func(it *river.Item) { it.WithdrawnAt = now.Add(-30 * time.Minute) })
	put(6, 90*time.Minute, river.Content{HTML: "<p>Grandfather sends his love. " + secret + "</p>"})
	put(1, 26*time.Hour, river.Content{Title: "A film of the harbour", Link: "https://radio.example/213", Image: "https://radio.example/harbour.jpg",
		Enclosures: []river.Enclosure{{URL: "https://radio.example/213.mp4", Type: "video/mp4", Length: 120_000_000, Duration: 240}, {URL: "https://radio.example/213.pdf", Type: "application/pdf", Length: 90_000}}})
	put(0, 27*time.Hour, river.Content{HTML: "<p>Yes.</p>", Link: "http://scripting.com/2026/11/19.html#a1", InReplyTo: "https://example.com/question"})
	for i := range 60 {
		put(i%6, 30*time.Hour+time.Duration(i*i)*time.Minute, river.Content{Title: fmt.Sprintf("Number %d of what came before", 60-i), HTML: "<p>A short text of an ordinary day, which says what happened and then ends.</p>", Link: fmt.Sprintf("https://example.com/%d", i)})
	}
}
