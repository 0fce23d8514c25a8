package href

import (
	"strings"
	"testing"
)

func TestResolveFollowsRFC3986(t *testing.T) {
	t.Parallel()
	const on = "http://a/b/c/d;p?q"
	b := New(on)
	for ref, want := range map[string]string{
		"g:h": "g:h", "g": "http://a/b/c/g", "./g": "http://a/b/c/g", "g/": "http://a/b/c/g/",
		"/g": "http://a/g", "//g": "http://g", "?y": "http://a/b/c/d;p?y", "g?y": "http://a/b/c/g?y",
		"#s": "http://a/b/c/d;p?q#s", "g#s": "http://a/b/c/g#s", "g?y#s": "http://a/b/c/g?y#s",
		";x": "http://a/b/c/;x", "g;x": "http://a/b/c/g;x", "g;x?y#s": "http://a/b/c/g;x?y#s",
		"": on, ".": "http://a/b/c/", "./": "http://a/b/c/", "..": "http://a/b/", "../": "http://a/b/",
		"../g": "http://a/b/g", "../..": "http://a/", "../../": "http://a/", "../../g": "http://a/g",
		// These references have too many parent segments, or dots that are not segments.
		"../../../g": "http://a/g", "../../../../g": "http://a/g", "/./g": "http://a/g", "/../g": "http://a/g",
		"g.": "http://a/b/c/g.", ".g": "http://a/b/c/.g", "g..": "http://a/b/c/g..", "..g": "http://a/b/c/..g",
		"./../g": "http://a/b/g", "./g/.": "http://a/b/c/g/", "g/./h": "http://a/b/c/g/h", "g/../h": "http://a/b/c/h",
		"g;x=1/./y": "http://a/b/c/g;x=1/y", "g;x=1/../y": "http://a/b/c/y",
		// Dots in a query or fragment are text.
		"g?y/./x": "http://a/b/c/g?y/./x", "g?y/../x": "http://a/b/c/g?y/../x",
		"g#s/./x": "http://a/b/c/g#s/./x", "g#s/../x": "http://a/b/c/g#s/../x",
		"http:g": "http://a/b/c/g",
	} {
		if got := b.Resolve(ref); got != want {
			t.Errorf("%q on %q is %q, want %q", ref, on, got, want)
		}
	}
}

func TestResolveMatchesBrowsers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ base, ref, want string }{
		{"http://example.com", "a", "http://example.com/a"},
		{"http://example.com", "?q", "http://example.com/?q"},
		{"http://example.com", "#f", "http://example.com#f"},
		{"http://example.com?q=/x/", "a", "http://example.com/a"},
		{"http://example.com/d#f", "", "http://example.com/d#f"},
		{"http://example.com/d#f", "#g", "http://example.com/d#g"},
		{"http://example.com/d/../e/x", "a", "http://example.com/e/a"},
		{"http://example.com/d/..", "a", "http://example.com/d/a"},
		{"http://example.com/a//b/", "c", "http://example.com/a//b/c"},
		{"https://example.com/", "//other.example/x", "https://other.example/x"},
		{"https://example.com/", "///x", "https://example.com/x"},
		{"https://example.com/", "//", "//"},
		{"https://example.com/", " \n a \t", "https://example.com/a"},
		{"https://example.com/", "a\nb", "https://example.com/ab"},
		{"https://example.com/", "a b", "https://example.com/a b"},
		{"https://example.com/", "https:///host//x", "https://host//x"},
		{"https://example.com/", "http://", "http://"},
		{"https://example.com/", "http:x", "http:x"},
		{"https://example.com/", "HTTP://Host/x", "HTTP://Host/x"},
		{"https://example.com/", "mailto:a@b", "mailto:a@b"},
		{"https://example.com/", "javascript:x", "javascript:x"},
		{"https://example.com/", "//[::1/x", "//[::1/x"},
		{"https://example.com/", "1:2", "https://example.com/1:2"},
		{"https://example.com/", ":x", "https://example.com/:x"},
		{"https://example.com/", "ünï/ö", "https://example.com/ünï/ö"},
		{"HTTP://example.com/a", "//h", "HTTP://h"},
		{"  http://example.com/a/ ", "b", "http://example.com/a/b"},
		{"http:////example.com/a/", "b", "http://example.com/a/b"},
		{"file:///home/feeds/a.xml", "b.html", "file:///home/feeds/b.html"},
		{"file:/home/feeds/a.xml", "b.html", "file:///home/feeds/b.html"},
		{"file:///home/a.xml", "file:/x", "file:///x"},
		{"feed://example.com/a", "b", "feed://example.com/b"},
		// These bases are unusable.
		{"", "a", "a"},
		{"", " a ", "a"},
		{"mailto:a@b", "c", "c"},
		{"http:", "c", "c"},
		{"http://[bad/", "c", "c"},
		{"http://example.com/" + strings.Repeat("x", maxBase), "c", "c"},
		// These bases are relative.
		{"/d/e", "a", "/d/a"},
		{"d/e", "../a", "a"},
		{"d/e", "../../../a", "a"},
		{"d", "//h/x", "//h/x"},
	} {
		if got := New(c.base).Resolve(c.ref); got != c.want {
			t.Errorf("%q on %q is %q, want %q", c.ref, c.base, got, c.want)
		}
	}
}

func TestNestedBaseURLsAreResolved(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		bases []string // base URLs, the outermost first
		want  string
	}{
		{[]string{"http://a/b/", "c/", "d"}, "http://a/b/c/d"},
		{[]string{"http://a/b/", "", " "}, "http://a/b/"},
		{[]string{"http://a/b/", "http://other/x", "/y"}, "http://other/y"},
		{[]string{"http://a/b/", "mailto:x@y"}, "http://a/b/"},
		{[]string{"http://a/b/", "javascript:x"}, "http://a/b/"},
		{[]string{"", "/x/", "y"}, "/x/y"},
		{[]string{"", "x", "http://a/"}, "http://a/"},
		{[]string{"", ""}, ""},
		{[]string{"http://a/", strings.Repeat("x/", maxBase)}, "http://a/"},
	} {
		b := New(c.bases[0])
		for _, ref := range c.bases[1:] {
			b = b.Child(ref)
		}
		if got := b.String(); got != c.want {
			t.Errorf("%q: the base is %q, want %q", c.bases, got, c.want)
		}
	}
	b := New("http://a/b")
	if b.Child("") != b || b.Child("http://a/b") != b {
		t.Error("a base without a change is not reused")
	}
}

func TestResolvingAbsoluteURLsDoesNotAllocate(t *testing.T) {
	b := New("http://example.com/a/b")
	for _, ref := range []string{"https://example.com/x?y#z", "http://a/", "mailto:a@b", "HTTP://x/y"} {
		if n := testing.AllocsPerRun(10, func() { b.Resolve(ref) }); n != 0 {
			t.Errorf("%q: %v allocations", ref, n)
		}
	}
}

func FuzzResolve(f *testing.F) {
	for _, s := range []string{"", "a", "../../b?c#d", "//h/x", "http:x", "file:/x", "///", "?", "/..//x", "[", "a:"} {
		f.Add("http://example.com/a/b?c#d", s)
		f.Add(s, "../x")
	}
	f.Fuzz(func(t *testing.T, on, ref string) {
		b := New(on)
		got := b.Resolve(ref)
		if len(got) > len(on)+len(ref)+len("://") {
			t.Fatalf("%q on %q is %q: too long", ref, on, got)
		}
		if c := b.Child(ref); b.Absolute() && !c.Absolute() {
			t.Fatalf("%q in %q loses the base", ref, on)
		}
		if !b.Absolute() {
			return
		}
		if again := b.Resolve(got); again != got {
			t.Fatalf("%q on %q is %q, and on the same base again %q", ref, on, got, again)
		}
	})
}
