package plan

import (
	"context"
	"encoding/json"
	"slices"

	"ovgen/runtime/driver"
)

// symmetric reports whether an address lies in memory of Group.Symmetric that the plan's collectives use. NCCL assumes
// that this memory lies at the same place on all ranks, and does not check it, so a Bind of such memory is collective.
func (p *Plan) symmetric(at driver.Ptr) bool {
	_, ok := p.group.SymmetricOffset(at)
	return ok && len(p.collectives) > 0
}

// InSymmetric reports whether the plan stages in memory of Group.Symmetric.
func (p *Plan) InSymmetric() bool { return p.inWindow }

// elsewhere is the place of a buffer outside of symmetric memory.
const elsewhere = -1

// agreeOnPlaces compares the places of the buffers in the ranks' symmetric memory, for a plan with collectives. A group
// without symmetric memory needs no such step.
func (p *Plan) agreeOnPlaces(ctx context.Context, what string, to *target, wrong error) error {
	if p.group.SymmetricBytes() == 0 || len(p.collectives) == 0 {
		return nil
	}
	places := make([]int64, len(p.bindable))
	for i, f := range p.bindable {
		places[i] = elsewhere
		offset, ok := p.group.SymmetricOffset(to.memory[i].at)
		if !ok {
			continue
		}
		places[i] = offset
		if wrong == nil {
			wrong = room(to.memory[i].at, to.memory[i].at, p.group.SymmetricBytes()-offset, to.chunks.size(f, p.Rank()))
		}
	}
	mine, _ := json.Marshal(places)
	all, err := p.agree(ctx, what, mine, wrong)
	if err != nil {
		return err
	}
	values := make([]string, len(all))
	for r, b := range all {
		values[r] = string(b)
	}
	if len(slices.Compact(slices.Clone(values))) > 1 {
		return &DisagreementError{What: "places of its buffers in symmetric memory", Values: values,
			Do: "call Group.Symmetric for the same sizes in the same order on all ranks, and bind the same to each " +
				"buffer; -1 is elsewhere"}
	}
	return nil
}
