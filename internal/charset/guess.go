package charset

import (
	"strings"
	"unicode/utf8"
)

// Documents without an encoding label, or with a wrong one, are usually windows-1252. Languages
// with their own script are the exception: letters that are frequent in the language reveal the
// encoding, because wrong decodings contain few of them. Languages in Latin script are too similar
// for that, so their encodings are not guessed.

const (
	guessSample  = 16 << 10 // number of bytes to rate
	guessLetters = 6        // minimum number of rated letters for a decision
	guessSure    = 0.9      // minimum average rating of a letter; the right encoding gets 1 to 3
)

// language rates a character of the decoded document. A positive rating means usual in the language,
// a negative rating rare. before is the previous character.
type language struct {
	charset string
	judge   func(before, c rune) float64
}

var languages = []language{
	{"windows-1251", inRussian}, {"koi8-r", inRussian}, {"iso-8859-5", inRussian}, {"ibm866", inRussian},
	{"windows-1253", inGreek}, {"windows-1255", inHebrew}, {"windows-1256", inArabic}, {"tis-620", inThai},
	{"shift_jis", inJapanese}, {"euc-jp", inJapanese}, {"gb18030", inChinese}, {"big5", inTaiwanese}, {"euc-kr", inKorean},
}

// guessed returns the likely encoding of a document that is not UTF-8; nil: uncertain.
func guessed(doc []byte) *charset {
	sample := sampleOf(doc)
	var best *charset
	top, second := 0.0, 0.0
	for i := range languages {
		l := &languages[i]
		c := byName(l.charset)
		text, bad := decodeLegacy(sample, c)
		if bad.count > 0 {
			continue
		}
		points := judge(text, l.judge)
		switch {
		case points > top:
			best, top, second = c, points, top
		case points > second:
			second = points
		}
	}
	if top < guessSure || second > top*0.8 {
		return nil
	}
	return best
}

// sampleOf returns a sample of a document that starts at the first non-ASCII byte. The sample does
// not end inside a character.
func sampleOf(doc []byte) []byte {
	i := ascii(doc)
	doc = doc[i:]
	if len(doc) <= guessSample {
		return doc
	}
	doc = doc[:guessSample]
	for n := len(doc) - 1; n > guessSample/2; n-- {
		if doc[n] == '<' || doc[n] == '\n' || doc[n] == ' ' { // no encoding uses these bytes as the second byte of a character
			return doc[:n]
		}
	}
	return doc
}

// judge returns the average rating of the non-ASCII characters of a text.
func judge(text []byte, of func(before, c rune) float64) float64 {
	sum, n := 0.0, 0
	before := rune(0)
	for i := 0; i < len(text); {
		c, size := utf8.DecodeRune(text[i:])
		i += size
		if c >= utf8.RuneSelf {
			sum += of(before, c)
			n++
		}
		before = c
	}
	if n < guessLetters {
		return 0
	}
	return sum / float64(n)
}

// alphabet rates a letter: 2 if it is among the most frequent, 1 if it is usual, otherwise -1.
func alphabet(c rune, frequent, usual string) float64 {
	switch {
	case strings.ContainsRune(frequent, c):
		return 2
	case strings.ContainsRune(usual, c):
		return 1
	}
	return -1
}

// latin reports whether c is an ASCII letter. An ASCII letter next to a letter of another script
// suggests a wrong decoding.
func latin(c rune) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func inRussian(before, c rune) float64 {
	switch {
	case latin(before):
		return -2
	case 'А' <= c && c <= 'Я':
		if 'а' <= before && before <= 'я' { // a capital letter inside a word
			return -3
		}
		return 0.5
	case c == '«', c == '»', c == '—', c == '–', c == '…', c == '№', c == '“', c == '”', c == '„', c == '\u00A0', c == 'ё', c == 'Ё', c == 'і', c == 'ї', c == 'є':
		return 0.5
	}
	return alphabet(c, "оеаинтсрвл", "кмдпуяыьгзбчйхжшю")
}

func inGreek(before, c rune) float64 {
	switch {
	case latin(before):
		return -2
	case 'Α' <= c && c <= 'Ω':
		if 'α' <= before && before <= 'ω' {
			return -3
		}
		return 0.5
	}
	return alphabet(c, "αοιετσνηυρ", "πκμλωγδθφχβξζψςάέήίόύώ")
}

func inHebrew(before, c rune) float64 {
	if strings.ContainsRune("םןךףץ", before) && 'א' <= c && c <= 'ת' { // a letter that only ends words is followed by another letter
		return -3
	}
	if latin(before) {
		return -2
	}
	return alphabet(c, "יוהלאמרתבש", "נדעקחפסגכטזצםןךףץ")
}

func inArabic(before, c rune) float64 {
	if latin(before) {
		return -2
	}
	return alphabet(c, "اليمونرتبع", "سدفهةكقحجشطصخضذثغزءئؤأإآىظ،؟")
}

func inThai(before, c rune) float64 {
	if latin(before) {
		return -2
	}
	return alphabet(c, "านรอกเงมยลวดทสตะค่้ีั", "หแปิไขบใจพชโถผซธภศึืุู์็ำณญษฐฟฝฉ")
}

func inJapanese(_, c rune) float64 {
	switch {
	case 'ぁ' <= c && c <= 'ん', 'ァ' <= c && c <= 'ヶ', c == 'ー':
		return 3
	case strings.ContainsRune("、。・「」『』（）！？【】　", c):
		return 1
	case 0x4E00 <= c && c <= 0x9FFF:
		return 0
	}
	return -1.5 // other characters, such as half-width katakana, which often result from a wrong encoding
}

func inChinese(_, c rune) float64 {
	return han(c, "的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里用道行所然家种事成方多经么去法学如都同现当没动面起看定天分还进好小部其些主样理心她本前开但因只从想实日军者意无力它与长把机十民第公此已工使情明性知全三又关点正业外将两高间由问很最重并物手应战向头文体政美相见被利什二等产或新己制身果加西斯月话合回特代内信表化老给世位次度门任常先海通教儿原东声提立及比员解水名真论处走义各入几口认条平系气题活尔更别打女变四神总何电数安少报才结反受目太量再感建务做接必场件计管期市直德资命山金指克许统区保至队形社便空决治展马科司五基眼书非则听白却界达光放强即像难且权思王象完设式色路记南品住告类求据程北边死张该交规万取拉格望觉术领共确传师观清今切院让识候带导争运网站测试闻博客")
}

func inTaiwanese(_, c rune) float64 {
	return han(c, "的一是不了在人有我他這個們中來上大為和國地到以說時要就出會可也你對生能而子那得於著下自之年過發後作裡用道行所然家種事成方多經麼去法學如都同現當沒動面起看定天分還進好小部其些主樣理心她本前開但因只從想實日軍者意無力它與長把機十民第公此已工使情明性知全三又關點正業外將兩高間由問很最重並物手應戰向頭文體政美相見被利什二等產或新己制身果加西斯月話合回特代內信表化老給世位次度門任常先海通教兒原東聲提立及比員解水名真論處走義各入幾口認條平系氣題活爾更別打女變四神總何電數安少報才結反受目太量再感建務做接必場件計管期市直德資命山金指克許統區保至隊形社便空決治展馬科司五基眼書非則聽白卻界達光放強即像難且權思王象完設式色路記南品住告類求據程北邊死張該交規萬取拉格望覺術領共確傳師觀清今切院讓識候帶導爭運網站台灣聞繁標")
}

func han(c rune, frequent string) float64 {
	switch {
	case strings.ContainsRune(frequent, c):
		return 3
	case strings.ContainsRune("，。、：；！？“”‘’「」『』（）《》【】—…·　", c):
		return 1
	case 0x4E00 <= c && c <= 0x9FFF:
		return 0
	}
	return -1.5
}

func inKorean(_, c rune) float64 {
	switch {
	case strings.ContainsRune("이다는을의에가하고를한지도로은기사어그서나대자시인라리아수니일해보게들으있것여전스제정만과원부말주상성용경장", c):
		return 3
	case 0xAC00 <= c && c <= 0xD7A3:
		return 1
	case strings.ContainsRune("‘’“”·…「」　", c):
		return 0.5
	}
	return -1.5
}
