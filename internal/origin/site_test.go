package origin

import "testing"

func TestLinksOfAPageAreRewrittenForTheDomainOfItsAuthor(t *testing.T) {
	t.Parallel()
	s := Site{User: "alice", Origin: "https://blog.example", Public: "https://hub.example"}
	for in, want := range map[string]string{
		`<a href="/alice/">`:                                    `<a href="/">`,
		`<a href="/alice/2026/a?b=c#d">`:                        `<a href="/2026/a?b=c#d">`,
		`<a href="/alicea/">`:                                   `<a href="https://hub.example/alicea/">`,
		`<a href="/">`:                                          `<a href="https://hub.example/">`,
		`<a href="#x" class="y">`:                               `<a href="#x" class="y">`,
		`<ol data-stream="/log/stream?kind=save&amp;topic=x">`:  `<ol data-stream="/log/stream?kind=save&amp;topic=x">`,
		`<a href="/log/streams">`:                               `<a href="https://hub.example/log/streams">`,
		`<link href="/static/base.css">`:                        `<link href="/static/base.css">`,
		`<meta content="https://hub.example/alice/a">`:          `<meta content="https://blog.example/a">`,
		`<meta content="https://hub.example/bob/">`:             `<meta content="https://hub.example/bob/">`,
		`<a href="//else.example/alice/">`:                      `<a href="//else.example/alice/">`,
		`<a href="https://hub.example.evil/alice/">`:            `<a href="https://hub.example.evil/alice/">`,
		`<p>href=&#34;/alice/&#34; /alice/ https://hub.example`: `<p>href=&#34;/alice/&#34; /alice/ https://hub.example`,
		`<a href="/alice/`:                                      `<a href="/alice/`,
	} {
		if got := string(s.Rewrite([]byte(in))); got != want {
			t.Errorf("%s became %s, want %s", in, got, want)
		}
	}
}
