package subst

// Flux bounds none of these; a text that gets near to one of them is an attack or a mistake. (An object in a cluster has
// at most about 1.5 MB.)
const (
	// maxDepth is how deep expressions may stand in one another. It bounds the stack.
	maxDepth = 10_000
	// maxProduced is how many bytes all expressions of a text may come to, with the arguments that are held meanwhile:
	// nested replacements multiply.
	maxProduced = 16 << 20
	// maxWork is how many bytes may be looked at or copied while expressions are worked out: patterns try every prefix of
	// a value. It takes about a second, or two at worst.
	maxWork = 1 << 28
)

// budget is what is left of maxWork for one text.
type budget struct{ left int }

func newBudget() budget { return budget{left: maxWork} }

// spend takes n from the budget. It reports false from the moment that there is not enough.
func (b *budget) spend(n int) bool {
	if n > b.left {
		b.left = 0
		return false
	}
	b.left -= n
	return b.left > 0
}
