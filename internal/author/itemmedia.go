package author

import (
	"reflect"
	"slices"
	"strconv"

	"cloudburst/feed"
)

// An enclosure of RSS has an address, a type and a length. What else is known of a file is
// said once more in Media RSS, which is about the same address.

// describe adds to what an item says of media what is known of its files. Readers take the
// title of a file for that of an item that has none, so it is left out there.
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

// described are the files of an item with what its media say of them, and those media that
// say more than that.
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

// ours reports a file of which no more is said than describe says: all else stays as it is.
func isOwnMedia(c feed.MediaContent) bool {
	if isMarkup(c.Title) || isMarkup(c.Description) {
		return false
	}
	want := feed.MediaContent{URL: c.URL, FileSize: c.FileSize, Type: c.Type, Duration: c.Duration}
	want.Title, want.Description = c.Title, c.Description
	return reflect.DeepEqual(c, want)
}
