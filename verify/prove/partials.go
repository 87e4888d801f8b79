package prove

import (
	"fmt"
	"slices"

	"ovgen/schedule"
)

// ofRank is the product of one rank's part of the summed axis: the rank that the result's first letter is bound to.
func (x *expectation) ofRank(op schedule.Op, in [][]rune, summed rune, rank int,
	bound map[rune]interval) (expr, error) {
	parts, partial, err := x.parts(op, in, summed, rank)
	at := bound['d']
	if err == nil && (!partial || at.len() != 1 || at.lo >= int64(len(parts))) {
		err = fmt.Errorf("%s of ranks %v is not the summand of one", op.Out, at)
	}
	if err != nil {
		return stale, err
	}
	p := parts[at.lo]
	bound[summed] = p.interval
	return x.term(op, in, p.rank, bound, false)
}

// joined adds an operation's partial result on each rank to the partial result of its terms on the same rank.
func (x *expectation) joined(op schedule.Op, rank int, part box, list []expr) ([]expr, error) {
	var before []expr
	for _, t := range x.Schedule.Terms(op) {
		in, out, err := x.axes(t)
		if err != nil {
			return nil, err
		}
		bound := map[rune]interval{}
		for i, l := range out {
			bound[l] = part[i]
		}
		summed := slices.IndexFunc(in[0], func(l rune) bool { return !slices.Contains(out, l) })
		terms, _, err := x.products(t, in, in[0][summed], rank, bound)
		if err != nil {
			return nil, err
		}
		before = x.addEach(before, terms)
	}
	return x.addEach(before, list), nil
}

// addEach adds each rank's partial result to the rank's sum so far, if there is one.
func (e *expressions) addEach(sums, list []expr) []expr {
	for i := range sums {
		list[i] = e.add(sums[i], list[i])
	}
	return list
}
