package mutate

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"ovgen/verify/ops"
	"ovgen/verify/prove"
)

// Prove is the prover's opinion. If it can prove a case only as a program without replay, and the right program has
// replay, the case counts as refused.
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

// used are the semaphores whose words lists use. A mutant is not refused because it leaves a semaphore out completely.
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
