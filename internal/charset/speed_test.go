package charset

import (
	"bytes"
	"encoding/base64"
	"os"
	"strings"
	"testing"
	"unicode/utf8"
	"unsafe"
)

// The test counts allocations, so it does not run in parallel.
func TestDocumentsInUTF8AreNotCopied(t *testing.T) {
	for _, text := range []string{
		"<?xml version='1.0' encoding='utf-8'?><a>é\n\t日本\r\n ﬀ ！</a>",
		"<?xml version='1.0' encoding='koi8-r'?><a>plain</a>",
		"<?xml version='1.0' encoding='iso-2022-jp'?><a>plain</a>",
	} {
		doc := []byte(text)
		var got Result
		allocations := testing.AllocsPerRun(10, func() { got = Decode(doc, "application/rss+xml; charset=utf-8") })
		if unsafe.StringData(got.Text) != &doc[0] || got.Text != text {
			t.Errorf("%q was copied", text)
		}
		if strings.Contains(text, "utf-8") && allocations > 0 {
			t.Errorf("%q: %v allocations", text, allocations)
		}
	}
}

// survey must find a control character in any context, and must not report other bytes.
func TestEncodingScanFindsEveryControlCharacter(t *testing.T) {
	t.Parallel()
	for _, around := range []byte{' ', '\n', '\t', 0x7F, 0x80, 0xFF, 0x20, 'a'} {
		for b := range 256 {
			for at := range 19 {
				doc := []byte(strings.Repeat(string([]byte{around}), 19))
				doc[at] = byte(b)
				wantControl := -1
				if b < 0x20 && b != '\t' && b != '\n' && b != '\r' {
					wantControl = at
				}
				f := survey(doc)
				if f.control != wantControl {
					t.Fatalf("byte %#x at %d of %#x: found at %d", b, at, around, f.control)
				}
				if high := bytes.IndexFunc(doc, func(r rune) bool { return r >= 0x80 }); f.high != high || f.valid != utf8.Valid(doc) {
					t.Fatalf("byte %#x at %d of %#x: %+v, but high is at %d", b, at, around, f, high)
				}
			}
		}
	}
}

func TestEncodingScanValidatesUTF8(t *testing.T) {
	t.Parallel()
	leads := []byte{0x41, 0x7F, 0x80, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xEC, 0xED, 0xEE, 0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xFF}
	next := []byte{0x20, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBD, 0xBE, 0xBF, 0xC0, 0xC2, 0xFF}
	check := func(doc []byte) {
		f := survey(doc)
		if f.valid != utf8.Valid(doc) {
			t.Fatalf("% x: valid is %v", doc, f.valid)
		}
		if !f.valid {
			return
		}
		odd := strings.IndexFunc(string(doc), func(r rune) bool {
			return r == 0xFFFE || r == 0xFFFF || r >= 0x80 && r < 0xA0 && windows1252Rune(byte(r)) != utf8.RuneError
		})
		if f.odd != odd {
			t.Fatalf("% x: odd is %d, not %d", doc, f.odd, odd)
		}
	}
	for _, a := range leads {
		for _, b := range next {
			for _, c := range next {
				for _, d := range next {
					check([]byte{a, b, c, d})
					check([]byte{'x', a, b, c, d, 'y', 'z', a, b, c})
				}
				check([]byte{a, b, c})
			}
			check([]byte{a, b})
		}
		check([]byte{a})
	}
}

func FuzzDecode(f *testing.F) {
	file, err := os.ReadFile("testdata/titles.txt")
	if err != nil {
		f.Fatal(err)
	}
	for line := range strings.Lines(string(file)) {
		fields := strings.Split(strings.TrimSpace(line), "\t")
		if doc, err := base64.StdEncoding.DecodeString(fields[len(fields)-1]); err == nil {
			f.Add(doc, "text/xml; charset="+fields[0])
		}
	}
	f.Fuzz(func(t *testing.T, doc []byte, contentType string) {
		before := string(doc)
		got := Decode(doc, contentType)
		if string(doc) != before {
			t.Fatal("the document was changed")
		}
		if !utf8.ValidString(got.Text) {
			t.Fatalf("not UTF-8: %q", got.Text)
		}
		if i := strings.IndexFunc(got.Text, func(r rune) bool {
			return r < 0x20 && forbidden(byte(r)) || r == 0xFFFE || r == 0xFFFF
		}); i >= 0 {
			t.Fatalf("forbidden character at %d of %q", i, got.Text)
		}
		if strings.HasPrefix(got.Text, "\uFEFF") {
			t.Fatal("a byte order mark is left")
		}
		if byName(got.Name).name != got.Name || got.From == "" {
			t.Fatalf("read as %q from %q", got.Name, got.From)
		}
		for _, p := range got.Problems {
			if p.Kind != "character" && p.Kind != "encoding" || p.Message == "" || p.Line < 0 || p.Line > 1+strings.Count(got.Text, "\n") {
				t.Fatalf("problem %+v", p)
			}
		}
		if len(got.Problems) > 8 {
			t.Fatalf("%d problems", len(got.Problems))
		}
		// Decoding a decoded text again must not change the text.
		again := Decode([]byte(got.Text), "text/xml; charset=utf-8")
		if again.Text != got.Text && zeroPattern([]byte(got.Text)) == "" {
			t.Fatalf("%q becomes %q", got.Text, again.Text)
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	ascii := "<item>\n\t<title>The quick brown fox</title>\n\t<link>http://example.org/2026/11/fox</link>\n</item>\n"
	for _, test := range []struct{ name, head, item string }{
		{"ascii", "<?xml version='1.0' encoding='utf-8'?>", ascii},
		{"german", "<?xml version='1.0' encoding='utf-8'?>", ascii + "Größe übrig „so“ "},
		{"chinese", "<?xml version='1.0' encoding='utf-8'?>", "<title>敏捷的棕色狐狸跳过懒狗，敏捷的棕色狐狸跳过懒狗。</title>\n"},
		{"spaces", "<?xml version='1.0' encoding='utf-8'?>", strings.Repeat("«\u00a0a\u00a0»", 20)},
		{"latin", "<?xml version='1.0' encoding='iso-8859-1'?>", ascii + "Gr\xf6\xdfe"},
		{"mixed", "<?xml version='1.0' encoding='utf-8'?>", ascii + "Größe \x93so\x94"},
		{"control", "<?xml version='1.0' encoding='utf-8'?>", ascii + "\x08"},
		{"gb18030", "<?xml version='1.0' encoding='gb2312'?>", "<title>\xc3\xf4\xbd\xdd\xb5\xc4\xd7\xd8 \xc9\xab</title>"},
	} {
		doc := []byte(test.head + strings.Repeat(test.item, 200_000/len(test.item)))
		b.Run(test.name, func(b *testing.B) {
			b.SetBytes(int64(len(doc)))
			b.ReportAllocs()
			for b.Loop() {
				Decode(doc, "text/xml")
			}
		})
	}
	b.Run("small", func(b *testing.B) {
		doc := []byte("<?xml version='1.0' encoding='utf-8'?><rss/>")
		b.ReportAllocs()
		for b.Loop() {
			Decode(doc, "application/rss+xml; charset=UTF-8")
		}
	})
}
