package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"ovgen/runtime/plan"
	"ovgen/runtime/samebits"
	"ovgen/verify/harness"
)

// had are those of some programs that the ranks' devices let New make, and for each other one the reason: tiles of an
// Invariant schedule whose bits are not the library's. All ranks find the same.
func (r *rank) had(ctx context.Context, programs []*harness.Program, s harness.Shape) (list []*harness.Program,
	out []failure, err error) {
	for _, p := range programs {
		why, err := r.differs(ctx, p, s)
		switch {
		case err != nil:
			return nil, nil, err
		case why != "":
			out = append(out, failure{p.Name, why})
		default:
			list = append(list, p)
		}
	}
	return list, out, nil
}

// answer is what a rank tells of a New that failed on all ranks.
type answer struct {
	Differs string // the rank's own bits are not the library's
	Other   bool   // the rank has failed otherwise itself
}

// differs says which rank's tiles keep New from an Invariant program, and why: nothing where it makes the plan. Only
// that rank has the typed error. Any other failure is an error.
func (r *rank) differs(ctx context.Context, p *harness.Program, s harness.Shape) (string, error) {
	if !p.Schedule.Invariant || !p.Tiled() {
		return "", nil
	}
	made, failed := p.New(ctx, r.Group, s)
	if failed == nil {
		return "", r.ClosePlan(ctx, made)
	}
	var own answer
	differs, of := new(samebits.DifferError), new(plan.RankError)
	if errors.As(failed, &differs) {
		own.Differs = failed.Error()
	} else {
		own.Other = !errors.As(failed, &of)
	}
	mine, err := json.Marshal(own)
	if err != nil {
		return "", err
	}
	blobs, err := r.Gather(ctx, "tell why a plan is not made", mine)
	if err != nil {
		return "", errors.Join(failed, err)
	}
	all := make([]answer, len(blobs))
	for i, b := range blobs {
		if err := json.Unmarshal(b, &all[i]); err != nil {
			return "", errors.Join(failed, err)
		}
	}
	first := slices.IndexFunc(all, func(a answer) bool { return a.Differs != "" })
	if first < 0 || slices.ContainsFunc(all, func(a answer) bool { return a.Other }) {
		return "", failed
	}
	return fmt.Sprintf("rank %d: %s", first, all[first].Differs), nil
}
