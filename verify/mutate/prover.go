package mutate

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"ovgen/verify/ops"
	"ovgen/verify/prove"
)

// Prove is the prover's opinion. A case that it proves only for programs that are
// never replayed has lost something that the right program has, and counts as refused.
func Prove(c Case) (Opinion, error) {
	m, err := prove.Of(c.Program, c.Shape)
	if err != nil {
		return Opinion{}, err
	}
	m.Semaphores = used(m.Semaphores, c.Lists)
	size, err := prove.Lists(context.Background(), m, c.Lists, 0)
	var refused *prove.Counterexample
	var form *ops.FormError
	switch {
	case errors.As(err, &refused):
	case errors.As(err, &form):
		return Opinion{Text: "well formed: " + form.Problem}, nil
	case err != nil:
		return Opinion{}, err
	case size.Captured == nil:
		return Opinion{Safe: true}, nil
	default:
		refused = size.Captured
	}
	return Opinion{Text: fmt.Sprintf("%s: %s", refused.Property, refused.Problem)}, nil
}

// used are the semaphores that lists have words of: that a mutant leaves one out
// altogether is no reason to refuse it.
func used(semaphores []string, lists [][]ops.Op) []string {
	seen := map[string]bool{}
	for _, list := range lists {
		for _, o := range list {
			for _, w := range o.Words {
				seen[w.At.Buffer] = true
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(semaphores), func(s string) bool { return !seen[s] })
}
