package advice

import (
	"strings"

	"cloudburst/feed"
)

// podcast looks for what podcast directories want, where the feed is a podcast.
//
// spec:itunes-2024#required
func (a *adviser) podcast() {
	f := a.f
	if !isPodcast(f) {
		return
	}
	t := f.ITunes
	if t == nil {
		a.add(LevelWarning, "podcast-itunes", a.top("", ""), "The feed has sounds or films, and no iTunes elements.", "Podcast directories do not take it in.", "Add itunes:image, itunes:category, itunes:explicit, itunes:author and itunes:owner.")
		t = &feed.ITunes{}
	} else {
		a.directory(t)
	}
	switch strings.ToLower(t.Explicit) {
	case "", "true", "false", "yes", "no", "clean", "explicit":
	default:
		a.add(LevelWarning, "podcast-explicit-value", a.top("itunes:explicit", t.Explicit), "itunes:explicit has a value that nobody knows.", "Directories take it for false, or refuse the feed.", "Write true or false.")
	}
	if f.Podcast == nil || f.Podcast.GUID == "" {
		a.add(LevelAdvice, "podcast-guid", a.top("", ""), "The podcast has no podcast:guid.", "When its address changes, directories take it for another podcast.", "Add podcast:guid, the UUID that the podcast namespace makes of the feed's address.")
	}
	for i := range f.Items {
		it := &f.Items[i]
		if len(it.Enclosures) > 0 && (it.ITunes == nil || it.ITunes.Duration == "") {
			a.add(LevelAdvice, "podcast-duration", a.item(i, "", it.Title.Value), "Episodes do not say how long they are.", "Readers show no length before the download.", "Add itunes:duration, in seconds.")
		}
	}
}

// directory looks for each element that directories want.
func (a *adviser) directory(t *feed.ITunes) {
	want := func(there bool, level Level, element, effect string) {
		if !there {
			a.add(level, "podcast-"+element, a.top("", ""), "The podcast has no itunes:"+element+".", effect, "Add itunes:"+element+".")
		}
	}
	const refused = "Apple's directory, and those that go by its rules, refuse the podcast."
	want(t.Image != "", LevelWarning, "image", refused)
	want(len(t.Categories) > 0, LevelWarning, "category", refused)
	want(t.Explicit != "", LevelWarning, "explicit", refused)
	want(t.Author != "", LevelAdvice, "author", "Directories do not say whose it is.")
	want(t.Owner != nil && t.Owner.Email != "", LevelAdvice, "owner", "Directories cannot check that it is yours.")
}

// isPodcast reports a feed whose items mostly have something to hear or to see.
func isPodcast(f *feed.Feed) bool {
	n := 0
	for i := range f.Items {
		for _, e := range f.Items[i].Enclosures {
			if strings.HasPrefix(e.Type, "audio/") || strings.HasPrefix(e.Type, "video/") {
				n++
				break
			}
		}
	}
	return n > 0 && (2*n >= len(f.Items) || f.ITunes != nil)
}
