package mutate

import (
	"context"
	"errors"
	"fmt"

	"ovgen/verify/ops"
	"ovgen/verify/prove"
)

// Prove is the prover's opinion. A case that it proves only for programs that are
// never replayed has lost something that the right program has, and counts as refused.
func Prove(c Case) (Opinion, error) {
	s := c.Shape
	m, err := prove.Of(c.Program, ops.Case{Ranks: s.Ranks, M: s.M, K: s.K, N: s.N, ElementSize: s.ElementSize})
	if err != nil {
		return Opinion{}, err
	}
	size, err := prove.Lists(context.Background(), m, c.Lists, 2)
	var refused *prove.Counterexample
	switch {
	case errors.As(err, &refused):
	case err != nil:
		return Opinion{}, err
	case size.Captured == nil:
		return Opinion{Safe: true}, nil
	default:
		refused = size.Captured
	}
	return Opinion{Text: fmt.Sprintf("%s: %s", refused.Property, refused.Problem)}, nil
}
