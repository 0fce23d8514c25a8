package render

import (
	"strconv"
	"strings"

	"cloudburst/feed"
)

// itunes writes Apple's podcast elements of a feed or an item. It corrects or omits values for
// which directories would reject the feed.
//
// spec:itunes-2024#values
func (w *writer) itunes(it *feed.ITunes, ofFeed bool) {
	if it == nil {
		return
	}
	if !ofFeed || w.newer("itunes:title", it.Title != "") {
		w.leaf("itunes:title", it.Title)
	}
	w.leaf("itunes:subtitle", w.cutTo(it.Subtitle, "itunes:subtitle", 255))
	w.leaf("itunes:summary", w.cutTo(it.Summary.Value, "itunes:summary", 4000))
	w.leaf("itunes:author", w.cutTo(it.Author, "itunes:author", 255))
	w.empty("itunes:image", "href", w.webURI(it.Image, "itunes:image"))
	w.itunesKeywords(it.Keywords)
	w.leaf("itunes:explicit", w.explicit(it.Explicit))
	w.leaf("itunes:block", w.word(it.Block, "itunes:block", "yes no clean"))
	if ofFeed {
		w.itunesOfFeed(it)
	} else {
		w.itunesOfItem(it)
	}
}

func (w *writer) itunesOfFeed(it *feed.ITunes) {
	w.itunesOwner(it.Owner)
	w.itunesCategories(it.Categories)
	w.leaf("itunes:type", w.word(it.Type, "itunes:type", "episodic serial"))
	w.leaf("itunes:new-feed-url", w.uri(it.NewFeedURL, "itunes:new-feed-url"))
	if w.newer("itunes:complete", it.Complete != "") {
		w.leaf("itunes:complete", it.Complete)
	}
	w.lose(lostModules, it.Duration != "" || it.Order != "" || it.Episode != "" || it.Season != "" || it.Captioned != "")
}

func (w *writer) itunesOfItem(it *feed.ITunes) {
	w.leaf("itunes:duration", w.itunesDuration(it))
	if w.newer("itunes:order", it.Order != "") {
		w.leaf("itunes:order", w.number(it.Order, "itunes:order", 0))
	}
	w.leaf("itunes:episode", w.number(it.Episode, "itunes:episode", 1))
	w.leaf("itunes:season", w.number(it.Season, "itunes:season", 1))
	w.leaf("itunes:episodeType", w.word(it.Type, "itunes:episodeType", "full trailer bonus"))
	if w.newer("itunes:isClosedCaptioned", it.Captioned != "") {
		w.leaf("itunes:isClosedCaptioned", it.Captioned)
	}
	w.lose(lostModules, it.Owner != nil || len(it.Categories) > 0 || it.NewFeedURL != "" || it.Complete != "")
}

// webURI is like uri for values that must be web URLs.
func (w *writer) webURI(s, where string) string {
	if s = withPath(w.uri(s, where)); s == "" || isWeb(s) {
		return s
	}
	w.invalid(s, where, "a web URL")
	return ""
}

// explicit returns true or false, and converts the older values.
func (w *writer) explicit(s string) string {
	switch strings.ToLower(strings.TrimSpace(s)) {
	case "":
		return ""
	case "true", "yes", "explicit":
		if s != "true" {
			w.warn("itunes-explicit", "itunes:explicit", "The value must be true or false; true replaces ", short(s), ".")
		}
		return "true"
	case "false", "no", "clean":
		if s != "false" {
			w.warn("itunes-explicit", "itunes:explicit", "The value must be true or false; false replaces ", short(s), ".")
		}
		return "false"
	}
	w.invalid(s, "itunes:explicit", "true or false")
	return ""
}

// itunesKeywords writes as many comma-separated keywords as the limit allows.
func (w *writer) itunesKeywords(words []string) {
	const limit = 255 // limit of the directories in characters; bytes are never fewer
	if len(words) == 0 {
		return
	}
	n := -1
	for i, word := range words {
		if n += len(word) + 1; n > limit {
			w.warn("length", "itunes:keywords", "The keywords exceed the limit of ", strconv.Itoa(limit), " characters; the last ones are omitted.")
			words = words[:i]
			break
		}
	}
	w.leaf("itunes:keywords", strings.Join(words, ","))
}

// itunesDuration returns the original duration if programs commonly support its form, and otherwise
// the duration in seconds.
func (w *writer) itunesDuration(it *feed.ITunes) string {
	s := strings.TrimSpace(it.Duration)
	switch {
	case s == "":
		return positive(it.Seconds)
	case isDuration(s):
		return s
	case it.Seconds > 0:
		w.warn("itunes-duration", "itunes:duration", "This duration is converted to seconds: ", short(s), ".")
		return strconv.Itoa(it.Seconds)
	}
	w.invalid(s, "itunes:duration", "seconds, or hours, minutes and seconds like 1:02:03")
	return ""
}

// fileDuration writes the duration of the only file of an item as the duration of the episode. The
// durations of several files have no element.
func fileDuration(w *writer, it *feed.Item) {
	one := len(it.Enclosures) == 1 && (it.ITunes == nil || it.ITunes.Duration == "" && it.ITunes.Seconds == 0)
	for i := range it.Enclosures {
		if d := it.Enclosures[i].Duration; one && d > 0 && d < 1e9 {
			w.leaf("itunes:duration", positive(int(d+0.5)))
		} else {
			w.lose(lostFileDetails, d > 0)
		}
	}
}

// isDuration reports whether s has the form n, n:mm or n:mm:ss.
func isDuration(s string) bool {
	first, rest, more := strings.Cut(s, ":")
	if !digits(first) {
		return false
	}
	for parts := 0; more; parts++ {
		var part string
		part, rest, more = strings.Cut(rest, ":")
		if len(part) != 2 || !digits(part) || part[0] > '5' || parts == 2 {
			return false
		}
	}
	return true
}

// itunesOwner writes the owner of the podcast. An owner needs an email address.
func (w *writer) itunesOwner(who *feed.Person) {
	if who == nil {
		return
	}
	mail := w.mailbox(who.Email, "itunes:owner")
	if mail == "" {
		w.warn("itunes-owner", "itunes:owner", "The owner of a podcast needs an email address; this one has none and is omitted.")
		return
	}
	w.open("itunes:owner")
	w.leaf("itunes:name", w.cutTo(who.Name, "itunes:owner", 255))
	w.element("itunes:email", mail)
	w.close("itunes:owner")
	w.lose(lostPersons, who.URL != "" || who.Avatar != "")
}

// itunesCategories writes the valid categories with their subcategories.
func (w *writer) itunesCategories(list []feed.Category) {
	for i := 0; i < len(list); i++ {
		c := &list[i]
		if c.Scheme != "" || c.Term == "" { // the parent was omitted or is missing
			w.itunesUnknown(c.Term)
			continue
		}
		if !isITunesCategory("", c.Term) {
			w.itunesUnknown(c.Term)
			for i+1 < len(list) && list[i+1].Scheme == c.Term {
				i++
			}
			continue
		}
		open := false
		for ; i+1 < len(list) && list[i+1].Scheme == c.Term; i++ {
			sub := list[i+1].Term
			if !isITunesCategory(c.Term, sub) {
				w.itunesUnknown(sub)
				continue
			}
			if !open {
				w.open("itunes:category", "text", c.Term)
				open = true
			}
			w.empty("itunes:category", "text", sub)
		}
		if open {
			w.close("itunes:category")
		} else {
			w.empty("itunes:category", "text", c.Term)
		}
	}
}

func (w *writer) itunesUnknown(name string) {
	w.warn("itunes-category", "itunes:category", "Podcast directories do not have this category here; it is omitted: ", short(name), ".")
}

// isITunesCategory reports whether directories have or had a category. parent is "" for a
// top-level category.
//
// spec:itunes-2024#categories
func isITunesCategory(parent, name string) bool {
	list := itunesCategories(parent)
	i := strings.Index(list, "|"+name+"|")
	return i >= 0 && name != "" && strings.IndexByte(name, '|') < 0
}

func itunesCategories(parent string) string {
	switch parent {
	case "":
		return "|Arts|Business|Comedy|Education|Fiction|Government|History|Health & Fitness|Kids & Family|Leisure|Music|News|" +
			"Religion & Spirituality|Science|Society & Culture|Sports|Technology|True Crime|TV & Film|" +
			"Arts & Entertainment|Audio Blogs|Family|Food|Games & Hobbies|Government & Organizations|Health|International|" +
			"Movies & Television|News & Politics|Politics|Public Radio|Science & Medicine|Sports & Recreation|Talk Radio|Transportation|Travel|"
	case "Arts":
		return "|Books|Design|Fashion & Beauty|Food|Performing Arts|Visual Arts|Literature|"
	case "Business":
		return "|Careers|Entrepreneurship|Investing|Management|Marketing|Non-Profit|Finance|Management & Marketing|News|Shopping|"
	case "Comedy":
		return "|Comedy Interviews|Improv|Stand-Up|"
	case "Education":
		return "|Courses|How To|Language Learning|Self-Improvement|Education Technology|Higher Education|K-12|Language Courses|Training|"
	case "Fiction":
		return "|Comedy Fiction|Drama|Science Fiction|"
	case "Health & Fitness":
		return "|Alternative Health|Fitness|Medicine|Mental Health|Nutrition|Sexuality|"
	case "Kids & Family":
		return "|Education for Kids|Parenting|Pets & Animals|Stories for Kids|"
	case "Leisure":
		return "|Animation & Manga|Automotive|Aviation|Crafts|Games|Hobbies|Home & Garden|Video Games|"
	case "Music":
		return "|Music Commentary|Music History|Music Interviews|"
	case "News":
		return "|Business News|Daily News|Entertainment News|News Commentary|Politics|Sports News|Tech News|"
	}
	return itunesCategoriesToo(parent)
}

func itunesCategoriesToo(parent string) string {
	switch parent {
	case "Religion & Spirituality":
		return "|Buddhism|Christianity|Hinduism|Islam|Judaism|Spirituality|New Age|Philosophy|Other|"
	case "Science":
		return "|Astronomy|Chemistry|Earth Sciences|Life Sciences|Mathematics|Natural Sciences|Nature|Physics|Social Sciences|"
	case "Society & Culture":
		return "|Documentary|Personal Journals|Philosophy|Places & Travel|Relationships|History|"
	case "Sports":
		return "|Baseball|Basketball|Cricket|Fantasy Sports|Football|Golf|Hockey|Rugby|Running|Soccer|Swimming|Tennis|Volleyball|Wilderness|Wrestling|"
	case "TV & Film":
		return "|After Shows|Film History|Film Interviews|Film Reviews|TV Reviews|"
	case "Technology":
		return "|Computers|Developers|Gadgets|Information Technology|News|Operating Systems|Podcasting|Smart Phones|Software How-To|Tech News|Text/Speech|"
	case "Games & Hobbies":
		return "|Automotive|Aviation|Hobbies|Other Games|Video Games|"
	case "Government & Organizations":
		return "|Local|National|Non-Profit|Regional|"
	case "Science & Medicine":
		return "|Medicine|Natural Sciences|Social Sciences|"
	case "Sports & Recreation":
		return "|Amateur|College & High School|Outdoor|Professional|"
	}
	return ""
}
