package render

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// asciiAuthority is the part of an address between // and the path with a host of
// ASCII: labels in other scripts are written as xn-- and Punycode. ok is false for hosts
// whose spelling would have to be changed first, which only tables of all scripts tell.
//
// spec:punycode-rfc3492#encode
func asciiAuthority(s string) (out string, ok bool) {
	user, host, found := strings.Cut(s, "@")
	if !found {
		user, host = "", s
	} else {
		user += "@"
	}
	var b strings.Builder
	b.WriteString(user)
	for i, label := range strings.Split(host, ".") {
		if i > 0 {
			b.WriteByte('.')
		}
		if isASCII(label) {
			b.WriteString(label)
			continue
		}
		name, port, _ := strings.Cut(label, ":")
		name = strings.ToLower(name)
		if !plainLabel(name) || !isASCII(port) {
			return s, false
		}
		b.WriteString("xn--")
		b.Write(punycode(nil, []rune(name)))
		b.WriteString(label[strings.IndexByte(label+":", ':'):])
	}
	return b.String(), isASCII(user)
}

// plainLabel reports a part of a host that is spelled as it is registered: letters and
// digits, none of which stands for others.
func plainLabel(s string) bool {
	const longest = 59 // characters, with xn-- in front
	for _, c := range s {
		switch {
		case c == '-', c < utf8.RuneSelf && isWordByte(byte(c)):
		case c < utf8.RuneSelf, !unicode.IsLetter(c) && !unicode.IsMark(c):
			return false
		case 0x300 <= c && c <= 0x36f, 0x1100 <= c && c <= 0x11ff, c >= 0xf900 && c < 0x10000, c == 0xaa, c == 0xba, unicode.Is(unicode.Lm, c):
			return false // parts of characters, and other forms of them
		}
	}
	return s != "" && utf8.RuneCountInString(s) <= longest && s[0] != '-' && s[len(s)-1] != '-'
}

// punycode writes a label as RFC 3492 has it: the ASCII in it, and where the rest goes.
func punycode(b []byte, label []rune) []byte {
	const base, tmin, tmax, skew, damp, digits = 36, 1, 26, 38, 700, "abcdefghijklmnopqrstuvwxyz0123456789"
	for _, c := range label {
		if c < utf8.RuneSelf {
			b = append(b, byte(c))
		}
	}
	basic := len(b)
	if basic > 0 {
		b = append(b, '-')
	}
	n, delta, bias := rune(0x80), 0, 72
	for done := basic; done < len(label); {
		next := rune(utf8.MaxRune)
		for _, c := range label {
			if c >= n {
				next = min(next, c)
			}
		}
		delta += int(next-n) * (done + 1)
		n = next
		for _, c := range label {
			if c < n {
				delta++
			}
			if c != n {
				continue
			}
			q := delta
			for k := base; ; k += base {
				t := min(max(k-bias, tmin), tmax)
				if q < t {
					b = append(b, digits[q])
					break
				}
				b = append(b, digits[t+(q-t)%(base-t)])
				q = (q - t) / (base - t)
			}
			if done == basic {
				delta /= damp
			} else {
				delta /= 2
			}
			done++
			delta += delta / done
			for bias = 0; delta > (base-tmin)*tmax/2; bias += base {
				delta /= base - tmin
			}
			bias += (base - tmin + 1) * delta / (delta + skew)
			delta = 0
		}
		delta++
		n++
	}
	return b
}
