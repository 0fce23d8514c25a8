package hubsql

import "testing"

func TestTrailingSlashDoesNotChangeTheIDOfAnAlias(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ url, want string }{
		{"http://a.example", "http://a.example"},
		{"http://a.example/", "http://a.example"},
		{"http://a.example/x", "http://a.example/x"},
		{"http://a.example/x/", "http://a.example/x"},
		{"http://a.example/x/y.xml", "http://a.example/x/y.xml"},
		{"http://a.example/x//", "http://a.example/x//"}, // another path, not a redundant slash
		{"http://a.example//", "http://a.example//"},
		{"http://a.example/?q=/", "http://a.example?q=/"},
		{"http://a.example?q=/", "http://a.example?q=/"},
		{"http://a.example/x/#top/", "http://a.example/x#top/"},
		{"http://a.example/X/", "http://a.example/X"},
		{"http://", "http://"},
		{"/", ""},
		{"", ""},
	} {
		if got := withoutSlash(row.url); got != row.want {
			t.Errorf("%q: got %q, want %q", row.url, got, row.want)
		}
		if (aliasID(row.url) == aliasID(row.want)) != (withoutSlash(row.url) == withoutSlash(row.want)) {
			t.Errorf("%q and %q have different ids", row.url, row.want)
		}
	}
}
