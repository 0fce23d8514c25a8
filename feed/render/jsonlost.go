package render

import (
	"cmp"
	"slices"

	"cloudburst/feed"
)

// lostOfFeed records the fields of the feed that JSON Feed lacks.
func (j *jsonWriter) lostOfFeed() {
	f, h := j.f, &j.f.Hints
	loseFeed(j.writer)
	j.lose(lostIDs, f.Format != feed.JSONFeed && f.ID != "" && f.ID != f.Self)
	j.lose(lostDates, has(&f.Published, &f.Updated, &f.Created))
	j.lose(lostPersons, f.Publisher != nil)
	j.lose(lostCategories, len(f.Categories) > 0)
	j.lose(lostRights, f.Rights.Value != "" || len(f.Licenses) > 0)
	j.lose(lostImages, f.Image != nil && *f.Image != feed.Image{URL: f.Image.URL})
	j.lose(lostHints, cmp.Or(h.TTL, h.UpdatePeriod) != "" || len(h.SkipHours)+len(h.SkipDays) > 0 || h.Schedule != nil || h.Archive || h.Complete)
	j.lose(lostModules, cmp.Or(f.Docs, f.Rating, f.ErrorReports, h.PodcastUpdates) != "" || len(f.Accounts) > 0)
	j.lose(lostUnknown, len(f.Attrs) > 0)
	for _, c := range j.clouds() {
		j.lose(lostClouds, cloudURL(&c) == "")
	}
	for i := range f.Links {
		l := &f.Links[i]
		j.lose(lostLinks, !relation(l) && l.Href != f.Link && l.Href != olderPage(f) && l.Rel != "license")
	}
}

// lostOfItem records the fields of an item that JSON Feed lacks.
func (j *jsonWriter) lostOfItem(it *feed.Item, m *feed.More) {
	loseItem(j.writer, it)
	for i := range it.Links {
		l := &it.Links[i]
		j.lose(lostLinks, l.Href != it.Link && l.Href != m.ExternalLink && l.Rel != "license" && l.Rel != "replies")
	}
	j.lose(lostComments, cmp.Or(m.Comments, m.CommentsFeed, m.CommentAPI) != "" || m.CommentCount != nil)
	j.lose(lostRights, m.Rights.Value != "" || len(m.Licenses) > 0)
	j.lose(lostPlaces, len(m.Where) > 0)
	j.lose(lostDates, has(&m.Created, &m.Expires, &m.Edited))
	j.lose(lostModules, cmp.Or(m.Section, m.Department, m.OriginalLink, m.OriginalMedia, m.Markdown, m.LocalTime) != "" || m.Draft || m.Publisher != nil ||
		m.TextInput != nil || len(m.HitParade)+len(m.InReplyTo)+len(m.Chapters)+len(m.Outlines)+len(m.Accounts) > 0)
	j.lose(lostUnknown, len(m.Attrs) > 0)
}

// has reports whether one of the dates is set.
func has(dates ...*feed.Date) bool {
	return slices.ContainsFunc(dates, func(d *feed.Date) bool { return *d != feed.Date{} })
}
