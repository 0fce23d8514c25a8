package charset

import (
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
)

// family groups encodings that are decoded in the same way.
type family uint8

const (
	familyUTF8   family = iota
	familyWide          // UTF-16 and UTF-32
	familyLatin         // one byte per character; the default label of many servers and editors
	familySingle        // one byte per character; bytes below 0x80 are ASCII
	familyEBCDIC        // one byte per character; not based on ASCII
	familyMulti         // one to four bytes per character; single bytes below 0x80 are ASCII
	familySeven         // only ASCII bytes, with escape sequences
)

// charset is an encoding with its labels.
type charset struct {
	name   string
	labels string // labels in the form that squeeze returns, each between spaces
	family family
	table  *charmap.Charmap  // decoder for single-byte encodings; nil: see chars
	chars  string            // characters of the bytes from 0x80 on; for EBCDIC, of all 256 bytes
	enc    encoding.Encoding // decoder for all other encodings
	// superset is the name to report if bytes occur that only the larger encoding has. These bytes
	// are 0x80 to 0x9F; for us-ascii, all bytes from 0x80 on.
	superset string
}

// asciiTransparent reports whether every ASCII byte is an ASCII character in this encoding.
func (c *charset) asciiTransparent() bool {
	return c.family != familyWide && c.family != familyEBCDIC && c.family != familySeven
}

// isASCIIBased reports whether c can be the encoding of a document that begins with ASCII bytes.
func (c *charset) isASCIIBased() bool {
	return c != nil && c.family != familyWide && c.family != familyEBCDIC
}

// charsets lists all supported encodings, frequent encodings first. The labels are from the WHATWG
// Encoding Standard, the IANA registry, Python, Java and real feeds.
var charsets = []charset{
	{name: "utf-8", labels: " utf8 unicode11utf8 unicode20utf8 utf u8 65001 utf8ucs2 utf8ucs4 utf8n utf8bom utf8mb4 utf8mb3 utf8unicodeci utf8generalci al32utf8 cesu8 ", family: familyUTF8},
	{name: "iso-8859-1", labels: " iso88591 iso8859 8859 88591 latin1 latin l1 isolatin1 isoir100 819 ibm819 28591 ", family: familyLatin, table: charmap.Windows1252, superset: "windows-1252"},
	{name: "windows-1252", labels: " 1252 ansi wlatin1 windowslatin1 western ", family: familyLatin, table: charmap.Windows1252},
	{name: "us-ascii", labels: " usascii ascii ansix341968 ansix341986 us iso646us iso646irv1991 iso646irv646 isoir6 646 367 20127 ascii7 ansix34 ", family: familyLatin, table: charmap.Windows1252, superset: "windows-1252"},
	{name: "iso-8859-15", labels: " iso885915 latin9 latin0 l9 isolatin9 isoir203 28605 885915 923 ", family: familyLatin, table: charmap.ISO8859_15},

	{name: "utf-16", labels: " utf16 u16 unicode iso10646ucs2 unicodefeff ucs2 1200 iso10646 unicodebig unicodelittle ", family: familyWide},
	{name: "utf-16le", labels: " utf16le ucs2le unicodelittleunmarked ", family: familyWide},
	{name: "utf-16be", labels: " utf16be unicodefffe ucs2be 1201 unicodebigunmarked ", family: familyWide},
	{name: "utf-32", labels: " utf32 u32 ucs4 iso10646ucs4 12000 ", family: familyWide},
	{name: "utf-32le", labels: " utf32le ucs4le ", family: familyWide},
	{name: "utf-32be", labels: " utf32be ucs4be 12001 ", family: familyWide},

	{name: "windows-1250", labels: " 1250 ", family: familySingle, table: charmap.Windows1250},
	{name: "windows-1251", labels: " 1251 ", family: familySingle, table: charmap.Windows1251},
	{name: "windows-1253", labels: " 1253 ", family: familySingle, table: charmap.Windows1253},
	{name: "windows-1254", labels: " 1254 ", family: familyLatin, table: charmap.Windows1254},
	{name: "windows-1255", labels: " 1255 ", family: familySingle, table: charmap.Windows1255},
	{name: "windows-1256", labels: " 1256 ", family: familySingle, table: charmap.Windows1256},
	{name: "windows-1257", labels: " 1257 ", family: familySingle, table: charmap.Windows1257},
	{name: "windows-1258", labels: " 1258 ", family: familySingle, table: charmap.Windows1258},
	{name: "windows-874", labels: " 874 ", family: familySingle, table: charmap.Windows874},

	{name: "iso-8859-2", labels: " iso88592 latin2 l2 isolatin2 isoir101 28592 88592 912 ", family: familySingle, table: charmap.ISO8859_2},
	{name: "iso-8859-3", labels: " iso88593 latin3 l3 isolatin3 isoir109 28593 88593 913 ", family: familySingle, table: charmap.ISO8859_3},
	{name: "iso-8859-4", labels: " iso88594 latin4 l4 isolatin4 isoir110 28594 88594 914 ", family: familySingle, table: charmap.ISO8859_4},
	{name: "iso-8859-5", labels: " iso88595 cyrillic isolatincyrillic isoir144 28595 88595 915 ", family: familySingle, table: charmap.ISO8859_5},
	{name: "iso-8859-6", labels: " iso88596 arabic isolatinarabic isoir127 28596 88596 1089 asmo708 708 ecma114 iso88596e iso88596i ", family: familySingle, table: charmap.ISO8859_6},
	{name: "iso-8859-7", labels: " iso88597 greek greek8 isolatingreek isoir126 28597 88597 813 ecma118 elot928 suneugreek ", family: familySingle, table: charmap.ISO8859_7},
	{name: "iso-8859-8", labels: " iso88598 hebrew isolatinhebrew isoir138 28598 88598 916 visual logical iso88598e iso88598i 38598 ", family: familySingle, table: charmap.ISO8859_8},
	{name: "iso-8859-9", labels: " iso88599 latin5 l5 isolatin5 isoir148 28599 88599 920 ", family: familyLatin, table: charmap.Windows1254, superset: "windows-1254"},
	{name: "iso-8859-10", labels: " iso885910 latin6 l6 isolatin6 isoir157 28600 885910 ", family: familySingle, table: charmap.ISO8859_10},
	{name: "iso-8859-11", labels: " iso885911 28601 885911 thai ", family: familySingle, table: charmap.Windows874, superset: "windows-874"},
	{name: "tis-620", labels: " tis620 tis6200 tis62025290 tis62025291 isoir166 ", family: familySingle, table: charmap.Windows874, superset: "windows-874"},
	{name: "iso-8859-13", labels: " iso885913 latin7 l7 isoir179 28603 885913 921 ", family: familySingle, table: charmap.ISO8859_13},
	{name: "iso-8859-14", labels: " iso885914 latin8 l8 isoir199 isoceltic 28604 885914 ", family: familySingle, table: charmap.ISO8859_14},
	{name: "iso-8859-16", labels: " iso885916 latin10 l10 isoir226 28606 885916 ", family: familySingle, table: charmap.ISO8859_16},
	{name: "koi8-r", labels: " koi8r koi8 koi 20866 878 ", family: familySingle, table: charmap.KOI8R},
	{name: "koi8-u", labels: " koi8u koi8ru 21866 1168 ", family: familySingle, table: charmap.KOI8U},
	{name: "koi8-t", labels: " koi8t ", family: familySingle, chars: highKOI8T},

	{name: "shift_jis", labels: " shiftjis sjis 932 943 mskanji windows31j 31j sjis2004 shiftjis2004 shiftjisx0213 sjisx0213 macjapanese pck ", family: familyMulti, enc: japanese.ShiftJIS},
	{name: "euc-jp", labels: " eucjp ujis eucpkdfmtjapanese 51932 20932 eucjis2004 eucjisx0213 jisx0213 eucjpms ", family: familyMulti, enc: japanese.EUCJP},
	{name: "iso-2022-jp", labels: " iso2022jp jis iso2022jp1 iso2022jp2 iso2022jp3 iso2022jp2004 iso2022jpext 50220 50221 50222 ", family: familySeven, enc: japanese.ISO2022JP},
	{name: "gb18030", labels: " gb18030 gb180302000 54936 gb2312 gb231280 gb23121980 isoir58 iso58gb231280 chinese euccn eucgb2312cn cngb macsimpchinese ", family: familyMulti, enc: simplifiedchinese.GB18030},
	{name: "gbk", labels: " gbk 936 1386 ", family: familyMulti, enc: simplifiedchinese.GB18030},
	{name: "hz-gb-2312", labels: " hzgb2312 hzgb hz 52936 ", family: familySeven, enc: simplifiedchinese.HZGB2312},
	{name: "big5", labels: " big5 big5hkscs cnbig5 big5tw big5eten 950 951 hkscs mactradchinese ", family: familyMulti, enc: traditionalchinese.Big5},
	{name: "euc-kr", labels: " euckr korean ksc56011987 ksc56011989 ksc5601 kscc5601 isoir149 949 51949 uhc ksx1001 mackorean ", family: familyMulti, enc: korean.EUCKR},
	{name: "iso-2022-kr", labels: " iso2022kr 50225 ", family: familySeven, enc: korean.EUCKR},
	{name: "utf-7", labels: " utf7 u7 65000 unicode11utf7 unicode20utf7 ", family: familySeven},

	{name: "macintosh", labels: " macintosh macroman mac 10000 ", family: familySingle, table: charmap.Macintosh},
	{name: "x-mac-cyrillic", labels: " maccyrillic macukrainian 10007 10017 ", family: familySingle, table: charmap.MacintoshCyrillic},
	{name: "x-mac-greek", labels: " macgreek 10006 ", family: familySingle, chars: highMacGreek},
	{name: "x-mac-icelandic", labels: " maciceland macicelandic 10079 ", family: familySingle, chars: highMacIceland},
	{name: "x-mac-ce", labels: " macce maclatin2 maccentraleurope maccenteuro 10029 ", family: familySingle, chars: highMacCentralEurope},
	{name: "x-mac-turkish", labels: " macturkish 10081 ", family: familySingle, chars: highMacTurkish},
	{name: "x-mac-romanian", labels: " macromanian macromania 10010 ", family: familySingle, chars: highMacRomanian},
	{name: "x-mac-croatian", labels: " maccroatian 10082 ", family: familySingle, chars: highMacCroatian},

	{name: "ibm437", labels: " 437 pc8codepage437 ", family: familySingle, table: charmap.CodePage437},
	{name: "ibm720", labels: " 720 ", family: familySingle, chars: highCP720},
	{name: "ibm737", labels: " 737 ", family: familySingle, chars: highCP737},
	{name: "ibm775", labels: " 775 pc775baltic ", family: familySingle, chars: highCP775},
	{name: "ibm850", labels: " 850 pc850multilingual ", family: familySingle, table: charmap.CodePage850},
	{name: "ibm852", labels: " 852 pcp852 ", family: familySingle, table: charmap.CodePage852},
	{name: "ibm855", labels: " 855 ", family: familySingle, table: charmap.CodePage855},
	{name: "ibm856", labels: " 856 ", family: familySingle, chars: highCP856},
	{name: "ibm857", labels: " 857 ", family: familySingle, chars: highCP857},
	{name: "ibm00858", labels: " 858 pcmultilingual850euro ", family: familySingle, table: charmap.CodePage858},
	{name: "ibm860", labels: " 860 ", family: familySingle, table: charmap.CodePage860},
	{name: "ibm861", labels: " 861 cpis ", family: familySingle, chars: highCP861},
	{name: "ibm862", labels: " 862 pc862latinhebrew ", family: familySingle, table: charmap.CodePage862},
	{name: "ibm863", labels: " 863 ", family: familySingle, table: charmap.CodePage863},
	{name: "ibm864", labels: " 864 ", family: familySingle, chars: highCP864},
	{name: "ibm865", labels: " 865 ", family: familySingle, table: charmap.CodePage865},
	{name: "ibm866", labels: " 866 ", family: familySingle, table: charmap.CodePage866},
	{name: "ibm869", labels: " 869 cpgr ", family: familySingle, chars: highCP869},
	{name: "ibm1006", labels: " 1006 ", family: familySingle, chars: highCP1006},
	{name: "ibm1125", labels: " 1125 866u cp866u ruscii ", family: familySingle, chars: highCP1125},
	{name: "hp-roman8", labels: " hproman8 roman8 r8 1051 ", family: familySingle, chars: highRoman8},
	{name: "ptcp154", labels: " ptcp154 pt154 154 cyrillicasian ", family: familySingle, chars: highPTCP154},
	{name: "kz-1048", labels: " kz1048 rk1048 strk10482002 ", family: familySingle, chars: highKZ1048},

	{name: "x-user-defined", labels: " userdefined ", family: familySingle, table: charmap.XUserDefined},

	{name: "ibm037", labels: " 37 39 ebcdiccpus ebcdiccpca ebcdiccpwt ebcdiccpnl ebcdic ", family: familyEBCDIC, table: charmap.CodePage037},
	{name: "ibm273", labels: " 273 ebcdicde ", family: familyEBCDIC, chars: allCP273},
	{name: "ibm424", labels: " 424 ebcdiccphe ", family: familyEBCDIC, chars: allCP424},
	{name: "ibm500", labels: " 500 ebcdiccpbe ebcdiccpch ", family: familyEBCDIC, chars: allCP500},
	{name: "ibm875", labels: " 875 ", family: familyEBCDIC, chars: allCP875},
	{name: "ibm1026", labels: " 1026 ", family: familyEBCDIC, chars: allCP1026},
	{name: "ibm1047", labels: " 1047 ", family: familyEBCDIC, table: charmap.CodePage1047},
	{name: "ibm01140", labels: " 1140 ebcdicus37euro ", family: familyEBCDIC, table: charmap.CodePage1140},
}

// byName returns the charset with this canonical name, which must exist.
func byName(name string) *charset {
	for i := range charsets {
		if charsets[i].name == name {
			return &charsets[i]
		}
	}
	return &charsets[0]
}

// lookup returns the charset of a label in any spelling; nil: unknown.
func lookup(label string) *charset {
	if len(label) == 5 && strings.EqualFold(label, "utf-8") {
		return &charsets[0]
	}
	var buf [maxLabel + 2]byte
	squeezed := squeeze(&buf, label)
	if squeezed == nil {
		return nil
	}
	if c := find(squeezed); c != nil {
		return c
	}
	if n := len(squeezed) - len("1987 "); n > len(" iso8859") && strings.HasPrefix(string(squeezed), " iso8859") {
		year := []byte(string(squeezed)) // Python's name iso_8859_2_1987 has no colon, so squeeze does not remove the year
		year[n] = ' '
		if c := find(year[:n+1]); c != nil {
			return c
		}
	}
	// IANA has aliases with the prefixes "cs" (names for programs) and "x" (labels from before the
	// standard), such as " cseuckr ", " xsjis " and " xxbig5 ". The prefixes are removed.
	for squeezed[1] == 'x' && len(squeezed) > 4 {
		squeezed[1] = ' '
		squeezed = squeezed[1:]
	}
	if len(squeezed) > 5 && squeezed[1] == 'c' && squeezed[2] == 's' {
		squeezed[2] = ' '
		squeezed = squeezed[2:]
	}
	return find(codePage(squeezed))
}

func find(squeezed []byte) *charset {
	for i := range charsets {
		if strings.Contains(charsets[i].labels, string(squeezed)) {
			return &charsets[i]
		}
	}
	return nil
}

// maxLabel is the maximum length of a normalized label, in bytes.
const maxLabel = 48

// squeeze normalizes a label. The result is in lowercase, has only letters and digits, has no year
// after a colon, and has a space at both ends.
func squeeze(buf *[maxLabel + 2]byte, label string) []byte {
	b := append(buf[:0], ' ')
	for i := range len(label) {
		c := label[i]
		switch {
		case c == ':' && len(b) > 1:
			return append(b, ' ')
		case c >= 'A' && c <= 'Z':
			c += 'a' - 'A'
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9':
		default:
			continue
		}
		if len(b) > maxLabel {
			return nil
		}
		b = append(b, c)
	}
	if len(b) == 1 {
		return nil
	}
	return append(b, ' ')
}

// codePage reduces a label to its code page number: " windows1251 ", " cp1251 " and " ibm01251 "
// become " 1251 ". Other labels are unchanged.
func codePage(squeezed []byte) []byte {
	i := len(squeezed) - 1
	for i > 1 && squeezed[i-1] >= '0' && squeezed[i-1] <= '9' {
		i--
	}
	switch string(squeezed[1:i]) {
	case "", "cp", "windows", "windowscp", "win", "ms", "mscp", "ibm", "dos", "msdos", "codepage", "ccsid":
	default:
		return squeezed
	}
	for i < len(squeezed)-2 && squeezed[i] == '0' {
		i++
	}
	squeezed[i-1] = ' '
	return squeezed[i-1:]
}
