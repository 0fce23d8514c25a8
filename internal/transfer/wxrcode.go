package transfer

import (
	"cmp"
	"html"
	"regexp"
	"strings"

	"cloudburst/internal/author"
)

// maxCodes is the maximum number of names of removed shortcodes that a report distinguishes.
const maxCodes = 1000

var (
	shortcode = regexp.MustCompile(`\[(\[?)(/?)([a-zA-Z][a-zA-Z0-9_-]*)((?:\s[^\[\]]*)?)\](\]?)`)
	codeValue = regexp.MustCompile(`([a-zA-Z0-9_-]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'/]\S*))`)
	embed     = regexp.MustCompile(`(?s)\[embed[^\]]*\]\s*(https?://[^\s\[\]<>"]+)\s*\[/embed\]`)
	bareURL   = regexp.MustCompile(`(?m)^[ \t]*(https?://[^\s<>"]+)[ \t]*\r?$`)
	// codeFiles are the attributes of [audio] and [video] that name a file.
	codeFiles = []string{"src", "mp3", "m4a", "ogg", "wav", "flac", "wma", "mp4", "m4v", "webm", "ogv", "mov", "wmv", "flv"}
	// coreCodes are shortcodes that occur without attributes.
	coreCodes = map[string]bool{"audio": true, "video": true, "embed": true, "gallery": true, "playlist": true}
)

// expand converts the shortcodes and bare URLs in the text of a post to HTML, as WordPress does. It
// removes the shortcodes that it does not know, but keeps the text that they enclose. A word in
// brackets is a shortcode only if it has a value or an end tag. played are the audio and video files.
func (x *wxr) expand(s string) (text string, played []author.Enclosure) {
	s = embed.ReplaceAllString(s, "\n$1\n")
	ended := map[string]bool{}
	for _, m := range shortcode.FindAllStringSubmatch(s, -1) {
		ended[m[3]] = ended[m[3]] || m[2] == "/"
	}
	s = shortcode.ReplaceAllStringFunc(s, func(code string) string {
		m := shortcode.FindStringSubmatch(code)
		name := m[3]
		values := codeValues(m[4])
		switch {
		case !ended[name] && len(values) == 0 && !coreCodes[name]:
			return code
		case m[1] != "" && m[5] != "": // the author escaped the shortcode
			return code[1 : len(code)-1]
		case m[2] == "/", name == "caption", name == "wp_caption":
			return m[1] + m[5]
		case name == "audio" || name == "video":
			if at := cmp.Or(fileOf(values), webURL(m[4])); at != "" {
				kind := cmp.Or(typeOf(at), map[string]string{"audio": "audio/mpeg", "video": "video/mp4"}[name])
				played = append(played, author.Enclosure{URL: at, Type: kind})
				return "<" + name + ` controls src="` + html.EscapeString(at) + `"></` + name + ">"
			}
		}
		if x.codes[name] > 0 || len(x.codes) < maxCodes {
			x.codes[name]++
		}
		return m[1] + m[5]
	})
	return bareURL.ReplaceAllString(s, `<a href="$1">$1</a>`), played
}

// codeValues returns the attributes of a shortcode; key: name in lowercase.
func codeValues(s string) map[string]string {
	values := map[string]string{}
	for _, m := range codeValue.FindAllStringSubmatch(s, -1) {
		values[strings.ToLower(m[1])] = unescape(m[2] + m[3] + m[4])
	}
	return values
}

func fileOf(values map[string]string) string {
	for _, name := range codeFiles {
		if at := webURL(values[name]); at != "" {
			return at
		}
	}
	return ""
}

// isPlayed reports whether a media type is audio or video.
func isPlayed(kind string) bool {
	return strings.HasPrefix(kind, "audio/") || strings.HasPrefix(kind, "video/")
}
