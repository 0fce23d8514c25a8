package text

import "testing"

func TestSizesForPeopleHaveTheLargestUnitThatFits(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{0: "0 bytes", 1: "1 byte", 1023: "1023 bytes", 1024: "1 KiB", 1536: "1.5 KiB", 20 << 20: "20 MiB", 20<<20 + 1: "20 MiB", 3 << 29: "1.5 GiB"} {
		if got := SizeWords(n); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
}

func TestSizesAreParsedWithUnits(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]int64{"0": 0, "1500": 1500, "1500B": 1500, "64MiB": 64 << 20, "64 mib": 64 << 20, "1.5GiB": 3 << 29, "10MB": 10_000_000, "2kB": 2000, "1TiB": 1 << 40, "2PB": 2e15,
		"8TB": 8e12, "64iGB": -1, "1 XiB": -1, "": -1, "MiB": -1, "-1": -1, "1e3": -1, "1.2.3": -1, "5 parsecs": -1, "9999999999999TiB": -1, "NaN": -1, "0x10": -1, "99999999999999999999": -1} {
		got, err := ParseSize(s)
		if err != nil {
			got = -1
		}
		if got != want {
			t.Errorf("ParseSize(%q) = %d, %v, want %d", s, got, err, want)
		}
		if again, err := ParseSize(FormatSize(got)); got >= 0 && (err != nil || again != got) {
			t.Errorf("%d is printed as %s and parsed as %d, %v", got, FormatSize(got), again, err)
		}
	}
}
