package transfer

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"regexp"
	"strings"
	"time"

	"cloudburst/internal/author"

	"github.com/BurntSushi/toml"
	"go.yaml.in/yaml/v3"
)

// markdownFolder is a folder of Markdown files with front matter, as Hugo, Jekyll, Eleventy and
// Micro.blog write them.
type markdownFolder struct {
	a     *foreignArchive
	root  string // common folder of all files, "" or with a slash at the end
	files []string
}

// These are the limits of a Markdown file, in bytes.
const (
	maxMarkdown    = 4 << 20
	maxFrontMatter = 64 << 10
)

// These are reasons for leaving Markdown files out.
const (
	omitSection = "Pages that list a folder (_index.md)"
	omitFront   = "Files whose front matter cannot be read"
	omitRead    = "Files that cannot be read or are larger than 4 MiB"
)

var (
	datedName = regexp.MustCompile(`^(\d{4}-\d\d-\d\d)-(.+)$`)
	figure    = regexp.MustCompile(`\{\{[<%]\s*figure\s([^}]*?)/?\s*[>%]\}\}`)
	attribute = regexp.MustCompile(`([\w-]+)\s*=\s*(?:"([^"]*)"|([^\s"]+))`)
	siteURL   = regexp.MustCompile(`\{\{\s*site\.(?:baseurl|url)\s*\}\}`)
	inJekyll  = regexp.MustCompile(`(^|/)_(posts|drafts)/`)
	otherDir  = regexp.MustCompile(`(^|/)(\.[^/]+|node_modules|themes|layouts|archetypes|_includes|_layouts|_site|vendor)/`)
)

func openMarkdown(a *foreignArchive) source {
	m := &markdownFolder{a: a}
	for _, name := range a.names {
		switch ext := strings.ToLower(path.Ext(name)); {
		case ext != ".md" && ext != ".markdown" && ext != ".mdown", otherDir.MatchString(name):
		default:
			m.files = append(m.files, name)
		}
	}
	if len(m.files) == 0 {
		return nil
	}
	if top := a.top(); top != "content/" && top != "_posts/" {
		m.root = top
	}
	return m
}

func (m *markdownFolder) kind() string { return "markdown" }

func (m *markdownFolder) profile() author.Profile { return author.Profile{} }

func (m *markdownFolder) posts(ctx context.Context, each func(*foreignPost) error) error {
	for _, name := range m.files {
		if err := ctx.Err(); err != nil {
			return err
		}
		p := &foreignPost{}
		if b, err := m.a.text(name, maxMarkdown); err != nil {
			p.Omit = omitRead
		} else {
			p = m.post(name, b)
		}
		if err := each(p); err != nil {
			return err
		}
	}
	return nil
}

// post converts a Markdown file to a post.
func (m *markdownFolder) post(name string, b []byte) *foreignPost {
	p := &foreignPost{}
	base := strings.TrimSuffix(path.Base(name), path.Ext(name))
	if base == "_index" {
		return &foreignPost{Omit: omitSection}
	}
	front, body, err := frontMatter(bytes.TrimPrefix(b, []byte("\ufeff")))
	if err != nil {
		return &foreignPost{Omit: omitFront}
	}
	rel := strings.TrimPrefix(name, m.root)
	p.identify(m.kind(), rel, "")
	day := ""
	if g := datedName.FindStringSubmatch(base); g != nil {
		day, base = g[1], g[2]
	}
	if base == "index" && path.Dir(rel) != "." {
		base = path.Base(path.Dir(rel))
		if g := datedName.FindStringSubmatch(base); g != nil {
			day, base = g[1], g[2]
		}
	}
	p.Slug = cmp.Or(front.text("slug"), base)
	p.date(cmp.Or(front.text("date", "publishdate", "published_at", "created"), day), front.text("lastmod", "updated", "modified", "last_modified_at"))
	if front.yes("draft") || front.no("published") || strings.HasPrefix(rel, "_drafts/") || strings.Contains(rel, "/_drafts/") || front.text("status") == "draft" {
		p.draft()
		p.Note = ""
	}
	if p.State == author.Published {
		p.Old = front.addresses()
	}
	p.Title = clip(oneLine(front.text("title")), 290)
	p.Language = front.text("language", "lang")
	for _, key := range []string{"categories", "category", "tags", "tag", "keywords"} {
		for _, label := range front.labels(key, inJekyll.MatchString(name)) {
			p.label(label)
		}
	}
	p.Source, p.Format = siteURL.ReplaceAllString(figure.ReplaceAllStringFunc(body, markdownFigure), ""), author.Markdown
	find := m.a.finder(path.Dir(name), m.root)
	p.insertFiles(find)
	m.cover(p, front, find)
	return p
}

// cover attaches the image of the front matter, unless the text shows it.
func (m *markdownFolder) cover(p *foreignPost, front matter, find func(string) string) {
	for _, key := range []string{"image", "cover", "featured_image", "images", "thumbnail"} {
		for _, ref := range front.list(key) {
			entry := find(ref)
			if entry == "" {
				continue
			}
			for _, f := range p.Files {
				if f.Entry == entry {
					return
				}
			}
			p.Files = append(p.Files, foreignFile{Entry: entry, Alt: front.text("image_alt", "alt")})
			return
		}
	}
}

// markdownFigure converts Hugo's shortcode for an image to Markdown.
func markdownFigure(s string) string {
	values := map[string]string{}
	for _, g := range attribute.FindAllStringSubmatch(figure.FindStringSubmatch(s)[1], -1) {
		values[g[1]] = g[2] + g[3]
	}
	if values["src"] == "" {
		return ""
	}
	alt := strings.NewReplacer("[", "(", "]", ")").Replace(cmp.Or(values["alt"], values["caption"], values["title"]))
	return fmt.Sprintf("![%s](<%s>)", alt, values["src"])
}

// matter is front matter; key: name in lowercase.
type matter map[string]any

// frontMatter splits a file into front matter and text. The front matter is empty if the file has
// none. It returns an error if the front matter has no end, is longer than maxFrontMatter, or
// cannot be parsed.
func frontMatter(b []byte) (matter, string, error) {
	text := strings.ReplaceAll(string(b), "\r\n", "\n")
	raw := map[string]any{}
	for _, fence := range []string{"---", "+++"} {
		rest, ok := strings.CutPrefix(text, fence+"\n")
		if !ok {
			continue
		}
		front, body, ok := strings.Cut("\n"+rest, "\n"+fence)
		if !ok || len(front) > maxFrontMatter {
			return nil, "", errors.New("the front matter does not end")
		}
		if at := strings.IndexByte(body, '\n'); at >= 0 {
			body = body[at+1:]
		} else {
			body = ""
		}
		var err error
		if fence == "+++" {
			err = toml.Unmarshal([]byte(front), &raw)
		} else {
			err = yaml.Unmarshal([]byte(front), &raw)
		}
		return lowerKeys(raw), strings.TrimSpace(body), err
	}
	if strings.HasPrefix(text, "{\n") {
		dec := json.NewDecoder(strings.NewReader(text))
		if dec.Decode(&raw) == nil {
			return lowerKeys(raw), strings.TrimSpace(text[dec.InputOffset():]), nil
		}
	}
	return matter{}, strings.TrimSpace(text), nil
}

func lowerKeys(raw map[string]any) matter {
	m := matter{}
	for key, v := range raw {
		m[strings.ToLower(key)] = v
	}
	return m
}

// text returns the value of the first of several keys that has a value; "" if none has.
func (m matter) text(keys ...string) string {
	for _, key := range keys {
		if s := textOf(m[key]); s != "" {
			return s
		}
	}
	return ""
}

func textOf(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return strings.TrimSpace(v)
	case time.Time:
		return v.Format(time.RFC3339)
	case map[string]any:
		return textOf(cmp.Or(v["src"], v["image"], v["url"]))
	case []any:
		return ""
	}
	return fmt.Sprint(v)
}

// list returns a value as a list. It splits a string at commas.
func (m matter) list(key string) (all []string) {
	switch v := m[key].(type) {
	case []any:
		for _, one := range v {
			if s := textOf(one); s != "" {
				all = append(all, s)
			}
		}
	case string:
		for s := range strings.SplitSeq(v, ",") {
			if s = strings.TrimSpace(s); s != "" {
				all = append(all, s)
			}
		}
	default:
		if s := textOf(v); s != "" {
			all = append(all, s)
		}
	}
	return all
}

// labels returns the categories or tags that key lists. Jekyll splits a string at white space if the
// key is a plural.
func (m matter) labels(key string, jekyll bool) []string {
	if s, ok := m[key].(string); ok && jekyll && (key == "tags" || key == "categories") && !strings.Contains(s, ",") {
		return strings.Fields(s)
	}
	return m.list(key)
}

func (m matter) yes(key string) bool { return m[key] == true || m[key] == "true" }
func (m matter) no(key string) bool  { return m[key] == false || m[key] == "false" }

// addresses returns the old URLs that the front matter declares. It leaves out URL patterns such as
// /:year/:title.
func (m matter) addresses() (all []string) {
	for _, key := range []string{"url", "permalink", "aliases", "redirect_from"} {
		for _, s := range m.list(key) {
			if (strings.HasPrefix(s, "/") || webURL(s) != "") && !strings.ContainsAny(s, ":{ ") || webURL(s) != "" {
				all = append(all, s)
			}
		}
	}
	return all
}
