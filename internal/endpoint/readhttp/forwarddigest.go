package readhttp

import (
	"bytes"
	"cmp"
	"fmt"
	"html/template"
	"strings"
	"time"

	"cloudburst/internal/river"
	"cloudburst/internal/river/forward"
)

// digest is the content of a mail that lists the items of a day or a week.
type digest struct {
	Subject  string
	Groups   []digestGroup
	More     int    // number of items that the mail does not list
	MoreLink string // page that lists these items; "": none
	End      string // URL at which the recipient ends the mails; "": none
}

// digestGroup contains the items of one feed or of one day. In a digest with one group, the group
// has no heading.
type digestGroup struct {
	Name, Link string
	Items      []digestItem
}

type digestItem struct{ Title, Link, About string }

const (
	maxDigestTitle = 150 // in characters
	maxDigestAbout = 200
)

// digestOf returns the content of a digest. Items of several feeds are grouped by feed. Items of a
// single feed are grouped by day (UTC).
func (m *Mail) digestOf(n forward.Forwarding, list []river.Entry, now time.Time, end string) digest {
	d := digest{Subject: m.digestSubject(n, list, now), More: n.More, End: end}
	sources, days := map[int64]bool{}, map[string]bool{}
	dayOf := func(e *river.Entry) string { return e.At.UTC().Format("Monday, 2 January 2006") }
	for i := range list {
		sources[list[i].SourceID], days[dayOf(&list[i])] = true, true
	}
	first := &list[0].Source
	d.MoreLink = cmp.Or(first.Home, first.URL)
	if n.SourceID == 0 {
		if d.MoreLink = ""; m.Site != nil {
			d.MoreLink = m.Site() + "/river"
		}
	}
	at := map[string]int{}
	for i := range list {
		e := &list[i]
		key, g := "", digestGroup{}
		switch {
		case len(sources) > 1:
			key, g = fmt.Sprint(e.SourceID), digestGroup{Name: oneLine(cmp.Or(e.Source.Title, e.Source.URL), 200), Link: e.Source.Home}
		case len(days) > 1:
			key, g = dayOf(e), digestGroup{Name: dayOf(e)}
		}
		if _, have := at[key]; !have {
			at[key] = len(d.Groups)
			d.Groups = append(d.Groups, g)
		}
		it := digestItem{Title: oneLine(cmp.Or(e.Title, e.Text, e.Link), maxDigestTitle), Link: e.Link}
		if e.Title != "" {
			it.About = oneLine(e.Text, maxDigestAbout)
		}
		group := &d.Groups[at[key]]
		group.Items = append(group.Items, it)
	}
	return d
}

// digestSubject returns the subject, with the number of items and the period: "The chalk log: 3
// posts, daily digest of 1 March 2026".
func (m *Mail) digestSubject(n forward.Forwarding, list []river.Entry, now time.Time) string {
	name := oneLine(n.Category, 60)
	if n.SourceID != 0 {
		name = oneLine(cmp.Or(list[0].Source.Title, list[0].Source.URL), 60)
	}
	if name != "" {
		name += ": "
	}
	what := "item"
	if m.Posts != nil && m.Posts(n) {
		what = "post"
	}
	return fmt.Sprintf("%s%s, %s digest of %s", name, quantity(len(list)+n.More, what), n.Digest, now.UTC().Format("2 January 2006"))
}

func quantity(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// MoreText returns the sentence about the items that the mail does not list.
func (d digest) MoreText() string { return "and " + fmt.Sprint(d.More) + " more" }

func (d digest) text() string {
	var b strings.Builder
	for i, g := range d.Groups {
		if i > 0 {
			b.WriteString("\n")
		}
		if g.Name != "" {
			b.WriteString("* " + g.Name + "\n\n")
		}
		for _, it := range g.Items {
			b.WriteString(it.Title + "\n")
			if it.Link != "" {
				b.WriteString(it.Link + "\n")
			}
			b.WriteString("\n")
		}
	}
	if d.More > 0 {
		b.WriteString(d.MoreText())
		if d.MoreLink != "" {
			b.WriteString(": " + d.MoreLink)
		}
		b.WriteString("\n")
	}
	return b.String() + endText(d.End)
}

// digestPage is the HTML of a digest. html/template escapes everything.
const digestPage = `<!DOCTYPE html>
<html><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"><title>{{.Subject}}</title></head><body>
{{range .Groups}}{{if .Name}}<h2>{{if .Link}}<a href="{{.Link}}">{{.Name}}</a>{{else}}{{.Name}}{{end}}</h2>
{{end}}{{range .Items}}<p>{{if .Link}}<a href="{{.Link}}">{{.Title}}</a>{{else}}<b>{{.Title}}</b>{{end}}{{if .About}}<br>
{{.About}}{{end}}</p>
{{end}}{{end}}{{if .More}}<p>{{if .MoreLink}}<a href="{{.MoreLink}}">{{.MoreText}}</a>{{else}}{{.MoreText}}{{end}}</p>
{{end}}{{if .End}}<hr>
<p><a href="{{.End}}">` + endWords + `</a></p>
{{end}}</body></html>
`

func (d digest) html() (string, error) {
	page, err := template.New("digest").Parse(digestPage)
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	err = page.Execute(&b, d)
	return b.String(), err
}
