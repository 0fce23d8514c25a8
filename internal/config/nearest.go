package config

// Nearest returns the candidate with the fewest edits from name. An edit adds, removes or changes a
// letter, or swaps two neighbours. Nearest returns "" if no candidate is similar enough.
func Nearest(name string, candidates []string) string {
	best, fewest := "", max(2, len(name)/2)+1
	for _, c := range candidates {
		if d := distance(name, c); d < fewest {
			best, fewest = c, d
		}
	}
	return best
}

// distance returns the Levenshtein distance in bytes. A swap of two neighbours counts as one edit.
func distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
