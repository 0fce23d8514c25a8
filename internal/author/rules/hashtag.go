package rules

import (
	"html"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"cloudburst/internal/sanitize"
)

// maxHashtag is the maximum length of a hashtag in characters.
const maxHashtag = 60

// Hashtags finds the hashtags in the sanitized HTML of a post. Name and Href are required.
type Hashtags struct {
	Name func(label string) string // returns the name of a hashtag's category; "": the label is not a valid hashtag
	Href func(name string) string  // returns the path of the category's page

	labels []string
	names  []string
}

// Categories returns all categories of a post, at most limit: those that the author gave, and those
// of the hashtags that Link found. tags are the categories that exist only because of a hashtag.
// was are the hashtags of the post before the change: if the text no longer contains a hashtag, its
// category is removed. An empty result is nil.
func (h *Hashtags) Categories(given, was []string, limit int) (all, tags []string) {
	was = slices.Clone(was)
	for i, l := range was {
		was[i] = h.Name(l)
	}
	there := map[string]bool{}
	for _, l := range given {
		name := h.Name(l)
		if slices.Contains(was, name) && !slices.Contains(h.names, name) {
			continue
		}
		all, there[name] = append(all, l), true
	}
	for i, l := range h.labels {
		switch name := h.names[i]; {
		case there[name] && slices.Contains(was, name):
			tags = append(tags, l)
		case !there[name] && len(all) < limit:
			all, tags = append(all, l), append(tags, l)
		}
	}
	return all, tags
}

// Link returns HTML in which the hashtags are links. Existing links and code are unchanged.
//
// spec:cloudburst#hashtags
func (h *Hashtags) Link(s string) string {
	if !strings.Contains(s, "#") {
		return s
	}
	var b strings.Builder
	literal := 0 // number of open elements in which # begins no hashtag
	for len(s) > 0 {
		if s[0] == '<' {
			n := sanitize.TagEnd(s)
			tag := s[:n]
			b.WriteString(tag)
			if s = s[n:]; isLiteral(tag) {
				if strings.HasPrefix(tag, "</") {
					literal = max(literal-1, 0)
				} else if !strings.HasSuffix(tag, "/>") {
					literal++
				}
			}
			continue
		}
		n := strings.IndexByte(s, '<')
		if n < 0 {
			n = len(s)
		}
		if text := s[:n]; literal > 0 {
			b.WriteString(text)
		} else {
			h.text(&b, text)
		}
		s = s[n:]
	}
	return b.String()
}

// isLiteral reports whether a tag belongs to an element in which # begins no hashtag.
func isLiteral(tag string) bool {
	name := strings.TrimLeft(tag, "</")
	if end := strings.IndexAny(name, " />\t\n"); end >= 0 {
		name = name[:end]
	}
	return slices.Contains([]string{"a", "code", "pre", "kbd", "samp", "var", "textarea", "button"}, strings.ToLower(name))
}

// text writes the text between two tags, with its hashtags as links.
func (h *Hashtags) text(b *strings.Builder, s string) {
	before := ' '
	for len(s) > 0 {
		at := strings.IndexByte(s, '#')
		if at < 0 {
			b.WriteString(s)
			return
		}
		if at > 0 {
			before, _ = utf8.DecodeLastRuneInString(s[:at])
		}
		b.WriteString(s[:at])
		s = s[at:]
		label := hashtagAt(s)
		name := ""
		if label != "" && beginsHashtag(before) {
			name = h.Name(label)
		}
		if name == "" {
			b.WriteByte('#')
			s, before = s[1:], '#'
			continue
		}
		if !slices.Contains(h.names, name) {
			h.labels, h.names = append(h.labels, label), append(h.names, name)
		}
		b.WriteString(`<a href="` + html.EscapeString(h.Href(name)) + `">#` + label + `</a>`)
		s, before = s[1+len(label):], 'x'
	}
}

// beginsHashtag reports whether a hashtag can begin after the character before. In a word, a URL or
// a character reference, # begins no hashtag.
func beginsHashtag(before rune) bool {
	return !unicode.IsLetter(before) && !unicode.IsDigit(before) && !unicode.IsMark(before) && !strings.ContainsRune("_&#/=", before)
}

// hashtagAt returns the hashtag at the beginning of a text that begins with #. The result does not
// contain the #. It has letters, digits and _, and at least one letter; "": no hashtag.
func hashtagAt(s string) string {
	letter, n := false, 0
	end := len(s)
	for i, r := range s[1:] {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && r != '_' && r != '\u200d' {
			end = i + 1
			break
		}
		letter = letter || unicode.IsLetter(r)
		if n++; n > maxHashtag {
			return ""
		}
	}
	if letter {
		return s[1:end]
	}
	return ""
}
