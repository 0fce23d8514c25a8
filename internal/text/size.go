package text

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// sizeUnits are the accepted units of a size; the binary units come first, the largest first,
// because FormatSize uses the first unit that divides a size.
var sizeUnits = []struct {
	name  string
	bytes int64
}{
	{"PiB", 1 << 50}, {"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10},
	{"PB", 1e15}, {"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}, {"B", 1},
}

// ParseSize parses a number of bytes with an optional unit: 1500, 64MiB, 1.5GiB, 10 MB.
// The units are B, kB, MB, GB, TB, PB (powers of 1000) and KiB, MiB, GiB, TiB, PiB (powers
// of 1024), in any case of letters.
func ParseSize(s string) (int64, error) {
	fail := fmt.Errorf("%q is not a size such as 500kB, 64MiB or 1.5GiB", s)
	number, unit := strings.TrimSpace(s), int64(1)
	for _, u := range sizeUnits {
		if len(number) > len(u.name) && strings.EqualFold(number[len(number)-len(u.name):], u.name) {
			number, unit = strings.TrimSpace(number[:len(number)-len(u.name)]), u.bytes
			break
		}
	}
	if number == "" || strings.Trim(number, "0123456789.") != "" {
		return 0, fail
	}
	if n, err := strconv.ParseInt(number, 10, 64); err == nil && n <= math.MaxInt64/unit {
		return n * unit, nil
	}
	f, err := strconv.ParseFloat(number, 64)
	if err != nil || f*float64(unit) >= 1<<62 {
		return 0, fail
	}
	return int64(math.Round(f * float64(unit))), nil
}

// SizeWords prints a number of bytes for people, in the largest binary unit that fits it: 20 MiB,
// 1.5 GiB, 812 bytes.
func SizeWords(bytes int64) string {
	for _, u := range sizeUnits {
		if strings.HasSuffix(u.name, "iB") && bytes >= u.bytes {
			return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(bytes)/float64(u.bytes)), ".0") + " " + u.name
		}
	}
	return Plural(int(bytes), "byte")
}

// FormatSize prints a number of bytes in the largest binary unit that divides it: 64MiB, 1500B. 0
// has no unit. ParseSize reads the result back exactly.
func FormatSize(bytes int64) string {
	if bytes == 0 {
		return "0"
	}
	for _, u := range sizeUnits {
		if strings.HasSuffix(u.name, "iB") && bytes%u.bytes == 0 {
			return strconv.FormatInt(bytes/u.bytes, 10) + u.name
		}
	}
	return strconv.FormatInt(bytes, 10) + "B"
}
