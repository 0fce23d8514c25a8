package charset

import "strings"

// FileType returns the kind of a binary file by its first bytes, such as "image" or "pdf"; "" if
// unknown.
func FileType(doc []byte) string {
	head := string(doc[:min(len(doc), 16)])
	for _, m := range [...]struct{ sign, looks string }{
		{"\x89PNG\r\n", "image"}, {"GIF87a", "image"}, {"GIF89a", "image"}, {"\xff\xd8\xff", "image"}, {"BM\x00", "image"},
		{"\x00\x00\x01\x00", "image"}, {"II*\x00", "image"}, {"MM\x00*", "image"}, {"%PDF-", "pdf"}, {"PK\x03\x04", "zip"},
		{"\x1f\x8b\x08", "gzip"}, {"BZh9", "binary"}, {"\xfd7zXZ\x00", "binary"}, {"\x28\xb5\x2f\xfd", "binary"}, {"7z\xbc\xaf", "binary"},
		{"ID3", "audio"}, {"OggS", "audio"}, {"fLaC", "audio"}, {"\xff\xfb", "audio"}, {"\x1aE\xdf\xa3", "video"},
		{"\x7fELF", "binary"}, {"MZ\x90\x00", "binary"}, {"SQLite format 3", "binary"}, {"\x00asm", "binary"},
	} {
		if strings.HasPrefix(head, m.sign) {
			return m.looks
		}
	}
	switch {
	case len(head) >= 12 && head[:4] == "RIFF" && head[8:] >= "WEBP" && head[8:12] == "WEBP":
		return "image"
	case len(head) >= 12 && head[:4] == "RIFF":
		return "audio"
	case len(head) >= 12 && (head[4:12] == "ftypavif" || head[4:12] == "ftypheic"):
		return "image"
	case len(head) >= 8 && head[4:8] == "ftyp":
		return "video"
	}
	return ""
}

// IsBinary reports whether doc begins with bytes that no text contains, neither in UTF-8 nor
// in a single-byte encoding.
func IsBinary(doc []byte) bool {
	n := 0
	for _, c := range doc[:min(len(doc), 1024)] {
		if c < 0x20 && c != '\t' && c != '\n' && c != '\r' && c != '\f' && c != 0x1b {
			n++
		}
	}
	return n > 8
}
