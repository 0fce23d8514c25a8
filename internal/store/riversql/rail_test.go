package riversql

import (
	"encoding/json"
	"testing"

	"cloudburst/internal/river"
)

func TestTextsOfAboutAreFoundWithoutParsing(t *testing.T) {
	t.Parallel()
	for _, about := range []river.About{
		{}, {Home: "http://a.example/"}, {Icon: "http://a.example/i.png?a=1&b=<2>", Home: `http://a.example/"quoted"`},
		{Title: `"icon":"of a title"`, Description: `\"home\":\"x`, Icon: "é日本"}, {Description: "ends with a backslash \\", Icon: "i"},
	} {
		text, err := json.Marshal(about)
		if err != nil {
			t.Fatal(err)
		}
		for key, want := range map[string]string{"home": about.Home, "icon": about.Icon} {
			if got, err := aboutText(string(text), key); got != want || err != nil {
				t.Errorf("%s of %s is %q, %v; want %q", key, text, got, err, want)
			}
		}
	}
}
