package web

import (
	"html"
	"html/template"
	"math"
	"strconv"
	"strings"
	"time"
)

// Size of a chart in its own units; it is shown at about one unit a pixel.
const (
	chartWidth  = 340.0
	chartHeight = 150.0
	chartLeft   = 42.0
	chartRight  = 334.0
	chartTop    = 8.0
	chartBottom = 128.0
)

// figure is a chart with its words.
type figure struct {
	ID, Title string
	Unit      string // of the upright axis
	Desc      string // what it shows, for who does not see it
	Now       string // the latest figure, in words
	Series    []series
	Bars      bool
	Powers    bool // values are exponents of ten
	Ticks     []tick
}

// series is one row of values, evenly spaced; NaN is a gap.
type series struct {
	Name   string
	Class  string // s1 or s2: colour, and the second is dashed
	Values []float64
}

// tick is a mark on the level axis; At runs from 0 to 1.
type tick struct {
	At    float64
	Label string
}

// Keyed reports whether the series need a key.
func (f figure) Keyed() bool { return len(f.Series) > 1 }

// SVG draws it. Colours and sizes are the style sheet's.
func (f figure) SVG() template.HTML {
	var b strings.Builder
	b.WriteString(`<svg class="chart" viewBox="0 0 340 150" role="img" aria-labelledby="` + f.ID + `-t ` + f.ID + `-d">`)
	b.WriteString(`<title id="` + f.ID + `-t">` + html.EscapeString(f.Title) + `</title>`)
	b.WriteString(`<desc id="` + f.ID + `-d">` + html.EscapeString(f.Desc) + `</desc>`)
	top := niceMax(f.highest())
	if f.Powers || f.Unit == "" && top < 10 {
		top = 2 * math.Ceil(top/2) // what is counted has no halves
	}
	word := axisNumber
	if f.Powers {
		word = powerNumber
	}
	for i := range 3 {
		v := top * float64(i) / 2
		y := chartBottom - (chartBottom-chartTop)*float64(i)/2
		class := "grid"
		if i == 0 {
			class = "axis"
		}
		line(&b, class, chartLeft, y, chartRight, y)
		said := word(v)
		if i == 2 {
			said += " " + f.Unit
		}
		if i == 2 && len(said) > 5 { // the unit stands beside the line, not in the margin
			label(&b, "start", chartLeft+4, y+11, f.Unit)
			said = word(v)
		}
		label(&b, "end", chartLeft-5, y+3.5, said)
	}
	for i, t := range f.Ticks {
		x := chartLeft + (chartRight-chartLeft)*t.At
		anchor := "middle"
		if i == 0 && t.At == 0 {
			anchor = "start"
		} else if t.At == 1 {
			anchor = "end"
		}
		line(&b, "axis", x, chartBottom, x, chartBottom+4)
		label(&b, anchor, x, chartBottom+17, t.Label)
	}
	for _, s := range f.Series {
		if f.Bars {
			bars(&b, s, top)
		} else {
			curve(&b, s, top)
		}
	}
	b.WriteString(`</svg>`)
	return template.HTML(b.String()) // every word above went through EscapeString
}

func (f figure) highest() float64 {
	top := 0.0
	for _, s := range f.Series {
		for _, v := range s.Values {
			if !math.IsNaN(v) && !math.IsInf(v, 0) {
				top = max(top, v)
			}
		}
	}
	return top
}

// niceMax is the least of 1, 2, 3, 4, 5, 6, 8, 10 × 10ⁿ that holds top, so that its half is plain too.
func niceMax(top float64) float64 {
	if top <= 0 {
		return 1
	}
	unit := math.Pow(10, math.Floor(math.Log10(top)))
	for _, m := range []float64{1, 2, 3, 4, 5, 6, 8, 10} {
		if top <= m*unit*(1+1e-9) {
			return m * unit
		}
	}
	return 10 * unit
}

func axisNumber(v float64) string {
	switch {
	case v == 0:
		return "0"
	case v >= 1e6:
		return strconv.FormatFloat(v/1e6, 'g', 3, 64) + "M"
	case v >= 10_000:
		return strconv.FormatFloat(v/1000, 'g', 3, 64) + "k"
	case v >= 100:
		return count(int64(math.Round(v)))
	}
	return strconv.FormatFloat(v, 'g', 2, 64)
}

func num(f float64) string { return strconv.FormatFloat(f, 'f', 1, 64) }

func line(b *strings.Builder, class string, x1, y1, x2, y2 float64) {
	b.WriteString(`<line class="` + class + `" x1="` + num(x1) + `" y1="` + num(y1) + `" x2="` + num(x2) + `" y2="` + num(y2) + `"/>`)
}

func label(b *strings.Builder, anchor string, x, y float64, s string) {
	b.WriteString(`<text text-anchor="` + anchor + `" x="` + num(x) + `" y="` + num(y) + `">` + html.EscapeString(s) + `</text>`)
}

func height(v, top float64) float64 {
	return (chartBottom - chartTop) * min(v/top, 1)
}

func bars(b *strings.Builder, s series, top float64) {
	step := (chartRight - chartLeft) / float64(max(len(s.Values), 1))
	wide := min(max(step*0.72, 0.8), 18)
	for i, v := range s.Values {
		if math.IsNaN(v) || v <= 0 {
			continue
		}
		h := max(height(v, top), 1)
		b.WriteString(`<rect class="` + s.Class + `" x="` + num(chartLeft+step*(float64(i)+0.5)-wide/2) + `" y="` + num(chartBottom-h) + `" width="` + num(wide) + `" height="` + num(h) + `"/>`)
	}
}

// curve joins neighbours; a value between two gaps is a dot.
func curve(b *strings.Builder, s series, top float64) {
	step := (chartRight - chartLeft) / float64(max(len(s.Values), 1))
	at := func(i int) (x, y float64) {
		return chartLeft + step*(float64(i)+0.5), chartBottom - height(s.Values[i], top)
	}
	gap := func(i int) bool { return i < 0 || i >= len(s.Values) || math.IsNaN(s.Values[i]) }
	var d, dots strings.Builder
	for i := range s.Values {
		if gap(i) {
			continue
		}
		x, y := at(i)
		switch {
		case gap(i-1) && gap(i+1):
			dots.WriteString(`<circle class="` + s.Class + `" cx="` + num(x) + `" cy="` + num(y) + `" r="1.8"/>`)
		case gap(i - 1):
			d.WriteString("M" + num(x) + " " + num(y))
		default:
			d.WriteString("L" + num(x) + " " + num(y))
		}
	}
	if d.Len() > 0 {
		b.WriteString(`<path class="` + s.Class + `" d="` + d.String() + `"/>`)
	}
	b.WriteString(dots.String())
}

func highestText(values []float64, unit string) string {
	top := figure{Series: []series{{Values: values}}}.highest()
	switch unit {
	case "ms":
		return lasting(time.Duration(top * float64(time.Millisecond)))
	case "s":
		return lasting(time.Duration(top * float64(time.Second)))
	}
	return count(int64(top))
}

// describe says in words what a chart shows.
func describe(all []series, when, unit string, minutesPerPoint float64) string {
	s := "Over the " + when + "."
	for _, one := range all {
		top, at := 0.0, -1
		for i, v := range one.Values {
			if !math.IsNaN(v) && v > top {
				top, at = v, i
			}
		}
		if at < 0 {
			s += " No " + one.Name + "."
			continue
		}
		ago := time.Duration(float64(len(one.Values)-1-at) * minutesPerPoint * float64(time.Minute))
		s += " Highest " + one.Name + ": " + highestText(one.Values, unit) + ", " + relative(time.Unix(0, 0).Add(ago), time.Unix(0, 0)) + "."
	}
	return s
}
