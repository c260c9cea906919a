// Package spell guesses which name was meant by one that does not exist.
package spell

import "strings"

// Nearest gives the one candidate that a name most likely means: the same but for the case of letters, or the fewest
// letters away, and no more than limit, nor a third of the name. It is empty when there is none, or more than one as near, or
// when there are so many candidates that comparing them would take longer than the answer is worth.
func Nearest(name string, candidates []string, limit int) string {
	const most = 2000
	if len(candidates) > most {
		return ""
	}
	best, distance := "", limit+1
	for _, c := range candidates {
		if c != name && strings.EqualFold(c, name) {
			return c
		}
		switch d := Distance(name, c, limit); {
		case d < distance && d*3 <= len(name):
			best, distance = c, d
		case d == distance && c != best:
			best = ""
		}
	}
	return best
}

// Distance counts the letters to change, insert, remove, or swap with their neighbour, to get from a to b (the optimal
// string alignment). It is more than limit where it would take more, and exact below; a limit of 0 is none.
func Distance(a, b string, limit int) int {
	if limit > 0 && (len(a)-len(b) > limit || len(b)-len(a) > limit) {
		return limit + 1
	}
	var older []int
	prev := make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur := make([]int, len(b)+1)
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], older[j-2]+1)
			}
		}
		older, prev = prev, cur
	}
	return prev[len(b)]
}
