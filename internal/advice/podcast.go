package advice

import (
	"strings"

	"cloudburst/feed"
)

// podcast checks the requirements of podcast directories if the feed is a podcast.
//
// spec:itunes-2024#required
func (a *adviser) podcast() {
	f := a.f
	if !isPodcast(f) {
		return
	}
	t := f.ITunes
	if t == nil {
		a.add(LevelWarning, "podcast-itunes", a.top("", ""), "The feed contains audio or video but no iTunes elements.", "Podcast directories do not accept the feed.", "Add itunes:image, itunes:category, itunes:explicit, itunes:author and itunes:owner.")
		t = &feed.ITunes{}
	} else {
		a.directory(t)
	}
	switch strings.ToLower(t.Explicit) {
	case "", "true", "false", "yes", "no", "clean", "explicit":
	default:
		a.add(LevelWarning, "podcast-explicit-value", a.top("itunes:explicit", t.Explicit), "itunes:explicit has an unknown value.", "Directories treat it as false, or refuse the feed.", "Use true or false.")
	}
	if f.Podcast == nil || f.Podcast.GUID == "" {
		a.add(LevelAdvice, "podcast-guid", a.top("", ""), "The podcast has no podcast:guid.", "When its URL changes, directories treat it as a new podcast.", "Add podcast:guid with the UUID that the podcast namespace derives from the feed's URL.")
	}
	for i := range f.Items {
		it := &f.Items[i]
		if len(it.Enclosures) > 0 && (it.ITunes == nil || it.ITunes.Duration == "") {
			a.add(LevelAdvice, "podcast-duration", a.item(i, "", it.Title.Value), "Episodes have no duration.", "Readers cannot show the duration before the download.", "Add itunes:duration, in seconds.")
		}
	}
}

// directory checks each element that directories require.
func (a *adviser) directory(t *feed.ITunes) {
	want := func(there bool, level Level, element, effect string) {
		if !there {
			a.add(level, "podcast-"+element, a.top("", ""), "The podcast has no itunes:"+element+".", effect, "Add itunes:"+element+".")
		}
	}
	const refused = "Apple's directory, and others with the same rules, refuse the podcast."
	want(t.Image != "", LevelWarning, "image", refused)
	want(len(t.Categories) > 0, LevelWarning, "category", refused)
	want(t.Explicit != "", LevelWarning, "explicit", refused)
	want(t.Author != "", LevelAdvice, "author", "Directories show no author.")
	want(t.Owner != nil && t.Owner.Email != "", LevelAdvice, "owner", "Directories cannot verify that you own the podcast.")
}

// isPodcast reports whether a feed is a podcast: half of its items have audio or video, or one item
// has and the feed has iTunes elements.
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
