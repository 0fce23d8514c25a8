package sanitize

import "testing"

func TestFramesAreReplacedByLinks(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`<iframe src="https://www.youtube.com/embed/abc_-1?rel=0"></iframe>`:                     `<a href="https://www.youtube.com/watch?v=abc_-1">Video on youtube.com</a>`,
		`<p>a<iframe src="//www.youtube-nocookie.com/embed/abc" title="A heron"></iframe>b</p>`:  `<p>a<a href="https://www.youtube.com/watch?v=abc">Video: A heron</a>b</p>`,
		`<iframe title="YouTube video player" src="http://youtube.com/embed/abc"></iframe>`:      `<a href="https://www.youtube.com/watch?v=abc">Video on youtube.com</a>`,
		`<iframe src="https://www.youtube.com/embed/videoseries?list=PL1"></iframe>`:             `<a href="https://www.youtube.com/playlist?list=PL1">Video on youtube.com</a>`,
		`<iframe src="https://player.vimeo.com/video/12?h=1"/>`:                                  `<a href="https://vimeo.com/12">Video on player.vimeo.com</a>`,
		`<iframe src="https://w.soundcloud.com/player/?url=x&amp;y=1"></iframe>`:                 `<a href="https://w.soundcloud.com/player/?url=x&amp;y=1">Audio on w.soundcloud.com</a>`,
		`<iframe src="https://maps.example/embed" title="A map &amp; more"></iframe>`:            `<a href="https://maps.example/embed">A map &amp; more</a>`,
		`<iframe src="https://maps.example/embed"><p>No frames.</p></iframe>`:                    `<a href="https://maps.example/embed">Embedded page: maps.example</a><p>No frames.</p>`,
		`<iframe src="about:blank" data-src="https://vimeo.example/1"></iframe>`:                 `<a href="https://vimeo.example/1">Embedded page: vimeo.example</a>`,
		`<iframe src="https://a.example/1"></iframe><iframe src="https://a.example/2"></iframe>`: `<a href="https://a.example/1">Embedded page: a.example</a> <a href="https://a.example/2">Embedded page: a.example</a>`,
		`<a href="https://b.example/">b<iframe src="https://a.example/1"></iframe></a>`:          `<a href="https://b.example/">b</a>`,
		`<table><tr><td>a</td></tr><iframe src="https://a.example/1"></iframe></table>`:          `<table><tbody><tr><td>a</td></tr><tr><td><a href="https://a.example/1">Embedded page: a.example</a></td></tr></tbody></table>`,
		`a<iframe src="https://track.example/1" width="1" height="1"></iframe>b`:                 `ab`,
		`a<iframe src="https://track.example/1" style="display: none"></iframe>b`:                `ab`,
		`a<iframe src="javascript:steal()"></iframe>b`:                                           `ab`,
		`a<iframe src="https://youtube.com/embed/&quot;onload=x"></iframe>b`:                     `a<a href="https://youtube.com/embed/&#34;onload=x">Video on youtube.com</a>b`,
		`a<iframe src="/embed/1"></iframe>b`:                                                     `ab`,
		`a<iframe srcdoc="<p>x"></iframe>b`:                                                      `ab`,
		`<svg><path/><iframe src="https://a.example/1"></iframe></svg>`:                          `<svg xmlns="http://www.w3.org/2000/svg"><path></path></svg>`,
		`<script><iframe src="https://a.example/1"></iframe></script>b`:                          `b`,
	} {
		got := HTML(in)
		if got != want {
			t.Errorf("%s\nbecomes %s\nwant    %s", in, got, want)
		}
		if again := HTML(got); again != got {
			t.Errorf("%s\nis not stable: %s", got, again)
		}
	}
}
