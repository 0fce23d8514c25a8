package sanitize

import (
	"strings"
	"testing"

	"cloudburst/feed/feedtest"
)

// material returns texts for benchmarks; key: kind of text.
func material(b *testing.B) map[string][]string {
	b.Helper()
	all := map[string][]string{
		"plain":   {strings.Repeat("Words without any markup, and that for long. ", 100)},
		"script":  {strings.Repeat("<script>"+strings.Repeat("x", 1000)+"</script>", 5)},
		"attacks": attacks(b),
	}
	for _, kind := range []feedtest.Kind{feedtest.RSSContent, feedtest.RSSEscaped} {
		for seed := range uint64(8) {
			all["posts"] = append(all["posts"], texts(b, feedtest.Make(kind, 30e3, seed))...)
		}
	}
	for _, s := range all["posts"] {
		all["clean"] = append(all["clean"], HTML(s))
		all["broken"] = append(all["broken"], s+"<p>") // an unclosed element requires the slow path
	}
	return all
}

func measure(b *testing.B, all []string, f func(string) string) {
	b.Helper()
	size := 0
	for _, s := range all {
		size += len(s)
	}
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		for _, s := range all {
			f(s)
		}
	}
}

func BenchmarkSanitizeHTML(b *testing.B) {
	all := material(b)
	for _, name := range []string{"plain", "clean", "posts", "broken", "script", "attacks"} {
		b.Run(name, func(b *testing.B) { measure(b, all[name], HTML) })
	}
	for _, name := range []string{"posts", "attacks"} {
		b.Run(name+" slow path", func(b *testing.B) { measure(b, all[name], standard().slowHTML) })
	}
}

func BenchmarkExtractText(b *testing.B) {
	all := material(b)
	for _, name := range []string{"plain", "posts", "attacks"} {
		b.Run(name, func(b *testing.B) { measure(b, all[name], Text) })
	}
}
