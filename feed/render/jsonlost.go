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
	j.lose(lostDates, has(&f.Published, &f.Updated))
	j.lose(lostPersons, f.Publisher != nil)
	j.lose(lostCategories, len(f.Categories) > 0)
	j.lose(lostRights, f.Rights.Value != "")
	j.lose(lostImages, f.Image != nil && *f.Image != feed.Image{URL: f.Image.URL})
	j.lose(lostHints, h.TTL != "" || len(h.SkipHours)+len(h.SkipDays) > 0 || h.Schedule != nil)
	j.lose(lostDocs, cmp.Or(f.Docs, f.Rating) != "")
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
	loseMore(j.writer, m)
	j.lose(lostRights, m.Rights.Value != "")
	j.lose(lostModules, m.Publisher != nil)
}

// has reports whether one of the dates is set.
func has(dates ...*feed.Date) bool {
	return slices.ContainsFunc(dates, func(d *feed.Date) bool { return *d != feed.Date{} })
}
