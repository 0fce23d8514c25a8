package shell

import (
	"html"
	"html/template"
	"math"
	"strconv"
	"strings"
	"time"

	"cloudburst/internal/web/locale"
)

// Size of a chart in its own units; a unit is about one pixel.
const (
	chartWidth  = 340.0
	chartHeight = 164.0
	chartLeft   = 42.0
	chartRight  = 334.0
	chartTop    = 22.0 // upper end of the vertical axis; its unit is written above
	chartBottom = 142.0
)

// Figure is a chart with its texts.
type Figure struct {
	ID, Title string
	Unit      string // unit of the vertical axis: ms, s, or a noun
	Desc      string // text alternative
	Now       string // the latest value, in words
	Series    []Series
	Bars      bool
	Whole     bool // values are whole numbers
	Powers    bool // values are exponents of ten
	Ticks     []Tick
}

// Series is a list of evenly spaced values; NaN is a gap.
type Series struct {
	Name   string
	Class  string // s1 or s2: the colour; s2 is also dashed
	Values []float64
}

// Tick is a mark on the horizontal axis; At runs from 0 to 1.
type Tick struct {
	At    float64
	Label string
}

// Keyed reports whether the chart needs a legend.
func (f Figure) Keyed() bool { return len(f.Series) > 1 }

// SVG draws the chart. Colours and sizes are in the style sheet.
func (f Figure) SVG() template.HTML {
	var b strings.Builder
	b.WriteString(`<svg class="chart" viewBox="0 0 ` + FormatNumber(chartWidth) + ` ` + FormatNumber(chartHeight) + `" role="img" aria-labelledby="` + f.ID + `-t ` + f.ID + `-d">`)
	b.WriteString(`<title id="` + f.ID + `-t">` + html.EscapeString(f.Title) + `</title>`)
	b.WriteString(`<desc id="` + f.ID + `-d">` + html.EscapeString(f.Desc) + `</desc>`)
	top := niceMax(f.Highest())
	if f.Powers || (f.Whole || f.Unit == "") && top < 10 {
		top = 2 * math.Ceil(top/2) // so that half of top is a whole number
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
		DrawLine(&b, class, chartLeft, y, chartRight, y)
		DrawLabel(&b, "end", chartLeft-5, y+3.5, word(v))
	}
	if f.Unit != "" {
		DrawLabel(&b, "start", 0, 10, f.Unit)
	}
	for i, t := range f.Ticks {
		x := chartLeft + (chartRight-chartLeft)*t.At
		anchor := "middle"
		if i == 0 && t.At == 0 {
			anchor = "start"
		} else if t.At == 1 {
			anchor = "end"
		}
		DrawLine(&b, "axis", x, chartBottom, x, chartBottom+4)
		DrawLabel(&b, anchor, x, chartBottom+17, t.Label)
	}
	for _, s := range f.Series {
		if f.Bars {
			bars(&b, s, top)
		} else {
			curve(&b, s, top)
		}
	}
	b.WriteString(`</svg>`)
	return template.HTML(b.String()) // EscapeString has escaped every text above
}

func (f Figure) Highest() float64 {
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

// niceMax returns the smallest of 1, 2, 3, 4, 5, 6, 8, 10 × 10ⁿ that is at least top. Half of the
// result is a round number too.
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
		return FormatCount(int64(math.Round(v)))
	}
	return strconv.FormatFloat(v, 'g', 2, 64)
}

func FormatNumber(f float64) string { return strconv.FormatFloat(f, 'f', 1, 64) }

func DrawLine(b *strings.Builder, class string, x1, y1, x2, y2 float64) {
	b.WriteString(`<line class="` + class + `" x1="` + FormatNumber(x1) + `" y1="` + FormatNumber(y1) + `" x2="` + FormatNumber(x2) + `" y2="` + FormatNumber(y2) + `"/>`)
}

func DrawLabel(b *strings.Builder, anchor string, x, y float64, s string) {
	b.WriteString(`<text text-anchor="` + anchor + `" x="` + FormatNumber(x) + `" y="` + FormatNumber(y) + `">` + html.EscapeString(s) + `</text>`)
}

func height(v, top float64) float64 {
	return (chartBottom - chartTop) * min(v/top, 1)
}

func bars(b *strings.Builder, s Series, top float64) {
	step := (chartRight - chartLeft) / float64(max(len(s.Values), 1))
	wide := min(max(step*0.72, 1.2), 18)
	for i, v := range s.Values {
		if math.IsNaN(v) || v <= 0 {
			continue
		}
		h := max(height(v, top), 2)
		b.WriteString(`<rect class="` + s.Class + `" x="` + FormatNumber(chartLeft+step*(float64(i)+0.5)-wide/2) + `" y="` + FormatNumber(chartBottom-h) + `" width="` + FormatNumber(wide) + `" height="` + FormatNumber(h) + `"/>`)
	}
}

// pointRadius is the radius of the dot for a value between two gaps.
const pointRadius = 3.2

// curve connects neighbouring values; a value between two gaps is a dot.
func curve(b *strings.Builder, s Series, top float64) {
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
			dots.WriteString(`<circle class="` + s.Class + `" cx="` + FormatNumber(x) + `" cy="` + FormatNumber(y) + `" r="` + FormatNumber(pointRadius) + `"/>`)
		case gap(i - 1):
			d.WriteString("M" + FormatNumber(x) + " " + FormatNumber(y))
		default:
			d.WriteString("L" + FormatNumber(x) + " " + FormatNumber(y))
		}
	}
	if d.Len() > 0 {
		b.WriteString(`<path class="` + s.Class + `" d="` + d.String() + `"/>`)
	}
	b.WriteString(dots.String())
}

func FormatHighest(l *locale.Locale, values []float64, unit string) string {
	top := Figure{Series: []Series{{Values: values}}}.Highest()
	switch unit {
	case "ms":
		return l.Duration(time.Duration(top * float64(time.Millisecond)))
	case "s":
		return l.Duration(time.Duration(top * float64(time.Second)))
	}
	return l.Count(int64(top))
}

// DescribeChart describes a chart in words, which begin with the period, such as "Over the last hour."
func DescribeChart(l *locale.Locale, all []Series, period, unit string, minutesPerPoint float64) string {
	s := period
	for _, one := range all {
		top, at := 0.0, -1
		for i, v := range one.Values {
			if !math.IsNaN(v) && v > top {
				top, at = v, i
			}
		}
		if at < 0 {
			s += " " + l.Say("No %s.", one.Name)
			continue
		}
		ago := time.Duration(float64(len(one.Values)-1-at) * minutesPerPoint * float64(time.Minute))
		s += " " + l.Say("Highest %s: %s, %s.", one.Name, FormatHighest(l, one.Values, unit), l.Relative(time.Unix(0, 0).Add(ago), time.Unix(0, 0)))
	}
	return s
}
