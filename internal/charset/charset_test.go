package charset

import (
	"encoding/base64"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/encoding/htmlindex"
)

// titleOf returns the title in a small feed.
func titleOf(t *testing.T, text string) string {
	t.Helper()
	_, after, ok := strings.Cut(text, "<title>")
	title, _, closed := strings.Cut(after, "</title>")
	if !ok || !closed {
		t.Fatalf("no title in %q", text)
	}
	return title
}

func rows(t *testing.T) [][3]string {
	t.Helper()
	file, err := os.ReadFile("testdata/titles.txt")
	if err != nil {
		t.Fatal(err)
	}
	var all [][3]string
	for line := range strings.Lines(string(file)) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if strings.HasPrefix(line, "#") {
			continue
		}
		if len(f) != 3 {
			t.Fatalf("testdata/titles.txt: %d columns in %q", len(f), line)
		}
		doc, err := base64.StdEncoding.DecodeString(f[2])
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, [3]string{f[0], f[1], string(doc)})
	}
	if len(all) < 80 {
		t.Fatalf("testdata/titles.txt has %d documents only", len(all))
	}
	return all
}

func TestEveryDeclaredEncodingIsDecoded(t *testing.T) {
	t.Parallel()
	for _, row := range rows(t) {
		label, title, doc := row[0], row[1], row[2]
		got := Decode([]byte(doc), "")
		if read := titleOf(t, got.Text); read != title {
			t.Errorf("%s: title %q, want %q (read as %s, %s)", label, read, title, got.Name, got.From)
		}
		if got.Declared != label {
			t.Errorf("%s: declared %q", label, got.Declared)
		}
		if len(got.Problems) > 0 && !strings.Contains("windows-1252", got.Name) {
			t.Errorf("%s: %v", label, got.Problems)
		}
	}
}

// The header alone must be sufficient, so the test removes the declaration from documents in
// encodings based on ASCII.
func TestEveryEncodingOfTheContentTypeIsDecoded(t *testing.T) {
	t.Parallel()
	n := 0
	for _, row := range rows(t) {
		label, title, doc := row[0], row[1], row[2]
		_, doc, ok := strings.Cut(doc, "?>\n")
		if !ok {
			continue // UTF-16, UTF-32 and EBCDIC are not based on ASCII
		}
		n++
		got := Decode([]byte(doc), "text/xml; charset="+label)
		if read := titleOf(t, got.Text); read != title {
			t.Errorf("%s: title %q, want %q (read as %s, %s)", label, read, title, got.Name, got.From)
		}
		if got.From != "http" || got.Declared != "" {
			t.Errorf("%s: from %q, declared %q", label, got.From, got.Declared)
		}
	}
	if n < 70 {
		t.Errorf("%d documents only", n)
	}
}

func TestDecodeReportsWhereTheEncodingWasDeclared(t *testing.T) {
	t.Parallel()
	tests := []struct {
		rule, doc, contentType string
		text, name, from       string
		problems               string // parts of the messages, separated by |
	}{
		{"nothing declared", "<a/>", "", "<a/>", "utf-8", "default", ""},
		{"nothing declared, UTF-8", "<a>é</a>", "", "<a>é</a>", "utf-8", "default", ""},
		{"nothing declared, not UTF-8", "<a>caf\xe9</a>", "", "<a>café</a>", "windows-1252", "default", "is not UTF-8 and declares no encoding"},
		{"empty", "", "", "", "utf-8", "default", ""},
		{"mark of UTF-8", "\xEF\xBB\xBF<a>é</a>", "", "<a>é</a>", "utf-8", "bom", ""},
		{"two byte order marks", "\xEF\xBB\xBF\xEF\xBB\xBF<a>é</a>", "", "<a>é</a>", "utf-8", "bom", ""},
		{"mark of UTF-16, big end first", "\xFE\xFF\x00<\x00a\x00/\x00>", "", "<a/>", "utf-16be", "bom", ""},
		{"mark of UTF-16, little end first", "\xFF\xFE<\x00a\x00/\x00>\x00", "", "<a/>", "utf-16le", "bom", ""},
		{"mark of UTF-32, big end first", "\x00\x00\xFE\xFF\x00\x00\x00<\x00\x01\xF6\x00", "", "<😀", "utf-32be", "bom", ""},
		{"mark of UTF-32, little end first", "\xFF\xFE\x00\x00<\x00\x00\x00\x00\xF6\x01\x00", "", "<😀", "utf-32le", "bom", ""},
		{"mark of GB 18030", "\x84\x31\x95\x33<a>\xc3\xf4</a>", "", "<a>敏</a>", "gb18030", "bom", ""},
		{"byte order mark of another encoding", "\xFF\xFE<a>caf\xc3\xa9</a>", "", "<a>café</a>", "utf-8", "default", "precedes a document in another encoding"},
		{"byte order mark against header and declaration", "\xEF\xBB\xBF<?xml version='1.0' encoding='koi8-r'?><a>é</a>", "text/xml; charset=windows-1251", "<?xml version='1.0' encoding='koi8-r'?><a>é</a>", "utf-8", "bom", "header declares windows-1251|declares koi8-r, but is utf-8"},
		{"mark of UTF-16 against declaration", "\xFF\xFE" + wide(`<?xml version="1.0" encoding="utf-8"?><a/>`), "", `<?xml version="1.0" encoding="utf-8"?><a/>`, "utf-16le", "bom", "declares utf-8, but is utf-16le"},
		{"mark agrees with UTF-16", "\xFF\xFE" + wide(`<?xml version="1.0" encoding="UTF-16"?><a/>`), "", `<?xml version="1.0" encoding="UTF-16"?><a/>`, "utf-16le", "bom", ""},
		{"zeros reveal UTF-16", wide("<a>é</a>"), "", "<a>é</a>", "utf-16le", "sniffed", ""},
		{"zeros reveal the byte order of UTF-16", wide("<a>é</a>"), "text/xml; charset=utf-16", "<a>é</a>", "utf-16le", "http", ""},
		{"zeros against the header", wide("<a>é</a>"), "text/xml; charset=utf-8", "<a>é</a>", "utf-16le", "sniffed", "header declares utf-8"},
		{"bytes declared as UTF-16", "<?xml version='1.0' encoding='utf-16'?><a>é</a>", "", "<?xml version='1.0' encoding='utf-16'?><a>é</a>", "utf-8", "default", "declares utf-16, but is utf-8"},
		{"header", "<a>\xcf\xf0\xe8</a>", "application/rss+xml; charset=windows-1251", "<a>При</a>", "windows-1251", "http", ""},
		{"header in quotes", "<a>\xcf\xf0\xe8</a>", `application/rss+xml;Charset = "CP-1251"`, "<a>При</a>", "windows-1251", "http", ""},
		{"header before declaration", "<?xml version='1.0' encoding='koi8-r'?><a>\xcf\xf0\xe8</a>", "text/xml;charset=windows-1251", "<?xml version='1.0' encoding='koi8-r'?><a>При</a>", "windows-1251", "http", "declares koi8-r, but the Content-Type header declares windows-1251"},
		{"header without charset", "<?xml version='1.0' encoding='windows-1251'?><a>\xcf\xf0\xe8</a>", "text/xml", "<?xml version='1.0' encoding='windows-1251'?><a>При</a>", "windows-1251", "declaration", ""},
		{"unknown encoding in the header", "<?xml version='1.0' encoding='windows-1251'?><a>\xcf\xf0\xe8</a>", "text/xml; charset=none", "<?xml version='1.0' encoding='windows-1251'?><a>При</a>", "windows-1251", "declaration", `unknown encoding, "none"`},
		{"header that the bytes refute", "<?xml version='1.0' encoding='utf-8'?><a>é</a>", "text/xml; charset=ISO-8859-1", "<?xml version='1.0' encoding='utf-8'?><a>é</a>", "utf-8", "declaration", "header declares iso-8859-1, but the document is utf-8"},
		{"UTF-8 in the header, another in the document", "<?xml version='1.0' encoding='koi8-r'?><a>\xcf\xf0\xe8</a>", "text/xml; charset=utf-8", "<?xml version='1.0' encoding='koi8-r'?><a>оПХ</a>", "koi8-r", "declaration", "header declares utf-8, but the document is koi8-r"},
		{"Latin 1 that is UTF-8", "<?xml version='1.0' encoding='iso-8859-1'?><a>é</a>", "", "<?xml version='1.0' encoding='iso-8859-1'?><a>é</a>", "utf-8", "sniffed", "declares iso-8859-1, but is utf-8"},
		{"Latin 1", "<?xml version='1.0' encoding='iso-8859-1'?><a>\xe9</a>", "", "<?xml version='1.0' encoding='iso-8859-1'?><a>é</a>", "iso-8859-1", "declaration", ""},
		{"Latin 1 that is windows-1252", "<?xml version='1.0' encoding='iso-8859-1'?><a>\x93</a>", "", "<?xml version='1.0' encoding='iso-8859-1'?><a>“</a>", "windows-1252", "declaration", "declares iso-8859-1, but is windows-1252"},
		{"ASCII that is not, against a declaration", "<?xml version='1.0' encoding='windows-1251'?><a>\xcf\xf0\xe8</a>", "text/xml; charset=us-ascii", "<?xml version='1.0' encoding='windows-1251'?><a>При</a>", "windows-1251", "declaration", "header declares us-ascii, but the document is windows-1251"},
		{"ASCII that is not, against UTF-8", "<?xml version='1.0' encoding='utf-8'?><a>é</a>", "text/xml; charset=us-ascii", "<?xml version='1.0' encoding='utf-8'?><a>é</a>", "utf-8", "declaration", "header declares us-ascii, but the document is utf-8"},
		{"ASCII that is not", "<a>\xe9</a>", "text/xml; charset=us-ascii", "<a>é</a>", "windows-1252", "http", "header declares us-ascii"},
		{"two bytes of GBK that could be UTF-8", "<?xml version='1.0' encoding='gbk'?><a>\xc1\xaa\xcd\xa8</a>", "", "<?xml version='1.0' encoding='gbk'?><a>联通</a>", "gbk", "declaration", ""},
		{"Chinese that is UTF-8", "<?xml version='1.0' encoding='gb2312'?><a>敏捷的棕色</a>", "", "<?xml version='1.0' encoding='gb2312'?><a>敏捷的棕色</a>", "utf-8", "sniffed", "declares gb18030"},
		{"UTF-8 that is windows-1252", "<?xml version='1.0' encoding='utf-8'?><a>caf\xe9</a>", "", "<?xml version='1.0' encoding='utf-8'?><a>café</a>", "windows-1252", "sniffed", "declares utf-8, but is windows-1252"},
		{"unknown encoding", "<?xml version='1.0' encoding='bogus'?><a>é</a>", "", "<?xml version='1.0' encoding='bogus'?><a>é</a>", "utf-8", "default", `unknown encoding, "bogus"`},
		{"unknown encoding, not UTF-8", "<?xml version='1.0' encoding='bogus'?><a>\xe9</a>", "", "<?xml version='1.0' encoding='bogus'?><a>é</a>", "windows-1252", "default", `unknown encoding, "bogus"`},
		{"declaration later", "<a/><?xml version='1.0' encoding='koi8-r'?>\xe9", "", "<a/><?xml version='1.0' encoding='koi8-r'?>é", "windows-1252", "default", "declares no encoding"},
		{"declaration after space", "\n<?xml version='1.0' encoding='koi8-r'?>\xcf", "", "\n<?xml version='1.0' encoding='koi8-r'?>о", "koi8-r", "declaration", ""},
		{"encoding of something else", "<?xml version=\"encoding='koi8-r'\"?>\xe9", "", "<?xml version=\"encoding='koi8-r'\"?>é", "windows-1252", "default", "declares no encoding"},
		{"style sheet", "<?xml-stylesheet encoding='koi8-r'?>\xe9", "", "<?xml-stylesheet encoding='koi8-r'?>é", "windows-1252", "default", "declares no encoding"},
		{"page", "<!DOCTYPE html><head><meta charset=koi8-r>\xcf", "", "<!DOCTYPE html><head><meta charset=koi8-r>о", "koi8-r", "declaration", ""},
		{"page with http-equiv", "<!-- x --><html><meta http-equiv=content-type content='text/html; charset=koi8-r'>\xcf", "text/html", "<!-- x --><html><meta http-equiv=content-type content='text/html; charset=koi8-r'>о", "koi8-r", "declaration", ""},
		{"page in a comment", "<html><!-- <meta charset=koi8-r> -->\xe9", "", "<html><!-- <meta charset=koi8-r> -->é", "windows-1252", "default", "declares no encoding"},
		{"meta in a feed", "<rss><meta charset=koi8-r>\xe9", "", "<rss><meta charset=koi8-r>é", "windows-1252", "default", "declares no encoding"},
		{"JSON", "{\"title\":\"é\"}", "application/json; charset=windows-1251", "{\"title\":\"é\"}", "utf-8", "sniffed", "header declares windows-1251"},
		{"JSON in UTF-16", wide("{\"title\":\"é\"}"), "application/json", "{\"title\":\"é\"}", "utf-16le", "sniffed", ""},
	}
	for _, test := range tests {
		got := Decode([]byte(test.doc), test.contentType)
		if got.Text != test.text || got.Name != test.name || got.From != test.from {
			t.Errorf("%s: %q as %s from %s, want %q as %s from %s", test.rule, got.Text, got.Name, got.From, test.text, test.name, test.from)
		}
		expectProblems(t, test.rule, got.Problems, "encoding", test.problems)
	}
}

// expectProblems expects one problem of the kind for each part of messages.
func expectProblems(t *testing.T, rule string, got []Problem, kind, messages string) {
	t.Helper()
	var want []string
	if messages != "" {
		want = strings.Split(messages, "|")
	}
	if len(got) != len(want) {
		t.Errorf("%s: problems %v, want %q", rule, got, want)
		return
	}
	for i, p := range got {
		if p.Kind != kind || !strings.Contains(p.Message, want[i]) {
			t.Errorf("%s: problem %+v, want %s with %q", rule, p, kind, want[i])
		}
	}
}

// wide returns s in little-endian UTF-16 without a byte order mark.
func wide(s string) string {
	var b strings.Builder
	for _, r := range s {
		b.WriteByte(byte(r))
		b.WriteByte(byte(r >> 8))
	}
	return b.String()
}

func TestInvalidCharactersAreRepaired(t *testing.T) {
	t.Parallel()
	tests := []struct {
		rule, doc, contentType, text string
		line                         int
		problem                      string
	}{
		{"control characters are removed", "<a>\n\x00x\x08\x1f\t\r</a>", "", "<a>\nx\t\r</a>", 2, "3 characters that XML forbids, the first U+0000"},
		{"a control character after many lines", strings.Repeat("1234567\n", 9) + "ab\x0Cc", "", strings.Repeat("1234567\n", 9) + "abc", 10, "1 character that XML forbids"},
		{"noncharacters are removed", "<a>\uFFFE é \uFFFF\uFFFD</a>", "", "<a> é \uFFFD</a>", 1, "2 characters that XML forbids"},
		{"DEL is preserved", "<a>\x7F</a>", "", "<a>\x7F</a>", 0, ""},
		{"windows-1252 as control characters", "<a>\u0093x\u0094 © \u0081</a>", "", "<a>“x” © \u0081</a>", 1, "2 control characters were read as windows-1252"},
		{"stray bytes in UTF-8", "é\nü\n\x93x\x94 caf\xe9 !", "", "é\nü\n“x” café !", 3, "3 bytes were not UTF-8"},
		{"character cut off", "ééé <a>ab\xe2\x80</a>", "", "ééé <a>ab\uFFFD</a>", 1, "1 character was incomplete"},
		{"two bytes cut off", "ééé <a>ab\xc3</a>", "", "ééé <a>ab\uFFFD</a>", 1, "1 character was incomplete"},
		{"a letter before a quotation mark", "ééé <a>«\xe0\xa0l'\xe9\xbb!</a>", "", "ééé <a>«à\u00a0l'é»!</a>", 1, "4 bytes were not UTF-8"},
		{"halves of a character", "é \xed\xa0\xbd\xed\xb8\x80", "", "é 😀", 1, "1 byte was not UTF-8"},
		{"half of a character", "é \xed\xa0\xbd x", "", "é \uFFFD x", 1, "1 character was incomplete"},
		{"zero of Java", "é a\xc0\x80b", "", "é ab", 1, "1 byte was not UTF-8"},
		{"undefined byte", "é\né a\x81b", "", "é\né a\uFFFDb", 2, "1 character was incomplete"},
		{"end cut off", "<a>é\n日\xe6\x9c", "", "<a>é\n日", 2, "ends in the middle of a character"},
		{"not in the encoding", "<a>\n\xe1\xe2\xe3\xe4\xaa", "text/xml; charset=windows-1253", "<a>\nαβγδ\uFFFD", 2, "1 character is not in windows-1253"},
		{"windows-1252 in another encoding", "<?xml version='1.0' encoding='iso-8859-2'?>\n<a>\x93\xb9\x94</a>", "", "<?xml version='1.0' encoding='iso-8859-2'?>\n<a>“š”</a>", 2, "2 control characters were read as windows-1252"},
		{"byte that windows-1252 does not have", "<a>\x81</a>", "text/xml; charset=windows-1252", "<a>\u0081</a>", 0, ""},
		{"half a pair", "<a>\n\x93\xfa\x96\x7b\x8c\xea\x81</a>", "text/xml; charset=shift_jis", "<a>\n日本語\uFFFD</a>", 2, "1 character is not in shift_jis"},
		{"half a surrogate", wide("<a>\n") + "\x3d\xd8" + wide("</a>"), "", "<a>\n\uFFFD</a>", 2, "1 character is not in utf-16le"},
		{"odd byte", wide("<a/>") + "\n", "", "<a/>\uFFFD", 1, "1 character is not in utf-16le"},
		{"beyond Unicode", "\x00\x00\x00<\x00\x11\x00\x00\x00\x00\x00a", "", "<\uFFFDa", 1, "1 character is not in utf-32be"},
	}
	for _, test := range tests {
		got := Decode([]byte(test.doc), test.contentType)
		if got.Text != test.text {
			t.Errorf("%s: %q, want %q", test.rule, got.Text, test.text)
		}
		expectProblems(t, test.rule, got.Problems, "character", test.problem)
		if len(got.Problems) == 1 && got.Problems[0].Line != test.line {
			t.Errorf("%s: line %d, want %d", test.rule, got.Problems[0].Line, test.line)
		}
	}
}

func TestWrongEncodingLabelsDoNotCorruptTheText(t *testing.T) {
	t.Parallel()
	// This is not EUC-JP: nearly every character would be invalid.
	got := Decode([]byte("<?xml version='1.0' encoding='euc-jp'?><a>\xe9 \xe8 \xe0 \xfc</a>"), "")
	if !strings.Contains(got.Text, "é è à ü") || got.Name != "windows-1252" {
		t.Errorf("%q as %s", got.Text, got.Name)
	}
	// One bad byte does not turn a Chinese text into windows-1252.
	got = Decode([]byte("<?xml version='1.0' encoding='gb2312'?><a>\xc3\xf4\xbd\xdd\xb5\xc4\xd7\xd8\xff</a>"), "")
	if !strings.Contains(got.Text, "敏捷的棕\uFFFD") || got.Name != "gb18030" {
		t.Errorf("%q as %s", got.Text, got.Name)
	}
}

func TestEncodingLabelsKnownToBrowsersAreSupported(t *testing.T) {
	t.Parallel()
	labels := `unicode-1-1-utf-8 utf-8 utf8 866 cp866 csibm866 ibm866 csisolatin2 iso-8859-2 iso-ir-101
		iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987 l2 latin2 csisolatin3 iso_8859-3:1988 l3 latin4 cyrillic
		csisolatincyrillic iso-8859-5 arabic asmo-708 csiso88596e ecma-114 iso-8859-6-i iso-ir-127 greek greek8
		sun_eu_greek elot_928 hebrew visual iso-8859-8-e csisolatin6 l6 iso-8859-13 iso885914 csisolatin9 l9
		iso_8859-15 iso-8859-16 cskoi8r koi koi8_r koi8-ru koi8-u csmacintosh mac x-mac-roman windows-874
		x-cp1250 cp1250 windows-1251 x-cp1251 x-cp1252 cp1253 windows-1254 cp1255 cp1256 x-cp1257 windows-1258
		x-mac-cyrillic x-mac-ukrainian gbk x-gbk gb18030 big5 big5-hkscs cn-big5 csbig5 x-x-big5 euc-jp
		cseucpkdfmtjapanese x-euc-jp csiso2022jp csshiftjis ms932 ms_kanji shift-jis sjis windows-31j x-sjis
		cseuckr csksc56011987 euc-kr iso-ir-149 korean ks_c_5601-1989 ksc5601 ksc_5601 windows-949 utf-16be utf-16le
		x-user-defined`
	for label := range strings.FieldsSeq(labels) {
		c := lookup(label)
		if c == nil {
			t.Errorf("%s is unknown", label)
			continue
		}
		e, err := htmlindex.Get(label)
		if err != nil {
			t.Errorf("%s: %v", label, err)
			continue
		}
		want, err := htmlindex.Name(e)
		if err != nil {
			want = c.name // htmlindex.Name does not support all Mac encodings
		}
		got := c.name
		if c.superset != "" {
			got = c.superset
		}
		if got != want {
			t.Errorf("%s is %s, browsers say %s", label, got, want)
		}
	}
}

func TestNonstandardEncodingLabelsOfFeedsAreSupported(t *testing.T) {
	t.Parallel()
	for label, want := range map[string]string{
		"UTF8": "utf-8", " utf-8 ": "utf-8", "utf_8": "utf-8", "cp65001": "utf-8", "unicode": "utf-16", "UCS-2": "utf-16",
		"iso8859-15": "iso-8859-15", "ISO_8859-1:1987": "iso-8859-1", "latin-1": "iso-8859-1", "8859_1": "iso-8859-1",
		"Windows1252": "windows-1252", "win-1251": "windows-1251", "windows-cp1251": "windows-1251", "cp-1250": "windows-1250",
		"ibm00858": "ibm00858", "cp037": "ibm037", "x-mac-ce": "x-mac-ce", "ANSI_X3.4-1968": "us-ascii", "646": "us-ascii",
		"GB2312": "gb18030", "gb_2312-80": "gb18030", "cp936": "gbk", "x-x-big5": "big5", "csucs4": "utf-32",
		"iso_8859_2_1987": "iso-8859-2", "iso8859": "iso-8859-1", "iso_8859_99_1987": "", "cp866u": "ibm1125",
		"none": "", "": "", "-": "", "1": "", "xml": "", "utf-9": "", "windows-": "", "cp": "", "x": "", "cs": "",
		strings.Repeat("utf-8", 40): "",
	} {
		got := ""
		if c := lookup(label); c != nil {
			got = c.name
		}
		if got != want {
			t.Errorf("%q is %q, want %q", label, got, want)
		}
	}
}

func TestEncodingLabelsAreUnique(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for i := range charsets {
		c := &charsets[i]
		for label := range strings.FieldsSeq(c.labels) {
			if other, twice := seen[label]; twice {
				t.Errorf("%s is %s and %s", label, other, c.name)
			}
			seen[label] = c.name
		}
		if got := lookup(c.name); got != c {
			t.Errorf("%s is not found by its name", c.name)
		}
		if c.superset != "" && byName(c.superset).name != c.superset {
			t.Errorf("%s: no %s", c.name, c.superset)
		}
		if c.chars != "" {
			want := 128
			if c.family == familyEBCDIC {
				want = 256
			}
			if n := utf8.RuneCountInString(c.chars); n != want {
				t.Errorf("%s has %d characters, want %d", c.name, n, want)
			}
		}
	}
}

func TestDoubleEncodedUTF8IsRepaired(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{
		"cafÃ©":                 "café",
		"itâ€™s":                "it’s",
		"it\u00e2\u0080\u0099s": "it’s",
		"café":                  "café",
		"Ã":                     "Ã",
		"Ã©t日":                  "Ã©t日",
		"é Ã©":                  "é Ã©",
		"plain":                 "plain",
		"":                      "",
	} {
		if got := FixDoubleEncoding(s); got != want {
			t.Errorf("%q: %q, want %q", s, got, want)
		}
	}
}
