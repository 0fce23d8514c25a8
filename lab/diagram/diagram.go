// Package diagram draws the diagrams of the documentation. It converts a text source, which
// describes boxes on a grid and arrows between them, to an SVG image for light and dark pages.
// Start with [Parse] and [Drawing.SVG]. The sources are in testdata; go test ./lab/diagram
// -update writes the images to docs/images.
//
// A source has one statement per line; an empty line and a line that begins with # are ignored:
//
//	title: The flow of a ping
//	text: An author pings the hub …            what the drawing shows, for people who cannot see it
//	box hub 1 0 "Hub" "reads the feed"         column, row, heading, further lines
//	wide hub 2                                 the box is two columns wide
//	arrow author hub "1 ping"                  from, to, label
//	soft note                                  the box has a dashed border
package diagram

import (
	"cmp"
	"fmt"
	"html"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Drawing is a parsed text source of a diagram.
type Drawing struct {
	Title, Text string
	Boxes       []Box
	Arrows      []Arrow
}

// Box is a rectangle on the grid. Columns and rows are counted from 0.
type Box struct {
	Name     string
	Col, Row float64
	Cols     float64 // width in columns
	Soft     bool
	Lines    []string
}

// Arrow points from one box to another. From and To are names of boxes.
type Arrow struct{ From, To, Label string }

var statement = regexp.MustCompile(`"([^"]*)"|(\S+)`)

// Parse parses a source. An error contains the number of the line.
func Parse(source string) (Drawing, error) {
	var d Drawing
	n := 0
	for line := range strings.Lines(source) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if err := d.statement(line); err != nil {
			return d, fmt.Errorf("line %d: %w", n, err)
		}
	}
	if d.Title == "" || d.Text == "" || len(d.Boxes) == 0 {
		return d, fmt.Errorf("a drawing needs a title, a text and boxes")
	}
	return d, nil
}

func (d *Drawing) statement(line string) error {
	if rest, ok := strings.CutPrefix(line, "title: "); ok {
		d.Title = rest
		return nil
	}
	if rest, ok := strings.CutPrefix(line, "text: "); ok {
		d.Text = rest
		return nil
	}
	var words []string
	for _, m := range statement.FindAllStringSubmatch(line, -1) {
		words = append(words, cmp.Or(m[1], m[2]))
	}
	switch {
	case words[0] == "box" && len(words) >= 5:
		col, err := strconv.ParseFloat(words[2], 64)
		row, err2 := strconv.ParseFloat(words[3], 64)
		if err = cmp.Or(err, err2); err != nil {
			return fmt.Errorf("column or row of %q: %w", words[1], err)
		}
		d.Boxes = append(d.Boxes, Box{Name: words[1], Col: col, Row: row, Cols: 1, Lines: words[4:]})
		return nil
	case words[0] == "wide" && len(words) == 3:
		cols, err := strconv.ParseFloat(words[2], 64)
		if b := d.box(words[1]); b != nil && err == nil {
			b.Cols = cols
			return nil
		}
	case words[0] == "soft" && len(words) == 2:
		if b := d.box(words[1]); b != nil {
			b.Soft = true
			return nil
		}
	case words[0] == "arrow" && (len(words) == 3 || len(words) == 4):
		if d.box(words[1]) != nil && d.box(words[2]) != nil {
			d.Arrows = append(d.Arrows, Arrow{words[1], words[2], strings.Join(words[3:], "")})
			return nil
		}
	}
	return fmt.Errorf("%q is not a statement, or it names an unknown box", line)
}

func (d *Drawing) box(name string) *Box {
	if i := slices.IndexFunc(d.Boxes, func(b Box) bool { return b.Name == name }); i >= 0 {
		return &d.Boxes[i]
	}
	return nil
}

// These sizes are in pixels.
const (
	width, height = 176.0, 72.0 // size of a box that is one column wide
	gapX, gapY    = 84.0, 48.0
	margin        = 16.0
)

func (b Box) rect() (x, y, w, h float64) {
	return margin + b.Col*(width+gapX), margin + b.Row*(height+gapY), b.Cols*width + (b.Cols-1)*gapX, height
}

// style contains the colors of the diagram for light and dark pages.
const style = `<style>
text{font:13px system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;fill:#25211b}
.h{font-weight:600;font-size:15px}.s{fill:#655e52}.l{fill:#0a6496;font-size:12px;paint-order:stroke;stroke:#fbf9f4;stroke-width:5px;stroke-linejoin:round}
.bg{fill:#fbf9f4}rect.b{fill:#fffdf9;stroke:#928976}path{fill:none;stroke:#0a6496;stroke-width:1.5}.tip{fill:#0a6496;stroke:none}
@media(prefers-color-scheme:dark){text{fill:#ebe6dc}.s{fill:#aaa293}.l{fill:#82c6ec;stroke:#1b1916}.bg{fill:#1b1916}rect.b{fill:#211f1b;stroke:#847b6b}path{stroke:#82c6ec}.tip{fill:#82c6ec;stroke:none}}
</style>`

// SVG returns the drawing as an SVG document. The document contains the title and the text for
// people who cannot see the image.
func (d Drawing) SVG() string {
	var right, bottom float64
	for _, b := range d.Boxes {
		x, y, w, h := b.rect()
		right, bottom = max(right, x+w+margin), max(bottom, y+h+margin)
	}
	var s strings.Builder
	fmt.Fprintf(&s, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %g %g\" width=\"%[1]g\" height=\"%[2]g\" role=\"img\" aria-labelledby=\"t d\">\n", right, bottom)
	fmt.Fprintf(&s, "<title id=\"t\">%s</title>\n<desc id=\"d\">%s</desc>\n%s\n", html.EscapeString(d.Title), html.EscapeString(d.Text), style)
	s.WriteString("<defs><marker id=\"a\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" orient=\"auto-start-reverse\"><path class=\"tip\" d=\"M0 0 8 4 0 8z\"/></marker></defs>\n")
	fmt.Fprintf(&s, "<rect class=\"bg\" width=\"%g\" height=\"%g\" rx=\"8\"/>\n", right, bottom)
	for _, b := range d.Boxes {
		b.draw(&s)
	}
	for _, a := range d.Arrows {
		a.draw(&s, *d.box(a.From), *d.box(a.To))
	}
	s.WriteString("</svg>\n")
	return s.String()
}

func (b Box) draw(s *strings.Builder) {
	x, y, w, h := b.rect()
	dash := ""
	if b.Soft {
		dash = ` stroke-dasharray="4 4"`
	}
	fmt.Fprintf(s, "<rect class=\"b\" x=\"%g\" y=\"%g\" width=\"%g\" height=\"%g\" rx=\"6\"%s/>\n", x, y, w, h, dash)
	top := y + h/2 - float64(len(b.Lines)-1)*9 + 5
	for i, line := range b.Lines {
		class := "s"
		if i == 0 {
			class = "h"
		}
		fmt.Fprintf(s, "<text class=\"%s\" x=\"%g\" y=\"%g\" text-anchor=\"middle\">%s</text>\n", class, x+w/2, top+float64(i)*18, html.EscapeString(line))
	}
}

// draw writes an arrow between the two sides of the boxes that face each other.
func (a Arrow) draw(s *strings.Builder, from, to Box) {
	fx, fy, fw, fh := from.rect()
	tx, ty, tw, th := to.rect()
	var x1, y1, x2, y2 float64
	switch {
	case from.Row == to.Row:
		y1, y2 = fy+fh/2, ty+th/2
		if x1, x2 = fx+fw, tx; fx > tx {
			x1, x2 = fx, tx+tw
		}
	default:
		y1, y2 = fy+fh, ty
		if from.Row > to.Row {
			y1, y2 = fy, ty+th
		}
		x1, x2 = fx+fw/2, tx+tw/2
		switch { // for a wide box, the arrow starts or ends at the column of the other box
		case from.Cols > to.Cols:
			x1 = x2
		case to.Cols > from.Cols:
			x2 = x1
		}
	}
	fmt.Fprintf(s, "<path d=\"M%g %gL%g %g\" marker-end=\"url(#a)\"/>\n", x1, y1, x2, y2)
	if a.Label == "" {
		return
	}
	x, y := (x1+x2)/2, (y1+y2)/2+4
	if from.Row == to.Row {
		y -= 12
	}
	fmt.Fprintf(s, "<text class=\"l\" x=\"%g\" y=\"%g\" text-anchor=\"middle\">%s</text>\n", x, y, html.EscapeString(a.Label))
}
