package media

import (
	"bytes"
	"encoding/binary"
	"net/http"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"cloudburst/internal/text"
)

// Group is a broad category of files, as shown to users.
type Group string

// These are the groups of files.
const (
	Image    Group = "picture"
	Sound    Group = "sound"
	Video    Group = "video"
	Document Group = "document" // PDF documents
	Other    Group = "file"     // files for download; browsers must not display them
)

// article returns the name of the group with its article, for error messages. The name of Image
// differs from its stored value.
func (g Group) article() string {
	if g == Image {
		return "an image"
	}
	return "a " + string(g)
}

// Kind is the type of a file, as detected from its content.
type Kind struct {
	Type        string // media type; "application/octet-stream" if unknown or not to be displayed
	Ext         string // usual file name extension, ".jpg"; "" if any extension fits
	Group       Group
	Description string // description for messages: "a JPEG image", "an HTML page"

	form form
}

// form selects the walker that inspects a file.
type form int

const (
	formNone form = iota
	formJPEG
	formPNG
	formGIF
	formWebP
	formHEIF
	formMP4
	formMP3
	formWAV
	formFLAC
	formRejected // an image whose location cannot be removed
)

// HeadSize is the number of bytes that Detect needs, unless the file is shorter.
const HeadSize = 4096

const unknownType = "application/octet-stream"

// magic is one signature: the bytes sig at offset at identify kind.
type magic struct {
	at   int
	sig  string
	kind Kind
}

func magics() []magic {
	raw := func(words string) Kind { return Kind{unknownType, "", Image, words, formRejected} }
	return []magic{
		{0, "\xff\xd8\xff", Kind{"image/jpeg", ".jpg", Image, "a JPEG image", formJPEG}},
		{0, "\x89PNG\r\n\x1a\n", Kind{"image/png", ".png", Image, "a PNG image", formPNG}},
		{0, "GIF87a", Kind{"image/gif", ".gif", Image, "a GIF image", formGIF}},
		{0, "GIF89a", Kind{"image/gif", ".gif", Image, "a GIF image", formGIF}},
		{8, "WEBPVP8", Kind{"image/webp", ".webp", Image, "a WebP image", formWebP}},
		{8, "WAVE", Kind{"audio/wav", ".wav", Sound, "a WAV sound", formWAV}},
		{0, "fLaC", Kind{"audio/flac", ".flac", Sound, "a FLAC sound", formFLAC}},
		{0, "ID3", Kind{"audio/mpeg", ".mp3", Sound, "an MP3 sound", formMP3}},
		{0, "%PDF-", Kind{"application/pdf", ".pdf", Document, "a PDF document", formNone}},
		{0, "PK\x03\x04", Kind{"application/zip", "", Other, "a ZIP archive", formNone}},
		{0, "\x1f\x8b\x08", Kind{"application/gzip", "", Other, "a gzip archive", formNone}},
		{0, "II*\x00", raw("a TIFF or raw image")},
		{0, "MM\x00*", raw("a TIFF or raw image")},
		{0, "II+\x00", raw("a TIFF image")},
		{0, "MM\x00+", raw("a TIFF image")},
		{0, "IIRO", raw("a raw image")},
		{0, "IIU\x00", raw("a raw image")},
		{0, "FUJIFILMCCD-RAW", raw("a raw image")},
		{0, "8BPS", raw("a Photoshop image")},
		{0, "\xff\x0a", raw("a JPEG XL image")},
		{0, "\x00\x00\x00\x0cJXL \r\n\x87\n", raw("a JPEG XL image")},
		{0, "\x00\x00\x00\x0cjP  \r\n\x87\n", raw("a JPEG 2000 image")},
		{0, "\xff\x4f\xff\x51", raw("a JPEG 2000 image")},
	}
}

// Detect returns the type of a file from head: its first HeadSize bytes, or the whole file.
func Detect(head []byte) Kind {
	riff := bytes.HasPrefix(head, []byte("RIFF"))
	for _, m := range magics() {
		if len(head) >= m.at+len(m.sig) && string(head[m.at:m.at+len(m.sig)]) == m.sig && (m.at == 0 || riff) {
			return m.kind
		}
	}
	switch {
	case len(head) >= 12 && isBox(string(head[4:8])):
		return detectBoxes(head)
	case bytes.HasPrefix(head, []byte("OggS")):
		return detectOgg(head)
	case bytes.HasPrefix(head, []byte("\x1a\x45\xdf\xa3")):
		if bytes.Contains(head[:min(len(head), 64)], []byte("matroska")) {
			return Kind{"video/x-matroska", ".mkv", Video, "a Matroska video", formNone}
		}
		return Kind{"video/webm", ".webm", Video, "a WebM video", formNone}
	case isMP3(head):
		return Kind{"audio/mpeg", ".mp3", Sound, "an MP3 sound", formMP3}
	case len(head) > 7 && head[0] == 0xff && head[1]&0xf6 == 0xf0:
		return Kind{"audio/aac", ".aac", Sound, "an AAC sound", formNone}
	}
	return detectText(head)
}

// isBox reports whether a file of boxes can begin with a box of this type.
func isBox(typ string) bool {
	switch typ {
	case "ftyp", "moov", "mdat", "wide", "free", "skip", "pnot":
		return true
	}
	return false
}

// detectBoxes detects the type from the brands. Early QuickTime files have no brands.
func detectBoxes(head []byte) Kind {
	if string(head[4:8]) != "ftyp" {
		return Kind{"video/quicktime", ".mov", Video, "a QuickTime video", formMP4}
	}
	end := min(int(binary.BigEndian.Uint32(head)), len(head), 512)
	major, all := string(head[8:12]), ""
	if end > 16 {
		all = string(head[16:end])
	}
	has := func(brands ...string) bool {
		for _, b := range brands {
			if major == b || strings.Contains(all, b) {
				return true
			}
		}
		return false
	}
	is := func(brands ...string) bool {
		return slices.Contains(brands, major)
	}
	switch {
	case is("avif", "avis") || is("mif1", "msf1", "miaf") && has("avif", "avis"):
		return Kind{"image/avif", ".avif", Image, "an AVIF image", formHEIF}
	case is("heic", "heix", "heim", "heis", "hevc", "hevx", "mif1", "msf1", "miaf"):
		return Kind{"image/heic", ".heic", Image, "a HEIC image", formHEIF}
	case is("crx "), is("jxl "), is("jp2 "), is("jpx "):
		return Kind{unknownType, "", Image, "a raw image", formRejected}
	case is("M4A ", "M4B ", "M4P "):
		return Kind{"audio/mp4", ".m4a", Sound, "an MP4 sound", formMP4}
	case is("qt  "):
		return Kind{"video/quicktime", ".mov", Video, "a QuickTime video", formMP4}
	case strings.HasPrefix(major, "3g"):
		return Kind{"video/3gpp", ".3gp", Video, "a 3GPP video", formMP4}
	}
	return Kind{"video/mp4", ".mp4", Video, "an MP4 video", formMP4}
}

func detectOgg(head []byte) Kind {
	if bytes.Contains(head[:min(len(head), 256)], []byte("theora")) {
		return Kind{"video/ogg", ".ogv", Video, "an Ogg video", formNone}
	}
	return Kind{"audio/ogg", ".ogg", Sound, "an Ogg sound", formNone}
}

// detectText distinguishes plain text from binary data and from formats that browsers execute.
func detectText(head []byte) Kind {
	guess, _, _ := strings.Cut(http.DetectContentType(head), ";")
	start := bytes.ToLower(bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), " \t\r\n\f"))
	start = start[:min(len(start), 1024)]
	switch {
	case bytes.Contains(start, []byte("<svg")):
		return Kind{unknownType, "", Other, "an SVG drawing", formNone}
	case guess == "text/html", bytes.HasPrefix(start, []byte("<!doctype")), bytes.Contains(start, []byte("<html")), bytes.Contains(start, []byte("<script")):
		return Kind{unknownType, "", Other, "an HTML page", formNone}
	case guess == "text/xml", bytes.HasPrefix(start, []byte("<?")):
		return Kind{unknownType, "", Other, "an XML document", formNone}
	case bytes.HasPrefix(start, []byte("#!")):
		return Kind{unknownType, "", Other, "a script", formNone}
	case guess == "text/plain" && validText(head):
		return Kind{"text/plain; charset=utf-8", "", Other, "a text", formNone}
	}
	return Kind{unknownType, "", Other, "a file of unknown form", formNone}
}

// validText reports whether head is UTF-8. The last rune may be cut off.
func validText(head []byte) bool {
	for len(head) > 0 {
		r, n := utf8.DecodeRune(head)
		if r == utf8.RuneError && n <= 1 {
			return len(head) < utf8.UTFMax && !utf8.FullRune(head)
		}
		head = head[n:]
	}
	return true
}

// isMP3 reports whether head begins with an MP3 frame that another frame follows.
func isMP3(head []byte) bool {
	f, ok := mp3Frame(head)
	if !ok {
		return false
	}
	if f.size+4 > len(head) {
		return len(head) < HeadSize && f.size <= len(head)
	}
	_, ok = mp3Frame(head[f.size:])
	return ok
}

// Inline reports whether a browser may display the file, because the file cannot contain code that
// browsers execute.
func (k Kind) Inline() bool { return Inline(k.Type) }

// Inline reports whether a browser may display files of a media type that this package returns.
func Inline(mediaType string) bool {
	top, _, _ := strings.Cut(mediaType, "/")
	switch top {
	case "audio", "video":
		return true
	case "image":
		return mediaType != "image/svg+xml"
	}
	return mediaType == "application/pdf"
}

// claimedGroup returns the group that a file name extension or a declared media type implies.
func claimedGroup(ext, contentType string) Group {
	switch strings.ToLower(ext) {
	case ".jpg", ".jpeg", ".jpe", ".jfif", ".png", ".gif", ".webp", ".avif", ".heic", ".heif", ".tif", ".tiff":
		return Image
	case ".mp3", ".m4a", ".m4b", ".aac", ".wav", ".flac", ".ogg", ".oga", ".opus":
		return Sound
	case ".mp4", ".m4v", ".mov", ".webm", ".ogv", ".mkv", ".3gp":
		return Video
	case ".pdf":
		return Document
	case "", ".bin":
		kind, _, _ := strings.Cut(contentType, ";")
		switch top, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(kind)), "/"); {
		case strings.Contains(kind, "svg"):
			return Other
		case top == "image":
			return Image
		case top == "audio":
			return Sound
		case top == "video":
			return Video
		}
	}
	return Other
}

// Check returns fault.Invalid if the name implies another group of files than the content. If the
// name has no extension, Check uses the declared media type. Audio and video files often share
// extensions, so Check does not distinguish these two groups.
func (k Kind) Check(name, contentType string) error {
	claim := claimedGroup(path.Ext(name), contentType)
	same := claim == k.Group || k.Group == Sound && claim == Video || k.Group == Video && claim == Sound
	if claim == Other || same {
		return nil
	}
	if name == "" {
		return reject("The file was sent as %s, but its content is %s; it was not accepted.", claim.article(), k.Description)
	}
	return reject("“%s” is named like %s, but its content is %s; it was not accepted.", text.Clip(name, 100), claim.article(), k.Description)
}

// Name converts a file name to a name for URLs. The result has only letters, digits, ".", "_" and
// "-", at most 100 bytes, and an extension that fits the content.
func (k Kind) Name(called string) string {
	called = called[strings.LastIndexAny(called, `/\`)+1:]
	ext := path.Ext(called)
	base := strings.TrimSuffix(called, ext)
	if k.Ext != "" && !sameExt(ext, k) {
		ext = k.Ext
	}
	base, ext = plainName(base, 90), plainName(ext, 10)
	if ext == "." {
		ext = ""
	}
	if base = strings.Trim(base, ".-"); base == "" {
		base = string(k.Group)
	}
	return base + ext
}

// sameExt reports whether ext is a synonym of the usual extension of k.
func sameExt(ext string, k Kind) bool {
	ext = strings.ToLower(ext)
	if ext == k.Ext {
		return true
	}
	switch k.Ext {
	case ".jpg":
		return ext == ".jpeg"
	case ".heic":
		return ext == ".heif"
	case ".ogg":
		return ext == ".oga" || ext == ".opus"
	case ".mp4":
		return ext == ".m4v"
	case ".m4a":
		return ext == ".m4b"
	}
	return false
}

func plainName(s string, limit int) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case b.Len() >= limit:
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.', r == '_', r == '-':
			b.WriteRune(r)
		case r == ' ' && b.Len() > 0:
			b.WriteByte('-')
		}
	}
	return b.String()
}
