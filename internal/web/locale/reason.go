package locale

import (
	"math"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/text/number"
)

// reasons lists the texts of other packages that explain when a feed is checked and what a check
// found. Those packages write English, also for the JSON interface and the commands. %s is a length
// of time, and %d is a number.
func reasons() []string {
	return []string{
		"no hints, so every %s", "a post about every %s", "nothing new for %s", "sy: every %s", "expires in %s", "the user's own interval of %s",
		"push works, so this is the daily check", "push works until the lease ends", "it has never been read", "once more without validators",
		"moved out of", "%s is the shortest wait", "%s is the longest wait", "its host asked several feeds to wait", "a wait that grows with failures",
		"%d times in a row", "the feed says that it is finished", "the podcast says that it is complete", "the feed is an archive, which does not change",
		"nobody follows the feed", "the feed is read when its host has a free slot", "its host has many feeds here, which are read one after another",
		"a follow-up that reads the feed in full, because its server answered 304 after a change was announced",
		"a follow-up that reads the feed in full, because it had changed less than two seconds before it was read",
		"Items: %d new", "Items: %d edited", "%d new", "%d edited", "%d withdrawn", "%d bytes",
		"Nothing new: the document is the same as last time", "Nothing new", "Failed:", "Gone:", "This server could not send the request", "A redirect document",
		"conditionally: only for a document that has changed", "in full", "its server has sent no validators", "the last check after an announced change failed", "its address redirects",
		"its host's name cannot be found", "its server cannot be reached", "its server took too long", "its certificate or encryption is wrong",
		"its response is incomplete or invalid", "it is too large", "it has too many redirects", "it could not be read",
		"its hub pushed a change, by", "a ping to this server announced a change", "%s seen", "ignored", "considered",
		"a response that is not a feed", "an HTML page, not a feed", "an empty response, not a feed",
	}
}

// reasonWriter translates the texts of reasons.
type reasonWriter struct {
	lang    *Locale
	pattern *regexp.Regexp // an alternative for each text
	keys    []string       // texts in the order of the alternatives
}

// In a reason, lengths of time have the form "1 h 30 min" or "3 days".
const (
	lengthPattern = `(\d+ (?:s|min|h(?: \d+ min)?|days)\b)`
	numberPattern = `([\d,]+)`
)

// lengthPart matches a number and its unit, also in other quantities, such as "1,204 bytes" and "6.7 ms".
var lengthPart = regexp.MustCompile(`(\d[\d,.]*) (\w+)`)

func newReasonWriter(l *Locale) *reasonWriter {
	w := &reasonWriter{lang: l, keys: reasons()}
	var all []string
	for _, key := range w.keys {
		p := strings.NewReplacer("%s", lengthPattern, "%d", numberPattern).Replace(regexp.QuoteMeta(key))
		if c := key[0]; 'a' <= c && c <= 'z' { // a text can begin a sentence
			p = "[" + string(c-'a'+'A') + string(c) + "]" + p[1:]
		}
		if !strings.Contains(key, "%") {
			p = "(" + p + ")"
		}
		all = append(all, p)
	}
	w.pattern = regexp.MustCompile(strings.Join(all, "|"))
	return w
}

// Reason translates the known texts in an explanation of another package: when a feed is checked, and
// what a check found. The rest, such as the values that a feed declares, stays as it is.
func (l *Locale) Reason(text string) string {
	if l.IsEnglish() {
		return text
	}
	if found := l.Fault(text); found != text {
		return found
	}
	parts := strings.Split(text, "; ")
	for i, part := range parts {
		if strings.HasSuffix(part, " considered") {
			parts[i] = l.reasons().length(strings.ReplaceAll(part, " and ", " "+l.Words("and")+" "))
		}
	}
	return l.reasons().translate(strings.Join(parts, "; "))
}

func (w *reasonWriter) translate(text string) string {
	var out strings.Builder
	from := 0
	for _, at := range w.pattern.FindAllStringSubmatchIndex(text, -1) {
		for i, key := range w.keys { // each alternative has one group
			if at[2*i+2] < 0 {
				continue
			}
			var args []any
			switch part := text[at[2*i+2]:at[2*i+3]]; {
			case strings.Contains(key, "%s"):
				args = append(args, w.length(part))
			case strings.Contains(key, "%d"):
				n, _ := strconv.ParseInt(strings.ReplaceAll(part, ",", ""), 10, 64)
				args = append(args, n)
			}
			is := w.lang.Say(key, args...)
			if first := text[at[0]]; 'A' <= first && first <= 'Z' {
				is = strings.ToUpper(is[:1]) + is[1:]
			}
			out.WriteString(text[from:at[0]] + is)
			from = at[1]
			break
		}
	}
	return out.String() + text[from:]
}

// length translates the units of a length of time or of another quantity. Unknown units stay as they are.
func (w *reasonWriter) length(text string) string {
	return lengthPart.ReplaceAllStringFunc(text, func(part string) string {
		m := lengthPart.FindStringSubmatch(part)
		f, err := strconv.ParseFloat(strings.ReplaceAll(m[1], ",", ""), 64)
		if unit := strings.TrimSuffix(m[2], "s"); w.knows("%d "+unit+"s") && f == math.Trunc(f) {
			return Quantity(int64(f), unit, unit+"s").In(w.lang)
		}
		if err != nil || !w.knows(m[2]) && !strings.HasSuffix(m[2], "iB") {
			return part
		}
		return w.lang.printer.Sprint(number.Decimal(f)) + " " + w.lang.Words(m[2])
	})
}

func (w *reasonWriter) knows(key string) bool {
	_, ok := w.lang.words[key]
	return ok
}
