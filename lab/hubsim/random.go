package hubsim

import "math/rand/v2"

// mix scrambles the bits of x with the finalizer of SplitMix64.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// hash combines numbers into one number. The same numbers always have the same hash.
func hash(parts ...uint64) uint64 {
	h := uint64(0x9e3779b97f4a7c15)
	for _, p := range parts {
		h = mix(h + p + 0x9e3779b97f4a7c15)
	}
	return h
}

// text returns the FNV-1a hash of a text.
func text(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return h
}

// share converts h to a number in [0, 1).
func share(h uint64) float64 { return float64(h>>11) / (1 << 53) }

// choices returns the random numbers for all decisions before a run.
func choices(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, mix(seed))) }
