package shell

import (
	"encoding/xml"
	"math"
	"strings"
	"testing"
)

func TestChartFileLoadsNoOtherFiles(t *testing.T) {
	t.Parallel()
	text := ChartFile("Two <charts>", []Chart{
		{Title: "Nodes & databases", Desc: "They grow.", Powers: true, Marks: []ChartMark{{0, "few"}, {1, "many"}},
			Series: []ChartSeries{{"nodes", []float64{0, 1, 5}}, {"databases", []float64{0, math.NaN(), 2}}}},
		{Title: "Pending", Unit: "B", Series: []ChartSeries{{"pending", []float64{0, 12_000}}}},
	})
	if err := xml.Unmarshal([]byte(text), new(struct{})); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Two &lt;charts&gt;", "Nodes &amp; databases", ">1k<", ">1M<", ">few<", ">many<", "xmlns=", `class="s2"`, "prefers-color-scheme"} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %s in\n%s", want, text)
		}
	}
	if strings.Contains(text, "href") || strings.Contains(text, "NaN") {
		t.Error("it asks for something else, or has a number that is none")
	}
}

func TestNumbersInChartsHaveUnitPrefixes(t *testing.T) {
	t.Parallel()
	for v, want := range map[float64]string{0: "1", 2: "100", 3: "1k", 10: "10G", 20: "100E", 30: "10^30"} {
		if got := powerNumber(v); got != want {
			t.Errorf("10^%g is %s, want %s", v, got, want)
		}
	}
}
