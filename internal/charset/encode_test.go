package charset_test

import (
	"testing"

	"cloudburst/internal/charset"
)

func TestEncodeUsesTheDeclaredEncoding(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, name, want string }{
		{`<?xml version="1.0" encoding="ISO-8859-1"?><a>é</a>`, "iso-8859-1", "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><a>\xe9</a>"},
		{`<?xml version='1.0' encoding='koi8-r'?><a>я</a>`, "koi8-r", "<?xml version='1.0' encoding='koi8-r'?><a>\xd1</a>"},
		{`<?xml version='1.0' encoding='Shift_JIS'?><a>あ</a>`, "shift_jis", "<?xml version='1.0' encoding='Shift_JIS'?><a>\x82\xa0</a>"},
		{`<?xml version='1.0' encoding='windows-1252'?><a>“€</a>`, "windows-1252", "<?xml version='1.0' encoding='windows-1252'?><a>\x93\x80</a>"},
		{`<?xml version='1.0' encoding='utf-8'?><a>é</a>`, "", ""},
		{`<?xml version='1.0'?><a>é</a>`, "", ""},
		{`<a>é</a>`, "", ""},
		{`<?xml version='1.0' encoding='bogus'?><a>é</a>`, "", ""},
		{`<?xml version='1.0' encoding='ISO-8859-1'?><a>“</a>`, "", ""}, // the encoding lacks the character
		{`<?xml version='1.0' encoding='us-ascii'?><a>e</a>`, "us-ascii", `<?xml version='1.0' encoding='us-ascii'?><a>e</a>`},
		{"", "", ""},
	} {
		doc, name, ok := charset.Encode(c.text)
		if string(doc) != c.want || name != c.name || ok != (c.name != "") {
			t.Errorf("%s: %q, %q, %t", c.text, doc, name, ok)
		}
	}
	const wide = `<?xml version="1.0" encoding="UTF-16"?><a>é😀</a>`
	doc, name, ok := charset.Encode(wide)
	if !ok || name != "utf-16" || charset.Decode(doc, "").Text != wide || len(doc) < 2*len(wide)-10 {
		t.Errorf("UTF-16: %q, %q, %t", doc, name, ok)
	}
}
