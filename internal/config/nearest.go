package config

// Nearest is the candidate that is least edits (letters added, removed, changed,
// or neighbours swapped) away from name; "" when none is near enough to be meant.
func Nearest(name string, candidates []string) string {
	best, least := "", max(2, len(name)/2)+1
	for _, c := range candidates {
		if d := distance(name, c); d < least {
			best, least = c, d
		}
	}
	return best
}

// distance is the Levenshtein distance with swaps of neighbours, over bytes.
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
