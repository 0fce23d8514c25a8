package date

// englishWeekday returns the number of a weekday from its first three letters: 1 (Monday) to 7
// (Sunday); 0 for other words.
func englishWeekday(name [3]byte) int8 {
	switch name {
	case [3]byte{'m', 'o', 'n'}:
		return 1
	case [3]byte{'t', 'u', 'e'}:
		return 2
	case [3]byte{'w', 'e', 'd'}:
		return 3
	case [3]byte{'t', 'h', 'u'}:
		return 4
	case [3]byte{'f', 'r', 'i'}:
		return 5
	case [3]byte{'s', 'a', 't'}:
		return 6
	case [3]byte{'s', 'u', 'n'}:
		return 7
	}
	return 0
}

// isWeekday reports whether key is the name of a weekday or its short form. Weekdays are ignored,
// because they are redundant and sometimes wrong.
func isWeekday(key string) bool {
	_, short := firstLetters(key)
	switch short {
	case "mon", "tue", "wed", "thu", "fri", "sat", "sun": // English
		return true
	case "die", "mit", "don", "fre", "sam", "son", "mo", "di", "mi", "do", "fr", "sa", "so": // German
		return true
	case "lun", "mar", "mer", "jeu", "ven", "dim", "mie", "jue", "vie", "sab", "dom", "gio": // French, Spanish, Italian
		return true
	case "seg", "ter", "qua", "qui", "sex": // Portuguese
		return true
	case "maa", "din", "woe", "vri", "zat", "zon", "ma", "wo", "vr", "za", "zo": // Dutch
		return true
	case "man", "tis", "tir", "ons", "tor", "lor", "ti", "on", "to", "lo": // Scandinavian
		return true
	case "kes", "per", "lau", "tii", "ke", "pe", "la", "su": // Finnish
		return true
	case "pon", "wto", "sro", "czw", "pia", "sob", "nie", "pn", "wt", "sr", "pt", "sb", "nd": // Polish
		return true
	case "ute", "str", "ctv", "pat", "ned", "po", "ut", "st", "ct", "pa", "ne", "stv": // Czech, Slovak
		return true
	case "het", "ked", "sze", "csu", "pen", "szo", "vas", "cs": // Hungarian
		return true
	case "paz", "sal", "car", "cum", "pzt", "cmt": // Turkish
		return true
	case "joi", "vin", "sub", "dum": // Romanian
		return true
	}
	switch short {
	case "пон", "вто", "сре", "чет", "пят", "суб", "вос", "пн", "вт", "ср", "чт", "пт", "сб", "вс", "нд": // Russian
		return true
	case "вів", "віт", "сер", "пʼя", "нед", "сря", "пет", "съб": // Ukrainian, Bulgarian
		return true
	case "κυρ", "δευ", "τρι", "τετ", "πεμ", "παρ", "σαβ": // Greek
		return true
	}
	return false
}
