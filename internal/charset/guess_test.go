package charset

import (
	"strings"
	"testing"
)

// sentences maps typical sentences of feeds to encodings that must be detected.
var sentences = map[string][]string{
	"Сегодня мы выпустили новую версию программы: она читает ленты новостей быстрее и проще. Подробности в нашем блоге.": {"windows-1251", "koi8-r", "iso-8859-5", "ibm866"},
	"Погода на выходные: дождь в Петербурге, солнце в Крыму.":                                                            {"windows-1251", "koi8-r"},
	"Σήμερα δημοσιεύσαμε τη νέα έκδοση του προγράμματος και τις οδηγίες για την εγκατάσταση.":                            {"windows-1253"},
	"היום פרסמנו את הגרסה החדשה של התוכנה, עם הוראות התקנה ומדריך קצר למשתמשים":                                          {"windows-1255"},
	"วันนี้เราได้เปิดตัวโปรแกรมรุ่นใหม่ อ่านข่าวได้เร็วขึ้นและใช้งานง่ายกว่าเดิม":                                        {"tis-620"},
	"本日、新しいバージョンを公開しました。フィードの読み込みが速くなり、使いやすくなっています。":                                                                     {"shift_jis", "euc-jp"},
	"نشرنا اليوم الإصدار الجديد من البرنامج مع دليل قصير للمستخدمين وشرح طريقة التثبيت":                                  {"windows-1256"},
	"日本語のタイトルです": {"shift_jis", "euc-jp", "iso-2022-jp"},
	"今天我们发布了新的版本，读取速度更快，使用也更加方便。欢迎大家下载试用，并把问题告诉我们。":    {"gb18030"},
	"今天我們發布了新的版本，讀取速度更快，使用也更加方便。歡迎大家下載試用，並把問題告訴我們。":    {"big5"},
	"오늘 새로운 버전을 발표했습니다. 뉴스 피드를 더 빠르게 읽고 사용하기도 쉬워졌습니다.": {"euc-kr"},
}

func TestUndeclaredEncodingsAreDetected(t *testing.T) {
	t.Parallel()
	for words, encodings := range sentences {
		for _, name := range encodings {
			encoder := byName(name).encoder()
			if encoder == nil { // the encoding has several character sets
				encoder = byName(name).enc.NewEncoder()
			}
			body, err := encoder.Bytes([]byte(words))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			for rule, head := range map[string]string{"undeclared": "", "declared as utf-8": ` encoding="utf-8"`} {
				if head != "" && name == "iso-2022-jp" {
					continue // the bytes are ASCII only, so the document can be UTF-8
				}
				doc := `<?xml version="1.0"` + head + `?><rss version="2.0"><channel><title>News</title><item><title>` + string(body) + `</title><link>http://a.example/</link></item></channel></rss>`
				got := Decode([]byte(doc), "")
				if !strings.Contains(got.Text, "<title>"+words+"</title>") || got.Name != name || got.From != "sniffed" {
					t.Errorf("%s in %s is read as %s from %s: %s", rule, name, got.Name, got.From, got.Text)
				}
				if len(got.Problems) == 0 {
					t.Errorf("%s in %s: no problem is reported", rule, name)
				}
			}
		}
	}
}

// Without a declaration, texts in languages with Latin script and short texts are not detected as
// another encoding.
func TestUndeclaredLatinEncodingsAreNotGuessed(t *testing.T) {
	t.Parallel()
	for words, name := range map[string]string{
		"L’été dernier, nous avons publié une version très améliorée: plus légère, déjà traduite.":    "windows-1252",
		"Größere Änderungen für müde Köpfe: schöner, über zwölf Prozent kürzer, äußerst höflich.":     "windows-1252",
		"El año pasado, el niño comió piñas en España; ¿qué pasó después? ¡Ya lo sabrás mañana!":      "windows-1252",
		"It’s “quoted”, isn’t it? We don’t, they can’t, and nobody’s sure – that’s what we’ve got.":   "windows-1252",
		"Þetta er íslenskur texti með sérstökum stöfum, ætlaður þeim sem lesa fréttir á hverjum degi": "windows-1252",
		"Não é só coração: amanhã haverá eleições, informações e opiniões à disposição":               "windows-1252",
		"Yöllä sää on hyvä, päivällä lämpöä enää vähän; kävelyä mökiltä järvelle ja älä kiirehdi":     "windows-1252",
		"Příliš žluťoučký kůň úpěl ďábelské ódy, řekl šéf o včerejším počasí":                         "windows-1250",
		"Zażółć gęślą jaźń, powiedział wczoraj minister, żeby było śmieszniej":                        "windows-1250",
		"Bugün yeni sürümü yayınladık: daha hızlı, daha güçlü, çok şık ve işe yarıyor":                "windows-1254",
		"Šiandien paskelbėme naują versiją, kuri žinias skaito greičiau nei iki šiol, ačiū":           "windows-1257",
		"Прив":   "windows-1251",
		"日本":     "shift_jis",
		"© 2026": "windows-1252",
	} {
		body, err := byName(name).encoder().Bytes([]byte(words))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := Decode([]byte("<rss><title>"+string(body)+"</title></rss>"), ""); got.Name != "windows-1252" {
			t.Errorf("%q in %s is detected as %s", words, name, got.Name)
		}
		if got := Decode([]byte("<rss>"+strings.Repeat("<title>"+string(body)+"</title>", 2000)+"</rss>"), ""); got.Name != "windows-1252" && len(body) > 20 {
			t.Errorf("repeated %q in %s is detected as %s", words, name, got.Name)
		}
	}
}
