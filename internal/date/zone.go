package date

import (
	"strings"
	"time"
	_ "time/tzdata" // embeds the time zone database, so that named zones are the same on every machine
)

// sign interprets a plus or minus. It begins a zone offset after a time, or a year without its
// century such as -03-12. Any other hyphen only joins words and numbers.
func (r *dateReader) sign(minus bool, size int) {
	start := r.i
	r.i += size
	if !isDigit(r.peek(0)) {
		r.failed = r.failed || start == 0 && r.peek(0) == '-' // the form --12-31 has no year
		return
	}
	switch {
	case minus && !r.zoneNamed && r.pending == 1 && start > 0 && isLetter(r.s[start-1]): // a hyphenated date after the time: 10:14 19-Nov-2026
	case !r.timed && r.peek(0) == '0' && r.peek(1) == '0' && isDigit(r.peek(2)) && isDigit(r.peek(3)) && !isDigit(r.peek(4)) && !r.dateKnown():
		r.failed = true // the year -0001, which some programs write for a missing date
	case r.timed && (!r.zoned || r.zoneNamed), r.zoneNamed,
		!r.timed && !r.zoned && r.dateKnown(): // an offset after a date without a time
		r.offset(minus)
	case start == 0 && minus:
		r.centuryless()
	}
}

// centuryless reads -03-12, -0312 and -03 of ISO 8601 of 1988. These forms are a year without its
// century and a month.
func (r *dateReader) centuryless() {
	n := r.digits()
	switch {
	case n.digits == 4 && r.peek(0) == '-': // the year -0001, which some programs write for a missing date
		r.failed = true
	case n.digits == 4:
		r.setDate(twoDigits(n.value/100), n.value%100, 1)
	case n.digits == 2 && r.peek(0) == '-' && isDigit(r.peek(1)) && isDigit(r.peek(2)):
		r.i++
		r.setDate(twoDigits(n.value), r.digits().value, 1)
	case n.digits == 2:
		r.setDate(twoDigits(n.value), 1, 1)
	default:
		r.failed = true // the text is a day without a year
	}
}

// offset reads +01:00, +0100, +01, +1, +1:30, +130, +01:00:00.
func (r *dateReader) offset(minus bool) {
	n := r.digits()
	hours, minutes := n.value, 0
	switch {
	case n.digits > 6:
		hours = 99
	case n.digits >= 5:
		hours, minutes = n.value/10000, n.value/100%100
	case n.digits >= 3:
		hours, minutes = n.value/100, n.value%100
	case (r.peek(0) == ':' || r.peek(0) == '.') && isDigit(r.peek(1)):
		r.i++
		minutes = r.digits().value
		if r.peek(0) == ':' && isDigit(r.peek(1)) {
			r.i++
			r.digits()
		}
	}
	r.zoned, r.zoneNamed = true, false
	if hours > 23 || minutes > 59 {
		return // an invalid offset is ignored
	}
	r.zone = hours*3600 + minutes*60
	if minus {
		r.zone = -r.zone
	}
}

// zoneOf returns the offset of a zone name in minutes. For an ambiguous name, the meaning in the
// United States has priority, then the meaning that most people use.
func zoneOf(name string) (minutes int, ok bool) {
	if len(name) == 1 {
		return militaryZone(name[0])
	}
	switch name {
	case "gmt", "utc", "ut", "wet", "uct", "utz", "zulu", "tuc", "greenwich", "universal":
		return 0, true
	case "est", "et", "cot", "pet", "ect":
		return -5 * 60, true
	case "edt", "ast", "at", "clt", "bot", "vet", "amt", "gyt":
		return -4 * 60, true
	case "cst", "ct", "mdt":
		return -6 * 60, true
	case "cdt":
		return -5 * 60, true
	case "mst", "mt", "pdt":
		return -7 * 60, true
	case "pst", "pt", "akdt":
		return -8 * 60, true
	case "akst":
		return -9 * 60, true
	case "hst", "hast":
		return -10 * 60, true
	case "adt", "brt", "art", "clst", "uyt", "gft":
		return -3 * 60, true
	case "nst":
		return -(3*60 + 30), true
	case "ndt":
		return -(2*60 + 30), true
	case "brst":
		return -2 * 60, true
	case "azot", "cvt":
		return -1 * 60, true
	}
	return easternZone(name)
}

// easternZone does the work of zoneOf for zones east of Greenwich.
func easternZone(name string) (minutes int, ok bool) {
	switch name {
	case "cet", "met", "mez", "bst", "west", "wat":
		return 1 * 60, true
	case "cest", "mest", "mesz", "eet", "sast", "cat", "hec":
		return 2 * 60, true
	case "eest", "msk", "trt", "eat", "idt":
		return 3 * 60, true
	case "msd", "gst", "samt", "azt", "get":
		return 4 * 60, true
	case "irst":
		return 3*60 + 30, true
	case "irdt", "aft":
		return 4*60 + 30, true
	case "pkt", "yekt", "uzt", "tmt", "tjt":
		return 5 * 60, true
	case "ist", "slst":
		return 5*60 + 30, true
	case "npt":
		return 5*60 + 45, true
	case "omst", "bdt", "btt", "kgt":
		return 6 * 60, true
	case "mmt":
		return 6*60 + 30, true
	case "ict", "wib", "novt", "krat":
		return 7 * 60, true
	case "sgt", "hkt", "pht", "phst", "myt", "awst", "wita", "irkt", "ulat":
		return 8 * 60, true
	case "jst", "kst", "wit", "yakt":
		return 9 * 60, true
	case "acst":
		return 9*60 + 30, true
	case "aest", "vlat", "chst":
		return 10 * 60, true
	case "acdt":
		return 10*60 + 30, true
	case "aedt", "magt", "sbt":
		return 11 * 60, true
	case "nzst", "fjt", "pett":
		return 12 * 60, true
	case "nzdt":
		return 13 * 60, true
	}
	return 0, false
}

// militaryZone returns the offset of a letter zone of RFC 822, whose definition had the wrong signs.
// The successors of RFC 822 treat all letters as UTC, but feed readers honour four of them.
//
// spec:mail-rfc5322#single-letter-zones
func militaryZone(c byte) (minutes int, ok bool) {
	switch c {
	case 'a':
		return -1 * 60, true
	case 'n':
		return 1 * 60, true
	case 'm':
		return -12 * 60, true
	case 'y':
		return 12 * 60, true
	}
	return 0, c >= 'a' && c <= 'z' && c != 'j'
}

// region reads the name of a zone of the IANA time zone database, such as America/Los_Angeles. The
// word at start is the first part of the name. region returns false for other words and for unknown
// zones.
func (r *dateReader) region(start int) bool {
	if !r.timed || r.zoned || r.peek(0) != '/' || !isArea(r.s[start:r.i]) {
		return false
	}
	end := r.i
	for end < len(r.s) && (isLetter(r.s[end]) || isDigit(r.s[end]) || strings.IndexByte("/_+-", r.s[end]) >= 0) {
		end++
	}
	location, err := time.LoadLocation(r.s[start:end])
	if err != nil {
		return false
	}
	r.i, r.location, r.zoned = end, location, true
	return true
}

// isArea reports whether a word is the first part of a zone name in the IANA time zone database.
func isArea(word string) bool {
	switch word {
	case "Africa", "America", "Antarctica", "Arctic", "Asia", "Atlantic", "Australia", "Etc", "Europe", "Indian", "Pacific", "US", "Canada", "Brazil", "Chile", "Mexico":
		return true
	}
	return false
}
