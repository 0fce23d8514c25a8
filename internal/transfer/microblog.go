package transfer

import (
	"cmp"
	"context"
	"net/url"
	"path"
	"regexp"
	"strings"

	"cloudburst/internal/author"
)

// blogArchive is a blog archive (.bar), which Micro.blog exports: feed.json with a JSON Feed, and
// the uploads to which its posts refer.
type blogArchive struct {
	a    *foreignArchive
	feed string
	dir  string
}

type blogItem struct {
	ID         any      `json:"id"`
	URL        string   `json:"url"`
	Title      string   `json:"title"`
	HTML       string   `json:"content_html"`
	Text       string   `json:"content_text"`
	Published  string   `json:"date_published"`
	Modified   string   `json:"date_modified"`
	Tags       []string `json:"tags"`
	Language   string   `json:"language"`
	Image      string   `json:"image"`
	Status     string   `json:"status"` // "draft" as in Micropub
	Attachment []struct {
		URL   string `json:"url"`
		Type  string `json:"mime_type"`
		Title string `json:"title"`
	} `json:"attachments"`
	Micro struct {
		Draft bool `json:"is_draft"`
	} `json:"_microblog"`
}

func openBlogArchive(a *foreignArchive) source {
	at := a.atTop("feed.json")
	if at == "" || a.has(nameManifest) {
		return nil
	}
	return &blogArchive{a: a, feed: at, dir: strings.TrimSuffix(at, "feed.json")}
}

func (s *blogArchive) kind() string { return "microblog" }

func (s *blogArchive) profile() author.Profile { return author.Profile{} }

func (s *blogArchive) posts(ctx context.Context, each func(*foreignPost) error) error {
	return eachJSON(ctx, s.a, s.feed, "items", func(_ int, v *blogItem, bad error) error {
		if bad != nil {
			return each(&foreignPost{Omit: omitInvalid})
		}
		return each(s.post(v))
	})
}

func (s *blogArchive) post(v *blogItem) *foreignPost {
	p := &foreignPost{}
	id, _ := v.ID.(string)
	if id = cmp.Or(id, v.URL); id == "" {
		return &foreignPost{Omit: omitInvalid}
	}
	p.identify(s.kind(), id, webURL(v.URL))
	p.date(v.Published, v.Modified)
	if v.Status == "draft" || v.Micro.Draft {
		p.draft()
		p.Note = ""
	}
	p.Title, p.Language = clip(oneLine(v.Title), 290), v.Language
	p.Slug = strings.TrimSuffix(path.Base(urlPath(v.URL)), path.Ext(urlPath(v.URL)))
	for _, tag := range v.Tags {
		p.label(tag)
	}
	p.Source, p.Format = v.Text, author.Markdown
	if strings.TrimSpace(v.Text) == "" {
		p.Source, p.Format = v.HTML, author.HTML
	}
	find := s.a.finder(s.dir, s.dir)
	p.insertFiles(find)
	for _, f := range v.Attachment {
		if entry := find(f.URL); entry != "" {
			p.Files = append(p.Files, foreignFile{Entry: entry, Alt: f.Title})
		} else if at := webURL(f.URL); at != "" {
			p.Enclosures = append(p.Enclosures, author.Enclosure{URL: at, Type: f.Type, Title: clip(f.Title, 300)})
		}
	}
	return p
}

func urlPath(s string) string {
	u, err := url.Parse(s)
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(u.Path, "/")
}

// finder returns a function that returns the name of the file in the archive to which a reference
// points, "" if there is none. folder is the folder of the post, and root is the root folder of the
// site.
func (a *foreignArchive) finder(folder, root string) func(ref string) string {
	return func(ref string) string {
		u, err := url.Parse(strings.TrimSpace(ref))
		if err != nil || u.Path == "" || u.Scheme != "" && u.Scheme != "http" && u.Scheme != "https" {
			return ""
		}
		at := u.Path
		if u.Host == "" && !strings.HasPrefix(at, "/") {
			if name := path.Join(folder, at); a.has(name) {
				return name
			}
		}
		at = strings.TrimPrefix(path.Clean("/"+at), "/")
		for _, below := range []string{"", "static/", "public/", "assets/", "src/", "content/", "source/"} {
			if name := root + below + at; a.has(name) {
				return name
			}
		}
		return ""
	}
}

var (
	imageTag      = regexp.MustCompile(`(?i)(<(?:img|audio|video|source)\b[^>]*?\ssrc\s*=\s*)("[^"]*"|'[^']*')`)
	linkTag       = regexp.MustCompile(`(?i)(<a\b[^>]*?\shref\s*=\s*)("[^"]*"|'[^']*')`)
	markdownImage = regexp.MustCompile(`(!?\[[^\]\n]*\]\(\s*)(<[^>\n]*>|[^\s()\n]*(?:\([^\s()\n]*\)[^\s()\n]*)*)`)
)

// insertFiles replaces the references in a post's text to files of the archive by placeholders.
// find returns the name of the file for a reference, "" if there is none.
func (p *foreignPost) insertFiles(find func(ref string) string) {
	insert := func(before, ref string, quote [2]string) string {
		entry := find(ref)
		if entry == "" {
			return before + quote[0] + ref + quote[1]
		}
		m := mark(len(p.Files))
		p.Files = append(p.Files, foreignFile{Entry: entry, Mark: m, Original: ref})
		return before + quote[0] + m + quote[1]
	}
	for _, tag := range []*regexp.Regexp{imageTag, linkTag} {
		p.Source = tag.ReplaceAllStringFunc(p.Source, func(s string) string {
			g := tag.FindStringSubmatch(s)
			q := g[2][:1]
			return insert(g[1], strings.ReplaceAll(g[2][1:len(g[2])-1], "&amp;", "&"), [2]string{q, q})
		})
	}
	if p.Format != author.Markdown {
		return
	}
	p.Source = markdownImage.ReplaceAllStringFunc(p.Source, func(s string) string {
		g := markdownImage.FindStringSubmatch(s)
		if ref, ok := strings.CutPrefix(g[2], "<"); ok {
			return insert(g[1], strings.TrimSuffix(ref, ">"), [2]string{"<", ">"})
		}
		return insert(g[1], g[2], [2]string{})
	})
}
