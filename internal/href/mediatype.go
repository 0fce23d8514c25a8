package href

import (
	"path"
	"strings"
)

// mediaTypes maps the file extensions of enclosures to media types. The list is fixed, because the
// MIME types installed on a machine must not affect feeds.
var mediaTypes = map[string]string{
	".mp3": "audio/mpeg", ".m4a": "audio/mp4", ".m4b": "audio/mp4", ".wav": "audio/wav", ".flac": "audio/flac",
	".ogg": "audio/ogg", ".oga": "audio/ogg", ".opus": "audio/ogg",
	".mp4": "video/mp4", ".m4v": "video/mp4", ".mov": "video/quicktime", ".webm": "video/webm",
	".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".png": "image/png", ".gif": "image/gif", ".webp": "image/webp",
	".avif": "image/avif", ".heic": "image/heic", ".svg": "image/svg+xml",
	".pdf": "application/pdf", ".html": "text/html", ".htm": "text/html", ".torrent": "application/x-bittorrent",
}

// MediaType guesses a media type from the file extension in a URL; "" if it is unknown.
func MediaType(address string) string {
	address, _, _ = strings.Cut(address, "#")
	address, _, _ = strings.Cut(address, "?")
	return mediaTypes[strings.ToLower(path.Ext(address))]
}
