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

// change is what may become of a refusal by a rule of the frozen copy.
type change struct {
	was string // words of the rule
	is  string // a pattern of what is said now; empty: the rule is no more, and another field may be refused
}

// Words of refusals by rules of today.
const (
	way       = `no pass does the .* by \w+: ` // a communication has another name, and a fact says why not
	hosts     = `no pass does the .* over hosts`
	place     = `and the operations leave it otherwise: |and each rank has one part of it, or all|` + oddly
	oddly     = `made in steps|in equal parts, or balanced rows|have equal parts, or balanced rows`
	operand   = `as an operand|no pass multiplies by a weight|no pass multiplies \w+ \[`
	sums      = `is spread along what is summed over|both \w and \w are spread`
	shifts    = `parts that are moved on|moves parts on by one rank`
	columns   = `no pass applies \S+ to the product \w+ of columns that come`
	gradients = `no pass (gathers columns of|makes a gradient of rows of|leaves columns of the gradient)`
	proofs    = `no proof cuts a|sums over \w+ where its parts are`
	axis      = `batches that are an axis`
	counts    = `parts where the stream axis`
	tile      = `tiles are (made|those) of|a tile has a multiple of|the kernel that makes tiles of|tiles add no`
)

// changes are the refusals that are meant to be others. The comments say why.
var changes = []change{
	// Features that are served now, of layers, of products beside products, or of functions.
	{"a kernel that waits for peers holds the device", ""}, {"come one rank's after the other", ""},
	{"heads of \\w+ are turned last", ""}, {"is not made beside", ""}, {"is spread along its first axis, and", ""},
	{"is there already", ""}, {"rows, and the chain works on", ""}, {"no pass keeps", ""},
	{"no pass gathers (columns|\\w+ twice)", ""},
	{"no pass applies", ""}, {"adds a bias, and then applies one function", ""}, {"are normed alone", ""},
	{"no pass moves", ""}, {"beside other operations", ""}, {"no pass multiplies", ""}, {"no product takes a part", ""},
	{"is of one product, and makes no", ""}, {"nothing travels from", ""}, {"have their rows on different ranks", ""},
	{"axes, and a chain's tensors have rows and columns", ""},
	{"axes, and a chain's tensors have rows and columns", `no communication leads from`},
	{"no pass takes \\w+ (fp32 )?\\[.* into a chain", ""}, {"Tiles gathers into memory of the plan", ""},
	{"no pass takes batches that are an axis through a chain", ""},
	// Ways that the table did not have for a communication, or a way whose options are read now.
	{"no pass does the .* by", ""}, {"no pass does the .* by", way + `|a Naive|leave one rank's rows after the other|` +
		tile + `|keeps the sums of|another operation`},
	// A table of placements, which named the first operand, where the edges of operations name the tensor.
	{"no communication leads from", ""},
	{"no communication leads from", place + `|` + operand + `|` + sums + `|` + gradients + `|` + proofs + `|` +
		columns + `|gathers into memory of the plan only|no communication leads from`},
	{"nothing travels from", operand},
	// Rules of one field with other words.
	{"no pass multiplies a chain by a weight", operand + `|` + place + `|both \w and \w are spread`},
	{"no pass takes .* into a chain", operand},
	{"no pass adds up \\w+ beside other operations", `no pass adds up \w+, which an operation makes`},
	{"no pass moves", `travels in parts of its columns|as it is: nothing travels|it is no matrix|` +
		`travels to \w+ in parts of its columns|no pass gives the caller \w+ twice`},
	{"is of one product, and makes no", `as it is: nothing travels`},
	{"no product takes a part", `no product takes a part of \w+ alone|of a stage leave with all rows|` +
		`all rows are multiplied at once|come in batches`},
	{"the all-gather .* applies no|along the sum of \\w+ applies no", columns},
	{"no pass applies", `no pass applies`},
	{"tiles are those of one linear", tile + `|clusters of blocks may not all run`},
	{"a kernel that waits for peers holds the device", way},
	// Rules that both have, one of which is asked earlier.
	{"and the operations leave it otherwise", place + `|` + shifts + `|does not travel|` + way + `|` + hosts + `|` +
		columns + `|` + operand + `|` + sums + `|keeps the sums of`},
	{"is spread along what is summed over", ""},
	{"parts where the stream axis", place + `|` + counts},
	{"does not travel|lowers \\w+ batches|spreads batches|of batches that are an axis", counts + `|` + axis},
	{"parts that are moved on", shifts + `|` + axis + `|` + place},
	{"is no extent here|read the expression|a part of each row of|its own rows of|all columns of", shifts},
	{"has its own rows of", place + `|makes a rank's columns of`},
	{"is in [0-9]+ batches", operand}, {"merge C into A", `names 2 axes of`},
	// Ways of the table that say for which data there is none.
	{"takes all rows at once|collectives have equal parts|shards of one size|can be padded|does not work in place",
		way},
	{"NCCL gathers into memory of the plan only", `are taken by another operation`},
	{"NCCL does the", `NCCL does the|another operation|collectives have equal parts|` + way +
		`|leave with all rows of a rank|NCCL rounds the sums`},
	{"no kernel makes these sums", `no kernel (makes these sums that could add|that takes what lands adds)`},
	{"over hosts", hosts + `|` + way + `|merge C into A|` + counts},
	{"no pass cuts balanced parts|no stage gathers what the own rows", `no kernel does a whole step|` +
		`all rows are multiplied at once`},
}

// unwritten are fields of ways that a schedule could not have when the copy was frozen: one name stood for what has one
// now, and the frozen copy does not read them. Put, of sums of what the caller has, had no products; Slots, of a
// product alone, no parts; those of layers and of sums for all ranks no kernel for a step; and packets no rows.
var unwritten = map[string]string{
	"Streams": "no product makes the terms of", "Equal": "no product makes the terms of",
	"Parts": "no stage gathers what the own rows of", "By": "no kernel does a whole step of it",
	"Rows": "no function of whole rows",
}

// ruled are refusals by rules that the frozen copy lacks, of what never ran.
var ruled = []string{"are 0 blocks at", "which has more", "stores its sums on its own rank, as they are"}

// fields are the paths of the fields that an error names, and what it says of them.
func fields(err error) (text string) {
	for _, e := range schedule.FieldErrors(err) {
		text += e.Path + ": " + e.Msg + "\n"
	}
	return text
}

// become is the refusal of a schedule, before and after.
type become struct{ was, is error }

// meant says that a change may be why.
func (b become) meant() bool {
	other := true
	for _, is := range schedule.FieldErrors(b.is) {
		for _, was := range schedule.FieldErrors(b.was) {
			other = other && is.Path != was.Path
		}
	}
	was, is := fields(b.was), fields(b.is)
	return slices.ContainsFunc(changes, func(c change) bool {
		return matches(c.was, was) && (c.is == "" && other || c.is != "" && matches(c.is, is))
	})
}

// unwritten says that a move has a field, refused now, that its way did not have when the copy was frozen.
func (b become) unwritten() bool {
	for field, words := range unwritten {
		for _, e := range schedule.FieldErrors(b.is) {
			if strings.HasSuffix(e.Path, ".Way."+field) && strings.Contains(e.Msg, words) {
				return true
			}
		}
	}
	return false
}

// patterns are those that were compiled.
var patterns = map[string]*regexp.Regexp{}

func matches(pattern, text string) bool {
	if patterns[pattern] == nil {
		patterns[pattern] = regexp.MustCompile(pattern)
	}
	return patterns[pattern].MatchString(text)
}

// lentEarlier is a difference of posts that let peers begin.
var lentEarlier = regexp.MustCompile(`(issues|behind) (main|copy): signal: (ready|free)\d*@`)

// Expected says that a schedule's verdict needs no look: it is refused as it was or by a new rule, it is lowered
// at last, or its program has a grade that one of its ways may have.
func (v Verdict) Expected() bool {
	switch {
	case v.Newly:
		return !v.Refused || (become{nil, v.Err}).unwritten() || slices.ContainsFunc(ruled, func(words string) bool {
			return strings.Contains(v.Err.Error(), words)
		})
	case v.Grade <= Moved:
		return true
	case v.Grade == Crossed && lentEarlier.MatchString(v.Why):
		return true // rows that the caller gives are lent at the start, not behind the stage before
	case v.Refused:
		return become{v.Was, v.Err}.meant()
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
