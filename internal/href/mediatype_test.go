package href

import "testing"

func TestMediaTypeIsDerivedFromTheFileExtension(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"http://a.example/talk.mp3":           "audio/mpeg",
		"http://a.example/talk.MP3?from=x.y":  "audio/mpeg",
		"http://a.example/a.b/photo.jpeg#top": "image/jpeg",
		"/alice/media/1/clip.mov":             "video/quicktime",
		"http://a.example/?file=talk.mp3":     "",
		"http://a.example/talk.mp3/":          "",
		"http://a.example":                    "",
		"":                                    "",
	} {
		if got := MediaType(address); got != want {
			t.Errorf("MediaType(%q) = %q, want %q", address, got, want)
		}
	}
}
