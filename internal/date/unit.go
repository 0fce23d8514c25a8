package date

import (
	"strings"
	"unicode/utf8"
)

// unit interprets a number by the sign after it. A space may precede the sign: 2026年11月19日 10時14分,
// 2026년 11월 19일.
func (r *dateReader) unit(n dateNumber) bool {
	i := r.i
	for i < len(r.s) && r.s[i] == ' ' {
		i++
	}
	c, size := utf8.DecodeRuneInString(r.s[i:])
	switch c {
	case '年', '년':
		r.year = n.value
		if n.digits <= 2 && r.era == 0 {
			r.year = twoDigits(n.value)
		}
	case '月', '월':
		r.month = n.value
		r.failed = r.failed || r.month < 1 || r.month > 12
	case '日', '일', '号', '號':
		r.day = n.value
		r.failed = r.failed || r.day < 1 || r.day > 31
	case '時', '时', '點', '点', '시':
		r.hour, r.timed = n.value, true
	case '分', '분':
		r.minute = n.value
	case '秒', '초':
		r.second = n.value
	default:
		return false
	}
	r.i = i + size
	r.korean = r.korean || c >= firstHangul
	if r.year != 0 && r.month != 0 && r.day != 0 {
		r.dated = true
	}
	return true
}

const firstHangul = '\uAC00'

// ideograph reads words for am and pm, and the names of eras. It skips other ideographs, which are
// names of weekdays in many forms.
func (r *dateReader) ideograph() {
	rest := r.s[r.i:]
	for _, word := range [...]struct {
		text      string
		afternoon int8
		era       int
	}{
		{"午前", 1, 0}, {"午後", 2, 0}, {"上午", 1, 0}, {"下午", 2, 0}, {"오전", 1, 0}, {"오후", 2, 0},
		{"令和", 0, 2018}, {"平成", 0, 1988}, {"昭和", 0, 1925}, {"民國", 0, 1911}, {"民国", 0, 1911},
	} {
		if !strings.HasPrefix(rest, word.text) {
			continue
		}
		if word.afternoon != 0 {
			r.afternoon = word.afternoon
			r.korean = r.korean || word.text[0] >= 0xEA
		} else if r.year == 0 {
			r.era = word.era
		}
		r.i += len(word.text)
		return
	}
	_, n := utf8.DecodeRuneInString(rest)
	r.i += n
}
