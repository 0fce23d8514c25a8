package item

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"cloudburst/feed"
	"cloudburst/internal/text"
)

// enclosuresOf returns the files of an item without duplicates: its enclosures, and the audio and
// video files of its media elements.
func enclosuresOf(it *feed.Item) (out []Enclosure) {
	add := func(e Enclosure) {
		if e.URL = WebURL(e.URL); e.URL == "" || len(out) >= maxEnclosures {
			return
		}
		if i := slices.IndexFunc(out, func(o Enclosure) bool { return o.URL == e.URL }); i >= 0 {
			o := &out[i]
			o.Duration, o.Length, o.Title, o.Type = cmp.Or(o.Duration, e.Duration), cmp.Or(o.Length, e.Length), cmp.Or(o.Title, e.Title), cmp.Or(o.Type, e.Type)
			return
		}
		out = append(out, e)
	}
	for _, e := range it.Enclosures {
		add(Enclosure{URL: e.URL, Type: mediaType(e.Type), Length: max(e.Length, 0), Duration: seconds(e.Duration), Title: text.ClipRunes(text.PlainLine(e.Title), maxName)})
	}
	eachMedia(it, func(m *feed.MediaContent) {
		kind := mediaType(m.Type)
		if strings.HasPrefix(kind, "audio/") || strings.HasPrefix(kind, "video/") || kind == "" && (m.Medium == "audio" || m.Medium == "video") {
			length, _ := strconv.ParseInt(m.FileSize, 10, 64)
			length = max(length, 0)
			took, _ := strconv.ParseFloat(m.Duration, 64)
			add(Enclosure{URL: m.URL, Type: cmp.Or(kind, m.Medium+"/*"), Length: length, Duration: seconds(took), Title: text.ClipRunes(Words(m.Title), maxName)})
		}
	})
	if it.ITunes != nil && it.ITunes.Seconds > 0 {
		for i := range out {
			if e := &out[i]; strings.HasPrefix(e.Type, "audio/") || strings.HasPrefix(e.Type, "video/") {
				e.Duration = cmp.Or(e.Duration, float64(it.ITunes.Seconds))
			}
		}
	}
	return out
}

// seconds returns s if it is a plausible duration in seconds, else 0.
func seconds(s float64) float64 {
	if s > 0 && s < 1e9 {
		return s
	}
	return 0
}

// mediaType returns a normalized media type that is safe to display and to pass to a player. It
// returns "" if s is not valid.
func mediaType(s string) string {
	s, _, _ = strings.Cut(strings.ToLower(strings.TrimSpace(s)), ";")
	s = strings.TrimSpace(s)
	major, minor, ok := strings.Cut(s, "/")
	if !ok || len(s) > 100 || major == "" || minor == "" || strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789/+-._") != "" {
		return ""
	}
	return s
}

func eachMedia(it *feed.Item, do func(*feed.MediaContent)) {
	if it.Media == nil {
		return
	}
	for i := range it.Media.Contents {
		do(&it.Media.Contents[i])
	}
	for i := range it.Media.Groups {
		for j := range it.Media.Groups[i].Contents {
			do(&it.Media.Groups[i].Contents[j])
		}
	}
}

// imageOf returns the URL of an image for an item whose text contains no image.
func imageOf(it *feed.Item) string {
	var found string
	take := func(u string) {
		if found == "" {
			found = WebURL(u)
		}
	}
	if it.More != nil {
		take(ImageURL(it.More.Image))
		take(it.More.BannerImage)
	}
	eachMedia(it, func(m *feed.MediaContent) {
		if m.Medium == "image" || strings.HasPrefix(mediaType(m.Type), "image/") {
			take(m.URL)
		}
		for _, t := range m.Thumbnails {
			take(t.URL)
		}
	})
	if it.Media != nil {
		for _, t := range it.Media.Thumbnails {
			take(t.URL)
		}
		for i := range it.Media.Groups {
			for _, t := range it.Media.Groups[i].Thumbnails {
				take(t.URL)
			}
		}
	}
	for _, e := range it.Enclosures {
		if strings.HasPrefix(mediaType(e.Type), "image/") {
			take(e.URL)
		}
	}
	if it.ITunes != nil {
		take(it.ITunes.Image)
	}
	return found
}
