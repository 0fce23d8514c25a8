package date

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// word reads a word and interprets it as a month, a weekday, a zone, am or pm, or ignores it.
func (r *dateReader) word() {
	start := r.i
	for r.i < len(r.s) {
		c := r.s[r.i]
		if c < utf8.RuneSelf {
			if c|0x20 < 'a' || c|0x20 > 'z' {
				break
			}
			r.i++
			continue
		}
		char, n := utf8.DecodeRuneInString(r.s[r.i:])
		if char >= firstIdeograph || !unicode.IsLetter(char) && !unicode.IsMark(char) && char != 'º' && char != 'ª' {
			break
		}
		r.i += n
	}
	r.words++
	switch r.i - start {
	case 0:
		r.ideograph()
		return
	case 3:
		if r.englishWord(r.s[start], r.s[start+1], r.s[start+2]) {
			return
		}
	}
	var buf [maxName]byte
	key := fold(&buf, r.s[start:r.i])
	switch {
	case r.region(start):
	case len(key) == 1 && key[0] == 't': // the T between date and time: 2026-11-19T10:14
	case isHour(string(key)):
	case r.meridiem(key):
	case r.zoneName(string(key)):
	case r.monthName(string(key)):
	case isWeekday(string(key)) || isFiller(string(key)):
		if len(key) >= len("monday") && strings.HasSuffix(string(key), "day") {
			r.weekday = englishWeekday([3]byte(key))
		}
	case r.timed: // an unknown zone name is ignored
	case r.words == 1 && r.pending == 0 && !r.dated && (r.peek(0) == ',' || r.peek(0) == '.'):
		// Any other word may be a weekday in an unsupported language.
	default:
		r.failed = true
	}
}

// englishWord is a fast path for the three-letter English words that most dates contain.
func (r *dateReader) englishWord(a, b, c byte) bool {
	month := 0
	name := [3]byte{a | 0x20, b | 0x20, c | 0x20}
	if weekday := englishWeekday(name); weekday != 0 {
		r.weekday = weekday
		return true
	}
	switch name {
	case [3]byte{'g', 'm', 't'}, [3]byte{'u', 't', 'c'}:
		if !r.timed || r.zoned {
			return false
		}
		r.zone, r.zoned, r.zoneNamed = 0, true, true
		return true
	case [3]byte{'j', 'a', 'n'}:
		month = 1
	case [3]byte{'f', 'e', 'b'}:
		month = 2
	case [3]byte{'a', 'p', 'r'}:
		month = 4
	case [3]byte{'m', 'a', 'y'}:
		month = 5
	case [3]byte{'j', 'u', 'n'}:
		month = 6
	case [3]byte{'j', 'u', 'l'}:
		month = 7
	case [3]byte{'a', 'u', 'g'}:
		month = 8
	case [3]byte{'s', 'e', 'p'}:
		month = 9
	case [3]byte{'o', 'c', 't'}:
		month = 10
	case [3]byte{'n', 'o', 'v'}:
		month = 11
	case [3]byte{'d', 'e', 'c'}:
		month = 12
	}
	if month == 0 || r.month != 0 || r.dated {
		return false
	}
	r.month = month
	return true
}

// meridiem reads am and pm, also with dots.
func (r *dateReader) meridiem(key []byte) bool {
	if !r.timed && !isDigit(r.nextNonSpace()) || len(key) == 0 {
		return false
	}
	first := key[0]
	switch string(key) {
	case "am", "pm":
	case "πμ":
		first = 'a'
	case "μμ":
		first = 'p'
	case "a", "p":
		i := r.i
		for i < len(r.s) && (r.s[i] == '.' || r.s[i] == ' ') {
			i++
		}
		if i == r.i || i >= len(r.s) || r.s[i]|0x20 != 'm' || i+1 < len(r.s) && isLetter(r.s[i+1]) {
			return false
		}
		r.i = i + 1
	case "π", "μ":
		if !strings.HasPrefix(r.s[r.i:], ".μ") {
			return false
		}
		if string(key) == "π" {
			first = 'a'
		} else {
			first = 'p'
		}
		r.i += len(".μ")
	default:
		return false
	}
	if !r.timed {
		return true // German "am": am 19. November
	}
	r.afternoon = 1
	if first == 'p' {
		r.afternoon = 2
	}
	return true
}

// nextNonSpace returns the next byte that is not a space; 0: the end of the text.
func (r *dateReader) nextNonSpace() byte {
	i := r.i
	for i < len(r.s) && r.s[i] == ' ' {
		i++
	}
	if i == len(r.s) {
		return 0
	}
	return r.s[i]
}

// zoneName reads the name of a zone, which follows the time or ends the text.
func (r *dateReader) zoneName(key string) bool {
	if r.zoned {
		return false
	}
	if !r.timed && ((!r.dated && r.pending < 2) || len(key) < 3 && key != "z" && key != "ut") {
		return false
	}
	minutes, ok := zoneOf(key)
	if ok {
		r.zone, r.zoned, r.zoneNamed = minutes*60, true, true
	}
	return ok
}

// monthName reads the name of a month. A second month name means that the first word was a weekday,
// as in "mar, 19 nov".
func (r *dateReader) monthName(key string) bool {
	month := monthOf(key)
	if month == 0 || r.dated {
		return month != 0
	}
	ambiguous := isAlsoWeekday(key)
	if r.month != 0 && !r.maybeWeekday {
		r.failed = r.failed || !ambiguous
		return true
	}
	r.month = month
	r.maybeWeekday = ambiguous
	return true
}

// isAlsoWeekday reports whether the short name of a month is also a weekday in some language.
func isAlsoWeekday(key string) bool {
	switch key {
	case "mar", "paz", "sub", "lis":
		return true
	}
	return false
}

// isHour reports whether a word means "o'clock". Such a word is not a zone.
func isHour(key string) bool {
	switch key {
	case "h", "hs", "hr", "hrs", "uhr", "u", "uur", "uhrzeit", "godz", "hod", "ч":
		return true
	}
	return false
}

const (
	maxName        = 32
	firstIdeograph = '\u2E80' // letters from here on are ideographs or Hangul
)

// fold converts a word to lowercase without accents. It cuts a word that is longer than buf.
func fold(buf *[maxName]byte, word string) []byte {
	b := buf[:0]
	for _, c := range word {
		if len(b) > maxName-utf8.UTFMax {
			break
		}
		if c < utf8.RuneSelf {
			b = append(b, byte(c)|0x20)
			continue
		}
		if c = plainLetter(unicode.ToLower(c)); c != 0 {
			b = utf8.AppendRune(b, c)
		}
	}
	return b
}

// plainLetter removes the accent from a lowercase letter. It returns 0 for a combining accent.
func plainLetter(c rune) rune {
	switch c {
	case 'à', 'á', 'â', 'ã', 'ä', 'å', 'ă', 'ą', 'ā', 'æ', 'ª':
		return 'a'
	case 'ç', 'ć', 'č':
		return 'c'
	case 'ď', 'đ':
		return 'd'
	case 'è', 'é', 'ê', 'ë', 'ę', 'ě', 'ė', 'ē':
		return 'e'
	case 'ğ', 'ģ':
		return 'g'
	case 'ì', 'í', 'î', 'ï', 'ı', 'ī', 'į':
		return 'i'
	case 'ł', 'ľ', 'ļ':
		return 'l'
	case 'ñ', 'ń', 'ň', 'ņ':
		return 'n'
	case 'ò', 'ó', 'ô', 'õ', 'ö', 'ő', 'ø', 'º':
		return 'o'
	case 'ř':
		return 'r'
	case 'ś', 'š', 'ş', 'ș':
		return 's'
	case 'ť', 'ţ', 'ț':
		return 't'
	case 'ù', 'ú', 'û', 'ü', 'ů', 'ű', 'ū', 'ų':
		return 'u'
	case 'ý':
		return 'y'
	case 'ź', 'ż', 'ž':
		return 'z'
	case 'ά':
		return 'α'
	case 'έ':
		return 'ε'
	case 'ή':
		return 'η'
	case 'ί', 'ϊ', 'ΐ':
		return 'ι'
	case 'ό':
		return 'ο'
	case 'ύ', 'ϋ', 'ΰ':
		return 'υ'
	case 'ώ':
		return 'ω'
	case 'ς':
		return 'σ'
	case 'µ': // the micro sign
		return 'μ'
	case 'ё':
		return 'е'
	}
	if unicode.IsMark(c) {
		return 0
	}
	return c
}

// monthOf returns the month whose name in any supported language is key or begins with it; 0: none.
// key is a folded name. Three letters suffice in nearly all languages. longMonth handles the
// exceptions first.
func monthOf(key string) int {
	key = strings.TrimPrefix(key, "ב") // "ב" means "in" in Hebrew
	letters, short := firstLetters(key)
	if letters < 3 {
		return 0
	}
	if letters > 3 {
		if month, ok := longMonth(key); ok {
			return month
		}
	}
	if short[0] >= utf8.RuneSelf {
		return otherMonth(short)
	}
	month := latinMonth(short)
	if len(key) > 4 && (month == 0 || !strings.Contains(monthStems[month-1], key[:5])) {
		return 0 // reject words such as "hello", which shares three letters with the Finnish "helmikuu"
	}
	return month
}

// monthStems contains, for each month, the first five letters of its folded names.
var monthStems = [12]string{
	"janua janvi janei janne gener genna enero stycz leden ledna tammi ianua",
	"febru febre fevri fever febbr luteg unora subat helmi",
	"march marzo maret maart marco marts marec marca marze marti marci breze brezn maali",
	"april avril abril kwiec kwiet duben dubna nisan huhti",
	"maggi majus mauju mayis kvete kvetn touko",
	"junio junho giugn czerw cerve cervn hazir kesak iunie juniu",
	"julio julho lugli lipie lipca temmu heina iulie juliu",
	"augus agost sierp srpen srpna agust eloku",
	"septe septi setem sette wrzes wrzen eylul syysk",
	"octob octub outub ottob oktob octom pazdz rijen rijna lokak",
	"novem novie noiem listo kasim",
	"decem dezem dicem dicie desem grudz grudn prosi arali joulu",
}

// firstLetters returns the first three letters of key. letters is the number of letters in key; 4
// means more than three.
func firstLetters(key string) (letters int, short string) {
	for i := range key {
		if letters++; letters == 4 {
			return letters, key[:i]
		}
	}
	return letters, key
}

// longMonth handles names whose first three letters are ambiguous. Listopad means October in
// Croatian but November in Polish and Czech, which have more speakers.
func longMonth(key string) (month int, ok bool) {
	for _, name := range [...]struct {
		prefix string
		month  int
	}{
		{"juin", 6}, {"juil", 7}, {"szept", 9}, {"szer", 0}, {"maand", 0}, {"pazar", 0}, {"marras", 11}, {"martedi", 0}, {"martes", 0}, {"mardi", 0},
		{"cervenec", 7}, {"cervence", 7}, {"srpanj", 7}, {"srpnj", 7}, {"lipanj", 6}, {"lipnj", 6}, {"setembre", 9}, {"juny", 6}, {"subota", 0},
		{"ιουν", 6}, {"ιουλ", 7},
	} {
		if strings.HasPrefix(key, name.prefix) {
			return name.month, true
		}
	}
	return 0, false
}

// latinMonth supports English, German, French, Spanish, Italian, Portuguese, Dutch, Polish, Czech,
// Slovak, Hungarian, Romanian, Turkish, Swedish, Danish, Norwegian, Finnish, Catalan, Indonesian.
func latinMonth(short string) int {
	switch short {
	case "jan", "ene", "gen", "jen", "sty", "led", "oca", "tam", "ian":
		return 1
	case "feb", "fev", "fov", "lut", "uno", "sub", "hel":
		return 2
	case "mar", "mrt", "mrz", "bre", "maa":
		return 3
	case "apr", "avr", "abr", "kwi", "dub", "nis", "huh":
		return 4
	case "may", "mai", "maj", "mau", "mei", "mag", "kve", "tou":
		return 5
	case "jun", "giu", "cze", "cer", "cvn", "haz", "kes", "iun":
		return 6
	case "jul", "lug", "lip", "cvc", "tem", "hei", "iul":
		return 7
	case "aug", "aou", "ago", "sie", "srp", "agu", "elo":
		return 8
	case "sep", "set", "wrz", "zar", "eyl", "syy":
		return 9
	case "oct", "okt", "ott", "out", "paz", "rij", "eki", "lok":
		return 10
	case "nov", "noi", "lis", "kas":
		return 11
	case "dec", "dez", "dic", "des", "gru", "pro", "ara", "jou":
		return 12
	}
	return 0
}

// otherMonth supports Russian, Ukrainian, Bulgarian, Greek, Hebrew and Arabic.
func otherMonth(short string) int {
	switch short {
	case "янв", "яну", "січ", "ιαν", "ינו", "ينا":
		return 1
	case "фев", "лют", "φεβ", "פבר", "فبر":
		return 2
	case "мар", "бер", "μαρ", "μαω", "מרץ", "مار":
		return 3
	case "апр", "кві", "απρ", "אפר", "أبر", "ابر":
		return 4
	case "мая", "май", "маи", "тра", "μαι", "μαϊ", "מאי", "ماي":
		return 5
	case "чер", "июн", "юни", "ιον", "יונ", "يون":
		return 6
	case "лип", "июл", "юли", "ιολ", "יול", "يول":
		return 7
	case "авг", "сер", "αυγ", "אוג", "أغس", "اغس":
		return 8
	case "сен", "сеп", "вер", "σεπ", "ספט", "سبت":
		return 9
	case "окт", "жов", "οκτ", "אוק", "أكت", "اكت":
		return 10
	case "ноя", "ное", "лис", "νοε", "נוב", "نوف":
		return 11
	case "дек", "гру", "δεκ", "דצמ", "ديس":
		return 12
	}
	return 0
}

// isFiller reports whether a word only connects the parts of a date.
func isFiller(key string) bool {
	switch key {
	case "at", "on", "of", "the", "st", "nd", "rd", "th", "date", "published", "posted", "updated", "etc",
		"um", "am", "den", "der", "vom", "le", "er", "a", "de", "del", "da", "el", "las", "los", "dia", "as",
		"alle", "ore", "il", "dell", "om", "op", "kl", "klo", "o", "w", "dnia", "dne", "r", "feira", "i", "d",
		"г", "года", "год", "в", "от", "του", "τησ", "στισ", "και", "g", "y", "e":
		return true
	}
	return false
}
