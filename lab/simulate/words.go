package simulate

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// amount formats a number with three significant digits, for example 1.05 billion, 12.3 million,
// 4,800 or 0.25.
func amount(v float64) string {
	a := math.Abs(v)
	switch {
	case math.IsInf(v, 0) || math.IsNaN(v):
		return "–"
	case a >= 999.5e9:
		return digits(v/1e12) + " trillion"
	case a >= 999.5e6:
		return digits(v/1e9) + " billion"
	case a >= 999.5e3:
		return digits(v/1e6) + " million"
	case a >= 1000:
		unit := math.Pow(10, math.Floor(math.Log10(a))-2)
		return thousands(int(math.Round(v/unit) * unit))
	}
	return digits(v)
}

func digits(v float64) string {
	a := math.Abs(v)
	switch {
	case v == math.Trunc(v) || a >= 99.95:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case a >= 9.995:
		return strconv.FormatFloat(v, 'f', 1, 64)
	case a >= 0.0995:
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
	return strconv.FormatFloat(v, 'g', 2, 64)
}

func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func bytesOf(v float64) string {
	for _, u := range []struct {
		unit string
		n    float64
	}{{"PiB", 1 << 50}, {"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}} {
		if v >= 0.9995*u.n {
			return digits(v/u.n) + " " + u.unit
		}
	}
	return digits(math.Round(v)) + " B"
}

func bitsOf(v float64) string {
	for _, u := range []struct {
		unit string
		n    float64
	}{{"Tbit/s", 1e12}, {"Gbit/s", 1e9}, {"Mbit/s", 1e6}, {"kbit/s", 1e3}} {
		if v >= 0.9995*u.n {
			return digits(v/u.n) + " " + u.unit
		}
	}
	return digits(v) + " bit/s"
}

func quantity(v float64, unit string) string {
	switch unit {
	case "B":
		return bytesOf(v)
	case "bit/s":
		return bitsOf(v)
	case "":
		return amount(v)
	}
	return amount(v) + " " + unit
}

func percent(share float64) string {
	p := share * 100
	if p > 0 && p < 0.5 {
		return "<1 %"
	}
	return strconv.FormatFloat(p, 'f', 0, 64) + " %"
}

func multiple(v float64) string {
	if math.IsInf(v, 1) {
		return "never"
	}
	return "×" + amount(v)
}

func seconds(v float64) string {
	switch {
	case math.IsInf(v, 1):
		return "not in the simulated time"
	case v >= 7200:
		return digits(v/3600) + " h"
	case v >= 120:
		return digits(v/60) + " min"
	case v >= 1 || v == 0:
		return digits(v) + " s"
	}
	return digits(v*1000) + " ms"
}

func some(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return thousands(n) + " " + many
}

// ParseRate parses a number of bits per second with an optional unit, for example 10Gbit, 400Mbit
// or 1e9. The rate must be greater than 0. A trailing "/s" is optional.
func ParseRate(text string) (float64, error) {
	units := map[string]float64{"": 1, "bit": 1, "kbit": 1e3, "mbit": 1e6, "gbit": 1e9, "tbit": 1e12}
	trimmed := strings.TrimSpace(strings.TrimSuffix(text, "/s"))
	number := strings.TrimRight(trimmed, "bBiIkKmMgGtTpP")
	unit, known := units[strings.ToLower(trimmed[len(number):])]
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil || !known || !(v > 0) || math.IsInf(v, 0) {
		return 0, fmt.Errorf("%q is not a rate such as 10Gbit", text)
	}
	return v * unit, nil
}
