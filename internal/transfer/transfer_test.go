package transfer

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"cloudburst/feed"
	"cloudburst/feed/opml"
	"cloudburst/internal/author"
	"cloudburst/internal/author/rules"

	"github.com/google/go-cmp/cmp"
)

func TestImportRestoresExportedPosts(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			from, to := newTestServer(t, "https://one.example"), newTestServer(t, "https://two.example")
			from.randomPosts(rand.New(rand.NewPCG(seed, 1)), "alice", 40)
			if _, err := from.posts.SetProfile(t.Context(), "alice", func(p *author.Profile) error {
				p.Title, p.Accent, p.Avatar, p.PingTargets = "Alice’s", "#102030", from.files.Path(from.image("alice", 10)), []string{"rsscloud https://hub.example/ping"}
				return nil
			}, "test"); err != nil {
				t.Fatal(err)
			}
			if err := from.posts.AddCategory(t.Context(), "alice", "Not used yet"); err != nil {
				t.Fatal(err)
			}
			from.choose("alice", author.Mentions{NoReceive: true, NoSend: true}, rules.Rules{Short: rules.ShortOff, URLs: rules.URLsShort})
			file := from.export("alice")
			res := to.mustImport("alice", file)
			want := from.all("alice")
			if res.Added != len(want) || res.Found != len(want) || res.Files != 2 || !res.Profile || len(res.Problems) > 0 {
				t.Errorf("%+v", res)
			}
			if diff := cmp.Diff(byGUID(want), byGUID(to.all("alice"))); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(from.feed("alice"), to.feed("alice")); diff != "" {
				t.Errorf("the feeds differ: %s", diff)
			}
			w1, _ := from.posts.Writer(t.Context(), "alice")
			w2, err := to.posts.Writer(t.Context(), "alice")
			if diff := cmp.Diff(w1.Profile, w2.Profile); diff != "" || err != nil {
				t.Error(diff, err)
			}
			again := to.mustImport("alice", file)
			if again.Added != 0 || again.Files != 0 || again.Existing != len(want) || len(to.all("alice")) != len(want) {
				t.Errorf("importing the same file again: %+v", again)
			}
		})
	}
}

// byGUID returns posts; key: GUID, or the text of a draft.
func byGUID(posts []author.Post) map[string]author.Post {
	all := map[string]author.Post{}
	for _, p := range posts {
		key := p.GUID
		if key == "" {
			key = p.Source
		}
		all[key] = p
	}
	return all
}

func TestImportForAnotherUserNameRewritesFileURLs(t *testing.T) {
	t.Parallel()
	from, to := newTestServer(t, "https://one.example"), newTestServer(t, "https://two.example")
	f := from.image("alice", 10)
	if _, err := from.posts.Save(t.Context(), author.Edit{User: "alice", To: author.Published, Change: func(c *author.Content) error {
		c.Source = "![a](" + from.files.Path(f) + ") and ![b](https://one.example" + from.files.Path(f) + "), not /alice/media/ itself"
		c.Enclosures = []author.Enclosure{{URL: "https://one.example" + from.files.Path(f)}, {URL: "https://other.example" + from.files.Path(f)}}
		return nil
	}}); err != nil {
		t.Fatal(err)
	}
	to.mustImport("bob", from.export("alice"))
	p := to.all("bob")[0]
	f.User = "bob"
	at := to.files.Path(f)
	if want := "![a](" + at + ") and ![b](" + at + "), not /alice/media/ itself"; p.Source != want {
		t.Error(p.Source)
	}
	if p.Enclosures[0].URL != at || p.Enclosures[1].URL != "https://other.example/alice"+strings.TrimPrefix(at, "/bob") {
		t.Errorf("%+v", p.Enclosures)
	}
	if p.GUID == "" || !strings.HasPrefix(p.GUID, "https://one.example/alice/") {
		t.Errorf("the GUID became %q", p.GUID)
	}
	if _, err := to.files.Get(t.Context(), "bob", f.Hash); err != nil {
		t.Error(err)
	}
}

func TestExportedArchiveContainsValidFeeds(t *testing.T) {
	t.Parallel()
	s := newTestServer(t, "https://one.example")
	s.randomPosts(rand.New(rand.NewPCG(7, 7)), "alice", 30)
	b := s.export("alice")
	z, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	read := func(name string) []byte {
		t.Helper()
		r, err := z.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		all, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	var m Manifest
	if err := json.Unmarshal(read("manifest.json"), &m); err != nil {
		t.Fatal(err)
	}
	if m.User != "alice" || m.Counts.Posts() != 30 || m.Counts.Files != 2 || len(m.Entries) != len(z.File)-1 {
		t.Errorf("%+v", m)
	}
	for _, newest := range []string{"feeds/rss.xml", "feeds/atom.xml", "feeds/feed.json"} {
		f, err := feed.ParseBytes(read(newest), nil)
		if err != nil || len(f.Items) != min(7, m.Counts.Published) || len(f.Problems) > 0 {
			t.Errorf("%s: %d items, %v", newest, len(f.Items), err)
		}
	}
	list, err := opml.ParseBytes(read("feeds/archives.opml"), nil)
	if err != nil {
		t.Fatal(err)
	}
	items := 0
	for _, o := range list.Feeds() {
		f, err := feed.ParseBytes(read("feeds/"+o.XMLURL), nil)
		if err != nil {
			t.Fatal(err)
		}
		items += len(f.Items)
	}
	if items != m.Counts.Published {
		t.Errorf("%d of %d published posts are in the archive", items, m.Counts.Published)
	}
	for _, f := range z.File {
		if strings.HasPrefix(f.Name, "media/") && f.Method != zip.Store {
			t.Errorf("%s is compressed again", f.Name)
		}
	}
}

// repack writes an archive again with changed entries; a nil body removes the entry.
func repack(t *testing.T, b []byte, change func(name string, body []byte) []byte, more ...string) []byte {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	write := func(name string, body []byte) {
		f, err := w.Create(name)
		if err == nil && !strings.HasSuffix(name, "/") {
			_, err = f.Write(body)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if body = change(f.Name, body); body != nil {
			write(f.Name, body)
		}
	}
	for _, name := range more {
		write(name, []byte("x"))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestDamagedOrHostileArchiveChangesNothing(t *testing.T) {
	t.Parallel()
	from := newTestServer(t, "https://one.example")
	from.randomPosts(rand.New(rand.NewPCG(3, 3)), "alice", 10)
	file := from.export("alice")
	same := func(_ string, b []byte) []byte { return b }
	on := func(name string, f func([]byte) []byte) func(string, []byte) []byte {
		return func(n string, b []byte) []byte {
			if n == name {
				return f(b)
			}
			return b
		}
	}
	manifest := func(f func(*Manifest)) []byte {
		return repack(t, file, on("manifest.json", func(b []byte) []byte {
			var m Manifest
			if err := json.Unmarshal(b, &m); err != nil {
				t.Fatal(err)
			}
			f(&m)
			out, err := json.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			return out
		}))
	}
	to := newTestServer(t, "https://two.example")
	to.mustReject(file[:len(file)/2], "incomplete")
	to.mustReject(repack(t, file, on("posts.jsonl", func(b []byte) []byte { b[20] ^= 1; return b })), "has changed since")
	to.mustReject(repack(t, file, on("posts.jsonl", func([]byte) []byte { return nil })), "is missing")
	to.mustReject(repack(t, file, on("manifest.json", func([]byte) []byte { return nil })), "did not write it")
	to.mustReject(repack(t, file, on("manifest.json", func([]byte) []byte { return []byte("{") })), "manifest.json is damaged")
	to.mustReject(repack(t, file, same, "../../etc/passwd"), "leads out of the archive")
	to.mustReject(repack(t, file, same, "/etc/passwd"), "leads out of the archive")
	to.mustReject(repack(t, file, same, `..\evil`), "leads out of the archive")
	to.mustReject(repack(t, file, same, "posts.jsonl"), "two entries")
	to.mustReject(manifest(func(m *Manifest) { m.Version = 2 }), "newer")
	to.mustReject(manifest(func(m *Manifest) { m.Format = "x" }), "another program")
	to.mustReject(manifest(func(m *Manifest) { m.Entries[2].Size++ }), "does not have the size")
	bomb := bytes.Repeat([]byte("\n"), 64<<20)
	to.mustReject(repack(t, manifest(func(m *Manifest) {
		for i := range m.Entries {
			if m.Entries[i].Name == "posts.jsonl" {
				m.Entries[i].Size = int64(len(bomb))
			}
		}
	}), on("posts.jsonl", func([]byte) []byte { return bomb })), "compressed")
	if res := to.mustImport("alice", repack(t, file, same, "notes/")); res.Added != 10 {
		t.Errorf("an archive with a folder: %+v", res)
	}
}

func TestRepeatedImportContinuesAfterInterruption(t *testing.T) {
	t.Parallel()
	from, to := newTestServer(t, "https://one.example"), newTestServer(t, "https://two.example")
	from.randomPosts(rand.New(rand.NewPCG(5, 5)), "alice", 20)
	file := from.export("alice")
	ctx, cancel := context.WithCancel(t.Context())
	_, err := to.Import(ctx, "alice", bytes.NewReader(file), int64(len(file)), Options{}, func(phase string, _, _ int) {
		if phase == PhaseFiles {
			cancel()
		}
	})
	if err == nil {
		t.Error("the interrupted import returned no error")
	}
	res := to.mustImport("alice", file)
	if res.Added != 20 || len(to.all("alice")) != 20 {
		t.Errorf("%+v", res)
	}
}

func TestWordPressExportIsImported(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("testdata/wordpress.xml")
	if err != nil {
		t.Fatal(err)
	}
	s := newTestServer(t, "https://two.example")
	res := s.mustImport("alice", doc)
	want := Result{Kind: "wordpress", Found: 5, Added: 4, Skipped: 1, Profile: true, Moved: []Moved{
		{From: "https://old.example/2024/03/the-batter/", To: "https://two.example/alice/2024/03/01/the-batter"}, {From: "https://old.example/2024/04/on-the-air/", To: "https://two.example/alice/2024/04/01/on-the-air"},
	}, Drafts: 2, From: time.Date(2024, 3, 1, 9, 30, 0, 0, time.UTC), To: time.Date(2024, 4, 1, 7, 0, 0, 0, time.UTC), Problems: []string{
		`“Thrown away” was left out: its status is "trash".`, "Items other than posts were left out: 1 × page.",
	}}
	if diff := cmp.Diff(want, res); diff != "" {
		t.Error(diff)
	}
	posts := byGUID(s.all("alice"))
	batter := posts["https://old.example/?p=11"]
	if batter.State != author.Published || batter.Title != "The batter & the fish" || batter.Slug != "the-batter" || batter.PermaLink ||
		!batter.PublishedAt.Equal(time.Date(2024, 3, 1, 9, 30, 0, 0, time.UTC)) || !batter.UpdatedAt.Equal(time.Date(2024, 3, 2, 8, 0, 0, 0, time.UTC)) ||
		batter.Link != "" {
		t.Errorf("%+v", batter)
	}
	if diff := cmp.Diff([]string{"Food & Drink", "batter"}, batter.Categories); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]author.Enclosure{{URL: "https://old.example/wp-content/uploads/2024/03/recipe.pdf", Type: "application/pdf", Title: "recipe"}}, batter.Enclosures); diff != "" {
		t.Error(diff)
	}
	if strings.Contains(batter.Source, "wp:") || !strings.Contains(batter.HTML, "<p>It must be cold.</p>") || strings.Contains(batter.HTML, "Lovely") {
		t.Error(batter.Source, batter.HTML)
	}
	air := posts["https://old.example/?p=20"]
	if want := "<p>We talked about oil.<br>\nAnd about fish.</p>\n\n<blockquote>Never twice.</blockquote>\n\n<p>Listen.</p>"; air.Source != want || len(air.Categories) != 0 {
		t.Errorf("%q", air.Source)
	}
	if diff := cmp.Diff([]author.Enclosure{{URL: "https://old.example/air.mp3", Type: "audio/mpeg", Length: 1234567}}, air.Enclosures); diff != "" {
		t.Error(diff)
	}
	for guid, reason := range map[string]string{"https://old.example/?p=21": "a draft", "https://old.example/?p=22": "with a password"} {
		if p := posts[guid]; p.State != author.Draft || p.Link != "" || p.CreatedAt.Year() != 2024 {
			t.Errorf("%s is %+v", reason, p)
		}
	}
	if w, err := s.posts.Writer(t.Context(), "alice"); err != nil || w.Title != "Fish & Chips" || w.Language != "en-GB" {
		t.Errorf("%+v, %v", w.Profile, err)
	}
	if res := s.mustImport("alice", doc); res.Added != 0 || res.Existing != 4 {
		t.Errorf("second import: %+v", res)
	}
}

func TestTruncatedWordPressExportChangesNothing(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("testdata/wordpress.xml")
	if err != nil {
		t.Fatal(err)
	}
	s := newTestServer(t, "https://two.example")
	s.mustReject(doc[:len(doc)*2/3], "cannot be read beyond line")
	// WordPress writes user input unchanged, including characters that XML does not allow.
	odd := bytes.Replace(doc, []byte("Mushy peas?"), []byte("Mushy\x08 peas\xff?"), 1)
	if res := s.mustImport("alice", odd); res.Added != 4 {
		t.Errorf("%+v", res)
	}
}

func TestImportKeepsGUIDsOfAllFeedFormats(t *testing.T) {
	t.Parallel()
	for kind, doc := range map[string]string{
		"rss":  `<rss version="2.0"><channel><title>Old</title><item><title>One</title><guid isPermaLink="false">a</guid><pubDate>Fri, 01 Mar 2024 09:30:00 GMT</pubDate><description>&lt;p&gt;Words&lt;/p&gt;</description><category>x</category><enclosure url="https://a.example/b.mp3" type="audio/mpeg" length="5"/></item></channel></rss>`,
		"atom": `<feed xmlns="http://www.w3.org/2005/Atom"><title>Old</title><id>f</id><updated>2024-03-01T09:30:00Z</updated><entry><title>One</title><id>a</id><published>2024-03-01T09:30:00Z</published><updated>2024-03-01T09:30:00Z</updated><content type="html">&lt;p&gt;Words&lt;/p&gt;</content><category term="x"/><link rel="enclosure" href="https://a.example/b.mp3" type="audio/mpeg" length="5"/></entry></feed>`,
		"json": `{"version":"https://jsonfeed.org/version/1.1","title":"Old","items":[{"id":"a","title":"One","date_published":"2024-03-01T09:30:00Z","content_html":"<p>Words</p>","tags":["x"],"attachments":[{"url":"https://a.example/b.mp3","mime_type":"audio/mpeg","size_in_bytes":5}]}]}`,
	} {
		s := newTestServer(t, "https://two.example")
		res := s.mustImport("alice", []byte(doc))
		if res.Kind != kind || res.Added != 1 || !res.Profile {
			t.Errorf("%s: %+v", kind, res)
			continue
		}
		p := s.all("alice")[0]
		if p.GUID != "a" || p.Title != "One" || p.HTML != "<p>Words</p>" || !p.PublishedAt.Equal(time.Date(2024, 3, 1, 9, 30, 0, 0, time.UTC)) ||
			len(p.Categories) != 1 || len(p.Enclosures) != 1 || p.Enclosures[0].Length != 5 {
			t.Errorf("%s: %+v", kind, p)
		}
		if res := s.mustImport("alice", []byte(doc)); res.Added != 0 || res.Existing != 1 {
			t.Errorf("%s, second import: %+v", kind, res)
		}
	}
}

func TestUnknownFileTypeIsRejected(t *testing.T) {
	t.Parallel()
	s := newTestServer(t, "https://two.example")
	for _, doc := range []string{"", "words", "<html><body>", "PK\x03\x04", "{}", `<rss><channel><wp:wxr_version>`, `<rss version="2.0"><channel><item><title>One`} {
		s.mustReject([]byte(doc), "")
	}
}

// FuzzImport checks that any file is either imported or rejected.
func FuzzImport(f *testing.F) {
	doc, err := os.ReadFile("testdata/wordpress.xml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(doc)
	f.Fuzz(func(t *testing.T, b []byte) {
		x := &wxr{attachments: map[string][]author.Enclosure{}, byID: map[string]author.Enclosure{}, others: map[string]int{}, codes: map[string]int{}}
		if readWXR(bytes.NewReader(b), int64(len(b)), x.channel, x.scan) != nil {
			return
		}
		n := 0
		err := readWXR(bytes.NewReader(b), int64(len(b)), func(string, string) {}, func(e *wxrElement) error {
			if k := e.get("wp:post_type"); k == "post" || k == "" {
				n++
			}
			x.post(e)
			return nil
		})
		if err != nil || n != x.posts {
			t.Errorf("%d posts the second time, %d the first, %v", n, x.posts, err)
		}
		o, err := openArchive(t.Context(), bytes.NewReader(b), int64(len(b)), nil)
		if err == nil {
			_ = o.eachPost(nil) // ignore the result: the call must not panic
		}
	})
}
