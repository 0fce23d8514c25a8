package author

import (
	"reflect"
	"slices"
	"strconv"

	"cloudburst/feed"
)

// An RSS enclosure has only a URL, a type and a length. The functions of this file write other data
// of an enclosure as Media RSS with the same URL.

// addMedia adds the data of files to the media of an item. It omits titles of files for an item
// without a title, because readers would show them as the title of the item.
//
// spec:cloudburst#enclosures-described
func (w itemWriter) addMedia(m *feed.Media, list []Enclosure, titled bool) *feed.Media {
	for _, e := range list {
		if !titled {
			e.Title = ""
		}
		if e.Title == "" && e.Alt == "" && e.Duration == 0 {
			continue
		}
		if m == nil {
			m = &feed.Media{}
		}
		c := feed.MediaContent{URL: w.absolute(e.URL), Type: e.Type}
		if e.Length > 0 {
			c.FileSize = strconv.FormatInt(e.Length, 10)
		}
		if e.Duration > 0 {
			c.Duration = strconv.FormatFloat(e.Duration, 'f', -1, 64)
		}
		c.Title, c.Description = plainText(e.Title), plainText(e.Alt)
		m.Contents = append(m.Contents, c)
	}
	return m
}

// splitMedia returns the enclosures of an item with the data that its media has about them, and the
// media with the remaining data.
func splitMedia(it *feed.Item) (files []Enclosure, rest *feed.Media) {
	for _, e := range it.Enclosures {
		files = append(files, Enclosure{URL: e.URL, Type: e.Type, Length: e.Length, Title: e.Title, Duration: e.Duration})
	}
	if it.Media == nil {
		return files, nil
	}
	media := *it.Media
	media.Contents = slices.DeleteFunc(slices.Clone(media.Contents), func(c feed.MediaContent) bool {
		i := slices.IndexFunc(files, func(e Enclosure) bool { return addressOf(e.URL) == addressOf(c.URL) })
		if i < 0 || !isOwnMedia(c) {
			return false
		}
		e := &files[i]
		if e.Title == "" {
			e.Title = c.Title.Value
		}
		if e.Alt == "" {
			e.Alt = c.Description.Value
		}
		if seconds, err := strconv.ParseFloat(c.Duration, 64); err == nil && seconds > 0 && e.Duration == 0 {
			e.Duration = seconds
		}
		return true
	})
	if reflect.DeepEqual(media, feed.Media{Contents: media.Contents}) && len(media.Contents) == 0 {
		return files, nil
	}
	return files, &media
}

// isOwnMedia reports whether media contains only data that addMedia writes. Other media is
// preserved unchanged.
func isOwnMedia(c feed.MediaContent) bool {
	if isMarkup(c.Title) || isMarkup(c.Description) {
		return false
	}
	want := feed.MediaContent{URL: c.URL, FileSize: c.FileSize, Type: c.Type, Duration: c.Duration}
	want.Title, want.Description = c.Title, c.Description
	return reflect.DeepEqual(c, want)
}
