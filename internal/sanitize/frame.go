package sanitize

import (
	"bytes"
	"net/url"
	"strconv"
	"strings"
)

// frame describes an <iframe>.
type frame struct {
	src, lazy, title string
	hidden           bool
}

// readFrame reads the attributes of an <iframe>.
func readFrame(next func() (key, value string, more bool)) (f frame) {
	for more := true; more; {
		var key, value string
		key, value, more = next()
		value = strings.TrimSpace(value)
		switch key {
		case "src":
			f.src = value
		case "data-src", "data-lazy-src":
			f.lazy = value
		case "title":
			f.title = collapse(value)
		case "hidden":
			f.hidden = true
		case "width", "height":
			if n, err := strconv.Atoi(strings.TrimSuffix(value, "px")); err == nil && n <= 1 {
				f.hidden = true
			}
		case "style":
			bare := strings.ReplaceAll(strings.ToLower(value), " ", "")
			f.hidden = f.hidden || strings.Contains(bare, "display:none") || strings.Contains(bare, "visibility:hidden")
		}
	}
	return f
}

// link returns the URL and the text of the link that replaces the frame. ok is false for hidden
// frames and frames without a web page.
func (f frame) link() (to, text string, ok bool) {
	src := f.src
	if f.lazy != "" && (src == "" || strings.HasPrefix(src, "about:") || strings.HasPrefix(src, "data:")) {
		src = f.lazy
	}
	if strings.HasPrefix(src, "//") {
		src = "https:" + src
	}
	u, err := url.Parse(src)
	if f.hidden || err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return "", "", false
	}
	if src, ok = safeLink(src); !ok {
		return "", "", false
	}
	host := strings.TrimPrefix(strings.ToLower(u.Hostname()), "www.")
	kind, page := player(host, u)
	if page == "" {
		page = src
	}
	switch {
	case kind == "" && f.title != "":
		return page, f.title, true
	case kind == "":
		return page, "Embedded page: " + host, true
	case f.title != "" && !strings.Contains(strings.ToLower(f.title), "player"): // ignore titles such as "YouTube video player"
		return page, kind + ": " + f.title, true
	}
	return page, kind + " on " + host, true
}

// player returns the kind of media that a player on a well-known host plays, and the URL of a page
// with the same content. kind is "" for an unknown host. page is "" if no such page is known; link
// then uses the URL of the player.
func player(host string, u *url.URL) (kind, page string) {
	last := u.Path[strings.LastIndexByte(u.Path, '/')+1:]
	if !isName(last) {
		last = ""
	}
	switch host {
	case "youtube.com", "youtube-nocookie.com", "m.youtube.com":
		switch list := u.Query().Get("list"); {
		case strings.HasPrefix(u.Path, "/embed/") && last != "" && last != "videoseries":
			return "Video", "https://www.youtube.com/watch?v=" + last
		case isName(list) && list != "":
			return "Video", "https://www.youtube.com/playlist?list=" + list
		}
		return "Video", ""
	case "player.vimeo.com":
		if last != "" {
			return "Video", "https://vimeo.com/" + last
		}
		return "Video", ""
	case "dailymotion.com", "geo.dailymotion.com":
		if strings.HasPrefix(u.Path, "/embed/video/") && last != "" {
			return "Video", "https://www.dailymotion.com/video/" + last
		}
		return "Video", ""
	case "open.spotify.com", "embed.podcasts.apple.com", "embed.music.apple.com", "w.soundcloud.com", "bandcamp.com", "widget.deezer.com",
		"podcasters.spotify.com", "player.captivate.fm", "player.simplecast.com", "embed.acast.com", "buzzsprout.com":
		return "Audio", ""
	case "player.twitch.tv", "clips.twitch.tv", "rumble.com", "odysee.com", "ted.com", "embed.ted.com", "facebook.com", "tiktok.com",
		"streamable.com", "fast.wistia.net", "fast.wistia.com", "players.brightcove.net", "archive.org", "player.bilibili.com", "videopress.com":
		return "Video", ""
	}
	if strings.HasPrefix(u.Path, "/videos/embed/") { // path of PeerTube players
		return "Video", ""
	}
	return "", ""
}

// isName reports whether s consists of letters, digits, "-" and "_".
func isName(s string) bool {
	return only(s, func(c byte) bool { return isAlphanumeric(c) || c == '-' || c == '_' })
}

// frame writes a link in place of an <iframe>.
func (b *builder) frame(next func() (key, value string, more bool)) {
	to, text, ok := readFrame(next).link()
	if !ok || b.inside(foreign) {
		return
	}
	for _, o := range b.stack {
		if o.e.name == "a" { // a nested link would end the outer link
			return
		}
	}
	if b.inTable() {
		b.openTableContext(elements["td"])
		b.open(elements["td"], nil)
	}
	if bytes.HasSuffix(b.out, []byte("</a>")) {
		b.text(" ")
	}
	b.start("a", func() (key, value string, more bool) { return "href", to, false }, false)
	b.text(text)
	b.end("a")
}
