package sanitize

import "strings"

// safeStyle returns the declarations of a style attribute that affect only the look of the text in
// its place. It rejects the whole style if it contains more than names, numbers, colours and quoted
// words, because there are too many ways to write a URL.
func safeStyle(style string, drawing bool) string {
	style = withoutURLs(style)
	if !isSimpleStyle(style) {
		return ""
	}
	var space [128]byte
	clean := space[:0]
	for declaration := range strings.SplitSeq(style, ";") {
		if declaration = strings.TrimSpace(declaration); declaration == "" {
			continue
		}
		name, value, ok := strings.Cut(declaration, ":")
		name, value = strings.ToLower(strings.TrimSpace(name)), strings.TrimSpace(value)
		if !ok || !isPropertyName(name) || strings.Contains(value, ":") {
			return ""
		}
		if value == "" || !isSafeProperty(name, value, drawing) {
			continue
		}
		if len(clean) > 0 {
			clean = append(clean, ' ')
		}
		clean = append(append(append(append(clean, name...), ": "...), value...), ';')
	}
	if string(clean) == style {
		return style // avoid an allocation
	}
	return string(clean)
}

// withoutURLs replaces every url(...) in style by a space. White space may precede the parenthesis.
// A url( without a closing parenthesis remains.
func withoutURLs(style string) string {
	if indexURL(style) < 0 {
		return style
	}
	var out strings.Builder
	for {
		i := indexURL(style)
		if i < 0 {
			out.WriteString(style)
			return out.String()
		}
		end := strings.IndexByte(style[i:], ')')
		if end < 0 {
			out.WriteString(style)
			return out.String()
		}
		out.WriteString(style[:i] + " ")
		style = style[i+end+1:]
	}
}

// indexURL returns the index of "url(" in style, -1 if there is none.
func indexURL(style string) int {
	for at := 0; ; {
		i := strings.IndexByte(style[at:], '(')
		if i < 0 {
			return -1
		}
		at += i
		if name := strings.TrimRight(style[:at], " \t\n"); strings.HasSuffix(name, "url") {
			return len(name) - len("url")
		}
		at++
	}
}

// isSimpleStyle reports whether safeStyle understands all of style.
func isSimpleStyle(style string) bool {
	for i := 0; i < len(style); i++ {
		switch c := style[i]; {
		case isWord(c), strings.IndexByte(" \t\n\r\f:,;#%.!", c) >= 0:
		case c == '-':
			if i == 0 || i+1 == len(style) || !isWord(style[i-1]) || !isWord(style[i+1]) {
				return false
			}
		case c == '"' || c == '\'':
			n := strings.IndexByte(style[i+1:], c)
			if n <= 0 || !only(style[i+1:i+1+n], func(c byte) bool { return isWord(c) || c == ' ' || c == '-' }) {
				return false
			}
			i += n + 1
		case c == '(':
			n := strings.IndexByte(style[i:], ')')
			if n <= 1 || !only(style[i+1:i+n], func(c byte) bool { return '0' <= c && c <= '9' || strings.IndexByte(" ,.%", c) >= 0 }) {
				return false
			}
			i += n
		default:
			return false
		}
	}
	return true
}

func only(s string, ok func(byte) bool) bool {
	for i := 0; i < len(s); i++ {
		if !ok(s[i]) {
			return false
		}
	}
	return true
}

func isWord(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || c == '_'
}

func isPropertyName(name string) bool {
	return name != "" && only(name, func(c byte) bool { return isWord(c) || c == '-' })
}

// isSafeProperty reports whether a declaration is allowed. drawing also allows properties of SVG.
func isSafeProperty(name, value string, drawing bool) bool {
	switch name {
	case "azimuth", "background-color", "border-bottom-color", "border-collapse", "border-color",
		"border-left-color", "border-right-color", "border-top-color", "clear", "color", "cursor",
		"direction", "display", "elevation", "float", "font", "font-family", "font-size", "font-style",
		"font-variant", "font-weight", "height", "letter-spacing", "line-height", "overflow", "pause",
		"pause-after", "pause-before", "pitch", "pitch-range", "richness", "speak", "speak-header",
		"speak-numeral", "speak-punctuation", "speech-rate", "stress", "text-align",
		"text-decoration", "text-indent", "unicode-bidi", "vertical-align", "voice-family", "volume",
		"white-space", "width":
		return true
	case "fill", "fill-opacity", "fill-rule", "stroke", "stroke-linecap", "stroke-linejoin",
		"stroke-opacity", "stroke-width":
		return drawing
	}
	family, _, _ := strings.Cut(name, "-")
	switch family {
	case "background", "border", "margin", "padding":
		for word := range strings.FieldsSeq(value) {
			if !isSafeKeyword(word) && !isSafeMeasure(word) {
				return false
			}
		}
		return true
	}
	return false
}

func isSafeKeyword(word string) bool {
	switch word {
	case "!important", "aqua", "auto", "black", "block", "blue", "bold", "both", "bottom", "brown",
		"center", "collapse", "dashed", "dotted", "fuchsia", "gray", "green", "italic", "left", "lime",
		"maroon", "medium", "navy", "none", "normal", "nowrap", "olive", "pointer", "purple", "red",
		"right", "silver", "solid", "teal", "top", "transparent", "underline", "white", "yellow":
		return true
	}
	return false
}

// isSafeMeasure reports whether word is a numeric colour, or a length with at most two digits
// before the point and two digits after it.
func isSafeMeasure(word string) bool {
	if rest, ok := strings.CutPrefix(word, "#"); ok {
		return rest != "" && only(rest, func(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f' })
	}
	if rest, ok := strings.CutPrefix(word, "rgb("); ok {
		rest = strings.TrimSuffix(rest, ")")
		return rest != "" && only(rest, func(c byte) bool { return '0' <= c && c <= '9' || c == ',' || c == '%' })
	}
	rest := word
	for range 2 {
		if rest != "" && '0' <= rest[0] && rest[0] <= '9' {
			rest = rest[1:]
		}
	}
	rest = strings.TrimPrefix(rest, ".")
	for range 2 {
		if rest != "" && '0' <= rest[0] && rest[0] <= '9' {
			rest = rest[1:]
		}
	}
	switch rest {
	case "", "cm", "em", "ex", "in", "mm", "pc", "pt", "px", "%", ",", ")":
		return true
	}
	return false
}
