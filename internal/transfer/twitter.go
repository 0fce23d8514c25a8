package transfer

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"html"
	"path"
	"regexp"
	"slices"
	"strings"

	"cloudburst/internal/author"
)

// twitter is the archive of X, formerly Twitter: scripts that assign lists of tweets, and their
// media.
type twitter struct {
	a     *foreignArchive
	files []string // names of tweets.js and its parts
	media map[string]string
	notes *tweetNotes // nil: not yet read
	id    string
	name  string
	shown string
	bio   string
}

type tweetLine struct {
	Tweet *tweet `json:"tweet"`
	tweet        // in older archives, the tweet is not wrapped
}

type tweet struct {
	ID         string        `json:"id_str"`
	Text       string        `json:"full_text"`
	CreatedAt  string        `json:"created_at"`
	Lang       string        `json:"lang"`
	ReplyTo    string        `json:"in_reply_to_status_id_str"`
	ReplyUser  string        `json:"in_reply_to_user_id_str"`
	ReplyName  string        `json:"in_reply_to_screen_name"`
	Entities   tweetEntities `json:"entities"`
	Extensions tweetEntities `json:"extended_entities"`
}

type tweetEntities struct {
	Hashtags []tweetTag   `json:"hashtags"`
	URLs     []tweetLink  `json:"urls"`
	Media    []tweetMedia `json:"media"`
}

type tweetTag struct {
	Text string `json:"text"`
}

type tweetLink struct {
	URL      string `json:"url"`
	Expanded string `json:"expanded_url"`
}

type tweetMedia struct {
	URL   string `json:"url"`
	At    string `json:"media_url_https"`
	Alt   string `json:"ext_alt_text"`
	Video struct {
		Variants []struct {
			URL string `json:"url"`
		} `json:"variants"`
	} `json:"video_info"`
}

var (
	tweetFile    = regexp.MustCompile(`(^|/)data/tweets?(-part\d+)?\.js$`)
	tweetMention = regexp.MustCompile(`(^|[^\w@/])@(\w{1,20})\b`)
	tweetURL     = regexp.MustCompile(`https?://[^\s<>"]+[^\s<>".,;:!?)'’”]`)
)

func openTwitter(a *foreignArchive) source {
	t := &twitter{a: a, media: map[string]string{}}
	for _, name := range a.names {
		if tweetFile.MatchString(name) {
			t.files = append(t.files, name)
		}
	}
	if len(t.files) == 0 {
		return nil
	}
	dir := path.Dir(t.files[0]) + "/"
	for _, folder := range []string{"tweets_media/", "tweet_media/"} {
		for _, name := range a.names {
			if base, ok := strings.CutPrefix(name, dir+folder); ok {
				t.media[base] = name
			}
		}
	}
	t.account(dir)
	return t
}

// account reads the name, the ID and the profile of the author of the tweets.
func (t *twitter) account(dir string) {
	var accounts []struct {
		Account struct {
			ID    string `json:"accountId"`
			Name  string `json:"username"`
			Shown string `json:"accountDisplayName"`
		} `json:"account"`
	}
	if t.script(dir+"account.js", &accounts) && len(accounts) > 0 {
		one := accounts[0].Account
		t.id, t.name, t.shown = one.ID, one.Name, one.Shown
	}
	var profiles []struct {
		Profile struct {
			Description struct {
				Bio string `json:"bio"`
			} `json:"description"`
		} `json:"profile"`
	}
	if t.script(dir+"profile.js", &profiles) && len(profiles) > 0 {
		t.bio = profiles[0].Profile.Description.Bio
	}
}

// script decodes the list that the script called name assigns into v, and reports whether that
// succeeded. A script has at most 1 MiB. After a failure, the import has less information about the
// author.
func (t *twitter) script(name string, v any) bool {
	if !t.a.has(name) {
		return false
	}
	b, err := t.a.text(name, 1<<20)
	if err != nil {
		return false
	}
	_, list, ok := strings.Cut(string(b), "[")
	return ok && json.Unmarshal([]byte("["+strings.TrimRight(list, "; \r\n\t")), v) == nil
}

func (t *twitter) kind() string { return "twitter" }

func (t *twitter) profile() author.Profile {
	return author.Profile{Name: clip(t.shown, 100), Blurb: clip(t.bio, 300)}
}

func (t *twitter) posts(ctx context.Context, each func(*foreignPost) error) error {
	if t.notes == nil {
		t.notes = readTweetNotes(ctx, t.a, path.Dir(t.files[0])+"/")
	}
	for _, name := range t.files {
		err := eachJSON(ctx, t.a, name, "", func(_ int, v *tweetLine, bad error) error {
			one := v.Tweet
			if one == nil {
				one = &v.tweet
			}
			if bad != nil || one.ID == "" {
				return each(&foreignPost{Omit: omitInvalid})
			}
			t.notes.complete(one)
			return each(t.post(one))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (t *twitter) post(w *tweet) *foreignPost {
	p := &foreignPost{ID: w.ID}
	name := cmp.Or(t.name, "i")
	p.identify(t.kind(), w.ID, "https://twitter.com/"+name+"/status/"+w.ID)
	p.Slug = w.ID
	p.date(w.CreatedAt, "")
	if len(w.Lang) == 2 {
		p.Language = w.Lang
	}
	for _, tag := range w.Entities.Hashtags {
		p.label(tag.Text)
	}
	if strings.HasPrefix(w.Text, "RT @") {
		p.From, p.ID = boostedPost, ""
	}
	if w.ReplyTo != "" || w.ReplyUser != "" {
		own := t.id != "" && w.ReplyUser == t.id || t.name != "" && strings.EqualFold(w.ReplyName, t.name)
		switch {
		case own:
			p.Parent = w.ReplyTo
		default:
			p.From = replyToPost
			if w.ReplyTo != "" {
				p.Reply = &author.Reply{URL: "https://twitter.com/" + cmp.Or(w.ReplyName, "i") + "/status/" + w.ReplyTo}
			}
		}
	}
	t.text(p, w)
	return p
}

// text converts the text of a tweet to HTML. It removes the short URLs of the tweet's media and
// replaces all other short URLs by the full URLs.
func (t *twitter) text(p *foreignPost, w *tweet) {
	text := html.UnescapeString(w.Text)
	all := w.Extensions.Media
	if len(all) == 0 {
		all = w.Entities.Media
	}
	for _, m := range all {
		if entry := t.find(w.ID, m); entry != "" {
			text = strings.ReplaceAll(text, m.URL, "")
			if !slices.ContainsFunc(p.Files, func(f foreignFile) bool { return f.Entry == entry }) {
				p.Files = append(p.Files, foreignFile{Entry: entry, Alt: m.Alt})
			}
		}
	}
	for _, u := range w.Entities.URLs {
		if u.URL != "" && webURL(u.Expanded) != "" {
			text = strings.ReplaceAll(text, u.URL, u.Expanded)
		}
	}
	p.Source, p.Format = tweetHTML(strings.TrimSpace(text)), author.HTML
}

// tweetHTML converts plain text to HTML: URLs and mentions become links, and empty lines separate
// paragraphs.
func tweetHTML(text string) string {
	if text == "" {
		return ""
	}
	var b strings.Builder
	from := 0
	for _, at := range tweetURL.FindAllStringIndex(text, -1) {
		b.WriteString(mentions(text[from:at[0]]))
		u := html.EscapeString(text[at[0]:at[1]])
		fmt.Fprintf(&b, `<a href="%s">%s</a>`, u, u)
		from = at[1]
	}
	b.WriteString(mentions(text[from:]))
	body := emptyLine.ReplaceAllString(strings.ReplaceAll(b.String(), "\r", ""), "</p>\x00<p>")
	body = strings.ReplaceAll(body, "\n", "<br>\n")
	return "<p>" + strings.ReplaceAll(body, "\x00", "\n") + "</p>"
}

func mentions(text string) string {
	return tweetMention.ReplaceAllString(html.EscapeString(text), `$1<a href="https://twitter.com/$2">@$2</a>`)
}

// find returns the name of a media file in the archive, "" if there is none. The archive names the
// file by the ID of the tweet and the last segment of the URL of the image or of a video.
func (t *twitter) find(id string, m tweetMedia) string {
	for _, v := range m.Video.Variants {
		at, _, _ := strings.Cut(v.URL, "?")
		if entry := t.media[id+"-"+path.Base(at)]; entry != "" {
			return entry
		}
	}
	return t.media[id+"-"+path.Base(m.At)]
}
