package same

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"ovgen/schedule"
)

// expectation is a grade that programs with a way may have beside same and moved.
type expectation struct {
	Way   string
	Grade Grade
	Of    string       // a schedule of the catalogue that has it
	By    schedule.Way // of its A, if it is not its own
	Why   string
}

// expectations are the differences that are meant: the programs are proven and explored all the same.
var expectations = []expectation{
	{Way: "Pull", Grade: Looser, Of: "AllGatherLinear",
		Why: "the own product does not wait for the post that the own shard may be read: " +
			"the stream of copies posts it"},
	{Way: "Push", Grade: Looser, Of: "AllGatherLinearPut",
		Why: "nor for the post that the memory here may be written"},
	{Way: "Ring", Grade: Looser, Of: "AllGatherLinear", By: schedule.Ring{}, Why: "as by Pull"},
	{Way: "PushRing", Grade: Looser, Of: "AllGatherLinearRingPut", Why: "as by Push"},
	{Way: "Broadcast", Grade: Looser, Of: "AllGatherLinearBroadcast", Why: "as by Push"},
	{Way: "Grouped", Grade: Looser, Of: "AllGatherLinearGrouped", Why: "as by Pull"},
	{Way: "Naive", Grade: Looser, Of: "AllGatherLinearStartInLoop", Why: "as by Pull"},
	{Way: "Collective", Grade: Looser, Of: "AllGatherLinearCollective8", By: schedule.Collective{},
		Why: "peers may overwrite what has been read before it is multiplied"},
	{Way: "Rails", Grade: Looser, Of: "AllGatherLinearHosts", Why: "as by Pull"},
}

// lifted are parts of refusals that are no more: of what had one, another field may be refused.
var lifted = []string{
	"a kernel that waits for peers holds the device", // proven for D = 1..6 and 8, and explored for 2 and 3
	"come one rank's after the other",                // likewise
	"beside A, which Ops[0] multiplies",              // likewise
	"no pass does the all-gather in a chain of",      // likewise
	"rows, and the chain works on",                   // likewise
	"until here", "twice (make",                      // values that a chain keeps: proven to 8, and explored for 2
	"no kernel makes these sums that could add",  // the first function is named that no kernel applies
	"Way.Parts: NCCL does the",                   // one part is none
	"by Pull",                                    // a chain pulls: the refusal is of an option
	"by Stores",                                  // a chain has them: the refusal is of an option
	"by Tiles",                                   // likewise, or of a function
	"tiles are those of one linear",              // chains have several: what is no linear is refused
	"Tiles gathers into memory of the plan",      // the caller's will do: the refusal is of an option
	"all-gather of a weight of",                  // chains have them: a way of theirs is refused
	"nothing travels",                            // a plan on one stream, proven to 8, and explored for 2 and 3
	"takes all rows",                             // a move of what does not travel is named first
	"as a matmul",                                // chains multiply by [K, N]: functions behind are refused
	"by a chain of operations", "beside another", // moves and gradients are stages beside others
	"beside other operations", "beside products of",
	"to the sum", "behind a norm", // functions that neither products nor sums take have a kernel
	"on different ranks",                      // a result is blamed whose placement is written
	"otherwise, beside",                       // a refused operand of a function names the operation
	"no pass does the all-gather of a weight", // weights come whole before products of a chain: its ways are fewer
	"no communication leads from",             // single products were placed by a table of their own
	"by them: no pass gathers columns",        // likewise
	"is of one product, and makes no",         // likewise
	"along the sum of A applies no",           // likewise
	"to what leaves the",                      // likewise
	"no pass multiplies a chain by",           // a single product is one
	"into a chain",                            // likewise
	"no pass does the",                        // an edge and its data have one name, and a fact says why not
	"no product takes a part of it",           // an option of Pull, where the frozen copy has Get
	"leave it otherwise",                      // the operation is named
	"no kernel does a whole step",             // what travels beside it is named
	"more follows its products",               // likewise
	"takes all rows at once",                  // a way of rows of batches is refused by the table
	"is spread unevenly",                      // the tensor is named
	"nothing travels, between hosts",          // the operation is named
	"of parts that are moved on",              // the shift is named, of chains as of single products
}

// refusals are words of refusals by rules that the frozen copy lacks.
var refusals = []string{"are 0 blocks at",
	"no product makes the terms", // of a sum of the caller's: Put, which Slots is, had no options of products
	"Parts: no stage gathers",    // an option of Slots since it has one name: the frozen copy does not read it
}

// lentEarlier is a difference of posts that let peers begin.
var lentEarlier = regexp.MustCompile(`issues (main|copy): signal: (ready|free)\d*@`)

// Expected says that a schedule's verdict needs no look: it is refused as it was or by a new rule, it is lowered
// at last, or its program has a grade that one of its ways may have.
func (v Verdict) Expected() bool {
	switch {
	case v.Newly:
		return !v.Refused || slices.ContainsFunc(refusals, func(words string) bool {
			return strings.Contains(v.Err.Error(), words)
		})
	case v.Grade <= Moved:
		return true
	case v.Grade == Crossed && lentEarlier.MatchString(v.Why):
		return true // rows that the caller gives are lent at the start, not behind the stage before
	case v.Refused:
		return slices.ContainsFunc(lifted, func(part string) bool { return strings.Contains(v.Why, part) })
	}
	return slices.ContainsFunc(expectations, func(e expectation) bool {
		return e.Grade == v.Grade && slices.Contains(v.Ways, e.Way)
	})
}

// Stale names the expectations that no schedule of the catalogue bears out, each with what becomes of its own.
func Stale(of func(name string) schedule.Schedule, ranks ...int) (list []string) {
	for _, e := range expectations {
		s := of(e.Of)
		if e.By != nil {
			s.Moves = []schedule.Move{{Of: "A", Way: e.By}}
		}
		v, err := Lower(s, ranks...)
		if err != nil || v.Grade != e.Grade || !slices.Contains(v.Ways, e.Way) {
			list = append(list, fmt.Sprintf("%s by %s is %s, %v", e.Of, e.Way, v.Grade, err))
		}
	}
	return list
}
