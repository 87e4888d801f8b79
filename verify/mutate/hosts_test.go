package mutate_test

import (
	"errors"
	"regexp"
	"slices"
	"testing"

	"ovgen/schedule"
	"ovgen/schedule/catalog"
	"ovgen/schedule/scheduletest"
	"ovgen/verify/explore"
	"ovgen/verify/mutate"
	"ovgen/verify/ops"
	"ovgen/verify/sampling"
)

// inParts is a sum over hosts in two parts, inBatches an MLP whose rows come and leave in batches, and inBalance a
// gather of balanced rows.
const (
	inParts   = "sums in parts"
	inBatches = "an MLP in batches"
	inBalance = "balanced rows"
)

// mistakes of programs over hosts. Each is a mutant of a schedule, on three hosts of one rank or on two of two.
var mistakes = []struct{ mistake, schedule, mutant string }{
	{"exchange not grouped", "AllGatherLinearHosts", "not grouped all exchanges"},
	{"exchange not grouped", "LinearReduceScatterHosts", "not grouped all exchanges"},
	{"peer off by one, to get from", "AllGatherLinearHosts",
		"exchange with another " + exchange + " gets from the rank of the next host"},
	{"peer off by one, both", "AllGatherLinearHosts",
		"exchange with another " + exchange + " both with the ranks of the next host"},
	{"rail of the wrong number", "AllGatherLinearHosts",
		"exchange with another " + exchange + " sends to the rank of the next rail"},
	{"another count to send", "AllGatherLinearHosts", "halve a count on rank 1 of 3: nccl: read A@1+0 72B"},
	{"another count to get", "AllGatherLinearHosts", "halve a count on rank 1 of 3: nccl: write Agathered@1+144 72B"},
	{"another count to get", inParts, "halve a count on rank 1 of 3: nccl: write others@1+120 24B"},
	{"a wait comes ahead of what others need", "AllGatherLinearHosts", "drop copy: Synchronize(relay[1..H-1])"},
	{"a wait comes ahead of what others need", "LinearReduceScatterHosts", "drop nccl: Synchronize(put)"},
	{"a wait comes ahead of what others need", inParts, "drop nccl: Synchronize(put)"},
	{"two exchanges swapped on one rank", "AllGatherLinearHosts", "swap collectives on rank 1 of 3: " + gathering +
		" with nccl: collective exchange to 0 from 2: read A@1+0 72B, write Agathered@1+144 72B"},
	{"two exchanges swapped on one rank", inParts, "swap collectives on rank 1 of 3: " +
		"nccl: collective exchange to 2 from 0: read sums@1+96 24B, write others@1+0 24B with " +
		"nccl: collective exchange to 2 from 0: read sums@1+120 24B, write others@1+24 24B"},
	{"what is sent is written before the end", "LinearReduceScatterHosts",
		"write what is sent on rank 1 of 3: " + summing},
	{"passed is posted ahead of the exchange", "AllGatherLinearHosts",
		"move nccl: Post passed[phase] -> every peer from place 4 to 5"},
	{"passed is posted ahead of the exchange", "AllGatherLinearHosts", "move " + exchange + " from place 3 to 4"},
	{"a slot is used for two hosts' sums", inParts, "reuse a buffer early one slice of slots for all steps"},
	{"no wait for the exchange", "AllGatherLinearHosts", "drop relay[phase]: Synchronize(nccl)"},
	{"no wait for a copy", "AllGatherLinearHosts", "drop work[phase*L]: Synchronize(relay[phase])"},
	{"no wait for the peers' exchanges", "AllGatherLinearHosts", "drop the acknowledgement passed"},
	{"no wait for the peers' parts", "LinearReduceScatterHosts", "drop nccl: Wait arrived[phase] <- every peer"},
	{"no wait for the peers' parts", inParts, "drop nccl: Wait arrived[2*phase + j] <- every peer"},
	{"no wait for the own part", "LinearReduceScatterHosts", "drop nccl: Synchronize(work[phase*L])"},
	{"no wait for the own part", inParts, "drop nccl: Synchronize(work[((phase - 1)*2 + j + 1)*L])"},
	{"no wait for free slots", "LinearReduceScatterHosts", "drop put: Wait free[every peer]"},
	{"no wait for free slots", inParts, "drop put: Wait free[every peer]"},
	{"as many bytes are got as are sent", inBalance,
		"get as much as is sent on rank 1 of 3: nccl: write Agathered@1+0 108B"},
	{"another batch is sent", inBatches, "shift an index " + ofBatch + " source chunk (s + 1) % D"},
	{"a batch comes to another's place", inBatches, "shift an index " + ofBatch +
		" destination chunk (s*D + from + 1) % D"},
	{"another batch is posted", inBatches,
		"shift an index nccl: Post Apassed[2*phase + s] -> every peer member (2*phase + s + 1) % (2*H)"},
	{"no wait for the exchange of a batch", inBatches, "drop relay[2*phase + s]: Synchronize(nccl)"},
	{"a sum beside the exchanges", inParts,
		"other stream nccl: Reduce(sums[2*host + j], slots[(host*L + q)*2 + j], q = 0..L-1) on put"},
}

// The exchange of an all-gather, in the program, where it has batches, and as rank 1 of 3 first makes it, and rank 1's
// of a sum.
const (
	ofBatch   = "nccl: nccl{Exchange(Agathered[s*D + from], A[s], to to, from from)}"
	exchange  = "nccl: nccl{Exchange(Agathered[from], A, to to, from from)}"
	gathering = "nccl: collective exchange to 2 from 0: read A@1+0 72B, write Agathered@1+0 72B"
	summing   = "nccl: collective exchange to 2 from 0: read sums@1+48 24B, write others@1+0 24B"
)

// Mistakes of programs over hosts are caught; where OVGEN_SOAK is set, all mutants are judged.
func TestHosts(t *testing.T) {
	all := append(catalog.All(), catalog.Named{Name: inParts,
		Schedule: scheduletest.By(catalog.LinearReduceScatterHosts, "C", schedule.Rails{Parts: 2})},
		catalog.Named{Name: inBalance, Schedule: overHosts(catalog.AllGatherLinearBalanced)},
		catalog.Named{Name: inBatches, Schedule: overHosts(catalog.TensorParallelMLPBatches)})
	if sampling.All() {
		all = append(all, catalog.Named{Name: "an MLP", Schedule: overHosts(catalog.TensorParallelMLP)})
	}
	found := map[string]bool{}
	for _, name := range []string{"AllGatherLinearHosts", "LinearReduceScatterHosts", inParts, inBalance,
		inBatches, "an MLP"} {
		i := slices.IndexFunc(all, func(n catalog.Named) bool { return n.Name == name })
		if i < 0 {
			continue
		}
		for _, m := range mutants(t, name, all[i].Schedule) {
			text := m.Kind + " " + m.Text
			known := false
			for _, x := range mistakes {
				known = known || x.schedule == name && x.mutant == text
			}
			if !known && !sampling.All() {
				continue
			}
			j, err := mutate.Judge(m, mutate.Prove)
			if err != nil || j.Class == mutate.Survivor || known && j.Class != mutate.Caught {
				t.Errorf("%s is %s: %v %v", m.Name(), j.Class, j.Why[:1], err)
			}
			found[name+text] = true
		}
	}
	for _, x := range mistakes {
		if !found[x.schedule+x.mutant] {
			t.Errorf("%s: %s has no mutant %s", x.mistake, x.schedule, x.mutant)
		}
	}
}

func overHosts(s schedule.Schedule) schedule.Schedule {
	s.Mesh = schedule.Hosts()
	return s
}

// In an MLP over hosts the acknowledgement of what a rank copies from a peer says nothing new: the rank multiplies it,
// and that peer's run ends behind the sums of it. So mutants that acknowledge too soon are safe, and both checkers
// find them so.
func TestRedundant(t *testing.T) {
	sampling.Test(t, 1, 3)
	late := regexp.MustCompile(`^(drop|move): copy: Synchronize\(relay\[1\.\.H-1\]\)( from place 21 to ([2-5]|22))?$|` +
		`^move: copy: Post read -> every peer from place 22 to (9|1\d|20)$`)
	throughSums := regexp.MustCompile("rank 0 copy to Agathered@0[+]288 -> .*product to H.*copy to Cslots@1.*" +
		"rank 1 wait Carrived.*sum to C@1[+]0.*done$")
	found := 0
	for _, m := range mutants(t, "an MLP", overHosts(catalog.TensorParallelMLP)) {
		if !late.MatchString(m.Kind + ": " + m.Text) {
			continue
		}
		found++
		for _, c := range m.Cases {
			proved, err := mutate.Prove(c)
			explored, err2 := mutate.Explore(c)
			if err := errors.Join(err, err2); err != nil || !proved.Safe || !explored.Safe {
				t.Errorf("%s on %d ranks: prover: %s; explorer: %s; %v", m.Name(), c.Shape.Ranks, proved, explored, err)
			}
		}
		if m.Kind == "drop" {
			c := m.Cases[len(m.Cases)-1]
			if why := ordered(t, c, c.Right).StillOrdered(ordered(t, c, c.Lists)); !slices.ContainsFunc(why,
				throughSums.MatchString) {
				t.Errorf("%s: the sums do not order what it concerns, but %d others do", m.Name(), len(why))
			}
		}
	}
	if found != 16 {
		t.Errorf("there are %d such mutants", found)
	}
}

// ordered is the order of a case's steps, eager.
func ordered(t *testing.T, c mutate.Case, lists [][]ops.Op) *explore.Order {
	t.Helper()
	sys, err := explore.Of(c.Program, c.Shape, lists, explore.Eager, explore.Eager)
	if err != nil {
		t.Fatal(err)
	}
	o, _ := explore.Ordered(sys)
	return o
}
