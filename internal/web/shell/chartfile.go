package shell

import (
	"fmt"
	"html"
	"math"
	"strconv"
	"strings"
)

// Chart is a chart for a standalone file, drawn as on the status page.
type Chart struct {
	Title  string
	Unit   string // unit of the vertical axis
	Desc   string // text alternative
	Powers bool   // the values are exponents of ten
	Series []ChartSeries
	Marks  []ChartMark // marks on the horizontal axis
}

// ChartSeries is a list of evenly spaced values; NaN is a gap. A chart has at most two series.
type ChartSeries struct {
	Name   string
	Values []float64
}

// ChartMark is a mark on the horizontal axis; At runs from 0 to 1.
type ChartMark struct {
	At    float64
	Label string
}

// chartFileStyle has the chart rules of base.css, for light and dark.
const chartFileStyle = `svg{--ink:#1d2329;--soft:#5b6670;--line:#e3e7ea;--edge:#aab3ba;--sky:#0b6bcb;--amber:#a15c00;--paper:#fff}
@media (prefers-color-scheme:dark){svg{--ink:#e8ecef;--soft:#a3adb5;--line:#333b42;--edge:#66717a;--sky:#6cb4ff;--amber:#f0b35a;--paper:#14181c}}
.paper{fill:var(--paper)}text{font:11px system-ui,sans-serif;fill:var(--soft);font-variant-numeric:tabular-nums}.head{font-size:13px;font-weight:600;fill:var(--ink)}
.chart line{stroke:var(--line);stroke-width:1}.chart .axis{stroke:var(--edge)}path{fill:none;stroke-width:1.6;stroke-linejoin:round;stroke-linecap:round}
path.s1{stroke:var(--sky)}path.s2{stroke:var(--amber);stroke-dasharray:4 3}circle.s1{fill:var(--sky)}circle.s2{fill:var(--amber)}`

// ChartFile draws charts one below the other, in one SVG document without external files.
func ChartFile(title string, charts []Chart) string {
	const margin, head = 16.0, 44.0
	step := head + chartHeight + 10
	wide, high := chartWidth+2*margin, step*float64(len(charts))+margin
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %s %s" width="%s" height="%s" role="img" aria-labelledby="all"><title id="all">%s</title><style>%s</style><rect class="paper" width="100%%" height="100%%"/>`,
		FormatNumber(wide), FormatNumber(high), FormatNumber(2*wide), FormatNumber(2*high), html.EscapeString(title), chartFileStyle)
	for i, c := range charts {
		y := float64(i) * step
		b.WriteString(`<text class="head" x="` + FormatNumber(margin) + `" y="` + FormatNumber(y+22) + `">` + html.EscapeString(c.Title) + `</text>`)
		f := Figure{ID: "c" + strconv.Itoa(i+1), Title: c.Title, Unit: c.Unit, Desc: c.Desc, Powers: c.Powers}
		x := margin
		for j, s := range c.Series {
			class := "s" + strconv.Itoa(j+1)
			b.WriteString(`<path class="` + class + `" d="M` + FormatNumber(x) + " " + FormatNumber(y+34) + "h18" + `"/>`)
			DrawLabel(&b, "start", x+23, y+38, s.Name)
			x += 40 + 6.2*float64(len(s.Name))
			f.Series = append(f.Series, Series{Name: s.Name, Class: class, Values: s.Values})
		}
		for _, m := range c.Marks {
			f.Ticks = append(f.Ticks, Tick(m))
		}
		at := fmt.Sprintf(`<svg x="%s" y="%s" width="%s" height="%s" overflow="visible" `, FormatNumber(margin), FormatNumber(y+head), FormatNumber(chartWidth), FormatNumber(chartHeight))
		b.WriteString(strings.Replace(string(f.SVG()), "<svg ", at, 1))
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// powerNumber writes ten to the power of v with a unit prefix: "10k" for 4.
func powerNumber(v float64) string {
	units := []string{"", "k", "M", "G", "T", "P", "E"}
	i := int(math.Floor(v / 3))
	if i < 0 || i >= len(units) {
		return "10^" + strconv.FormatFloat(v, 'g', 3, 64)
	}
	return strconv.FormatFloat(math.Round(math.Pow(10, v-3*float64(i))), 'f', -1, 64) + units[i]
}
