package sanitize

import (
	"strconv"
	"strings"
)

// iconSize is the maximum width and height, in pixels, of a drawing that its author hides from
// screen readers, if nothing else declares its size.
const iconSize = 24

// isShape reports whether an element of SVG draws something.
func isShape(name string) bool {
	switch name {
	case "circle", "ellipse", "line", "path", "polygon", "polyline", "rect", "text":
		return true
	}
	return false
}

// drawing has the attributes of an svg element that determine its size.
type drawing struct {
	width, height, viewBox string
	hidden                 bool // hidden from screen readers, as icons next to a text are
}

// withSize returns the attributes of an outermost svg element. If its author leaves the width to a
// style sheet, which the result does not have, the width and the height follow from the viewBox:
// browsers would stretch an icon over the whole column.
func withSize(next func() (key, value string, more bool)) func() (key, value string, more bool) {
	type pair struct{ key, value string }
	var all []pair
	var d drawing
	for more := true; more; {
		var p pair
		p.key, p.value, more = next()
		field := d.field(p.key)
		switch {
		case p.key == "aria-hidden":
			d.hidden = strings.EqualFold(p.value, "true")
		case field == nil:
		case *field != "" || mentionsAddress(p.value) || strings.TrimSpace(dropControls(p.value)) == "":
			continue // a repeated or unusable value has no effect
		default:
			*field = dropControls(p.value)
		}
		all = append(all, p)
	}
	if width, height, ok := d.size(); ok {
		all = append(all, pair{"width", width})
		if d.height == "" {
			all = append(all, pair{"height", height})
		}
	}
	return func() (string, string, bool) {
		if len(all) == 0 {
			return "", "", false
		}
		p := all[0]
		all = all[1:]
		return p.key, p.value, len(all) > 0
	}
}

// field returns the field of an attribute, nil for other attributes.
func (d *drawing) field(key string) *string {
	switch key {
	case "width":
		return &d.width
	case "height":
		return &d.height
	case "viewbox":
		return &d.viewBox
	}
	return nil
}

// size returns the width and the height that follow from the viewBox. It returns false if the
// element has a width, or no valid viewBox.
func (d *drawing) size() (width, height string, ok bool) {
	box := strings.FieldsFunc(d.viewBox, func(r rune) bool { return strings.ContainsRune(", \t\n\r\f", r) })
	if d.width != "" || len(box) != 4 {
		return "", "", false
	}
	const smallest, largest = 1e-3, 1e6
	w, err := strconv.ParseFloat(box[2], 64)
	h, err2 := strconv.ParseFloat(box[3], 64)
	if err != nil || err2 != nil || !(w >= smallest && w <= largest && h >= smallest && h <= largest) {
		return "", "", false
	}
	if n, unit, ok := length(d.height); ok {
		return formatLength(n*w/h) + unit, "", true
	}
	scale := 1.0
	if d.hidden {
		scale = min(1, iconSize/max(w, h))
	}
	return formatLength(w * scale), formatLength(h * scale), true
}

// length splits a length into its number and its unit. It returns false for percentages, which
// depend on the place of the element.
func length(s string) (n float64, unit string, ok bool) {
	s = strings.TrimSpace(s)
	number := strings.TrimRight(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
	n, err := strconv.ParseFloat(number, 64)
	return n, s[len(number):], err == nil && n > 0 && n < 1e6
}

// formatLength writes a length with at most two digits after the point.
func formatLength(n float64) string {
	return strings.TrimSuffix(strings.TrimRight(strconv.FormatFloat(max(n, 0.01), 'f', 2, 64), "0"), ".")
}
