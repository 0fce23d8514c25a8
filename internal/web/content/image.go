package content

import (
	"html"
	"strings"
	"unicode"
	"unicode/utf8"

	"cloudburst/internal/sanitize"
	"cloudburst/internal/web/shell"
)

// Image returns the HTML of an image according to the image mode; "": the image is a tracking pixel
// or has an unsafe URL. inLink means that the image is inside a link.
func (d *BodyRenderer) Image(src, alt, width, height string, inLink bool) string {
	data := isDataImage(src)
	here := d.own && strings.HasPrefix(src, "/") && !strings.HasPrefix(src, "//")
	if !data && !here && !shell.IsSafeURL(src) || isTrackingSize(width) || isTrackingSize(height) {
		return ""
	}
	sized := isPixels(width) && isPixels(height)
	switch {
	case data && !sized:
		width, height = dataImageSize(src)
	case data || here || d.images == ImagesDirect:
	case d.images == ImagesProxy:
		if !sized {
			if width, height = d.size(src); width == "" {
				d.Unsized = append(d.Unsized, src)
			}
		}
		src = d.proxy(src)
	default:
		return imageLink(src, alt, inLink)
	}
	out := `<img src="` + html.EscapeString(src) + `" alt="` + html.EscapeString(shell.CleanText(alt, 500)) + `"`
	switch { // the browser reserves the space of the image, so that the text below it stays where it is
	case isTrackingSize(width) || isTrackingSize(height):
		return ""
	case isPixels(width) && isPixels(height):
		out += ` width="` + width + `" height="` + height + `"`
	case isEmoji(alt):
		out += ` class="emoji"`
	case !d.own:
		out += ` class="unsized"`
	}
	return out + ` loading="lazy" decoding="async" referrerpolicy="no-referrer"/>`
}

// isEmoji reports whether the text in place of an image is a single symbol, so that the image is part
// of a line.
func isEmoji(alt string) bool {
	n := 0
	for _, r := range alt {
		if n++; n > 8 || r < 0x2000 || unicode.IsLetter(r) {
			return false
		}
	}
	return n > 0
}

// isDataImage reports whether src is a data URL of a raster image.
func isDataImage(src string) bool {
	kind, found := strings.CutPrefix(strings.ToLower(src[:min(len(src), 20)]), "data:image/")
	if !found || !utf8.ValidString(src) {
		return false
	}
	for _, name := range []string{"png;", "jpeg;", "jpg;", "gif;", "webp;", "avif;", "bmp;"} {
		if strings.HasPrefix(kind, name) {
			return true
		}
	}
	return false
}

func imageLink(src, alt string, inLink bool) string {
	words := "Image"
	if alt = strings.TrimSpace(shell.CleanText(alt, 200)); alt != "" {
		words += ": " + alt
	} else if name := LastPathPart(src); name != "" {
		words += ": " + name
	}
	if inLink {
		return "<span>" + html.EscapeString(words) + "</span>"
	}
	return `<a class="pic" href="` + html.EscapeString(src) + `" rel="` + sanitize.PageRel + `">` + html.EscapeString(words) + "</a>"
}

// isPixels reports whether a width or height is a number.
func isPixels(s string) bool {
	return s != "" && len(s) <= 5 && strings.Trim(s, "0123456789") == ""
}

// isTrackingSize reports whether a width or height is that of a tracking pixel.
func isTrackingSize(s string) bool { return s == "0" || s == "1" || s == "2" }
