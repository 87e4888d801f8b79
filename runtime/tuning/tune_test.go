package tuning

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"ovgen/runtime/driver"
	"ovgen/runtime/fabric"
	"ovgen/runtime/fewrows"
	"ovgen/runtime/group"
	"ovgen/runtime/plan"
	"ovgen/verify/sim"
	"ovgen/verify/simtest"
)

// asked is a shape as a choice is asked for it.
type asked struct{}

func (asked) String() string { return "M 8" }

var errMade = errors.New("made")

// small is a device of too few multiprocessors for kernels whose blocks signal.
type small struct{ driver.Driver }

func (s *small) Properties() driver.Properties {
	p := s.Driver.Properties()
	p.Multiprocessors = plan.MostBlocks - 1
	return p
}

// A choice passes over schedules whose kernels the device does not run, also where one was measured as the fastest.
func TestTunedByDevice(t *testing.T) {
	candidate := func(name string, k driver.Kernel) Candidate[asked, int] {
		return Candidate[asked, int]{
			Program: &plan.Program{Name: name, Code: &driver.Code{Name: name, Kernels: []driver.Kernel{k}}},
			Check:   func(asked, int) error { return nil },
			Memory:  func(asked, int) (plan.Memory, error) { return plan.Memory{Words: 1}, nil },
			New: func(context.Context, *group.Group, asked) (plan.Runner, func(context.Context, int) error, error) {
				return nil, nil, fmt.Errorf("%w %s", errMade, name)
			},
		}
	}
	list := []Candidate[asked, int]{candidate("tiles", driver.Kernel{Name: "tiles", Only: 100}),
		candidate("shot", driver.Kernel{Name: "shot", Multiprocessors: plan.MostBlocks}),
		candidate("copies", driver.Kernel{Name: "copies"})}
	for _, c := range []struct {
		few  bool // multiprocessors
		want string
	}{
		{false, "made shot"},
		{true, "made copies"},
	} {
		config := simtest.Config{Config: sim.Config{Devices: 2}, Change: func(g *group.Config) {
			if c.few {
				g.Driver = &small{g.Driver}
			}
		}}
		synctest.Test(t, func(t *testing.T) {
			err := simtest.Run(t.Context(), config, func(ctx context.Context, g *group.Group) error {
				measured := &Table{}
				measured.Put(Measured{Operation: "tiles", GPU: g.Driver().Properties().Name, Ranks: 2, Shape: "M 8",
					Program: "tiles", Milliseconds: 1})
				_, err := Tune(ctx, g, measured, asked{}, list)
				why := "tiles does not serve: kernel tiles of tiles runs on GPUs of compute capability 10.0"
				if !errors.Is(err, errMade) || !strings.HasPrefix(err.Error(), c.want) ||
					!strings.Contains(err.Error(), why) {
					t.Errorf("rank %d: %v, want %s", g.Rank(), err, c.want)
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// tuned finds what `run tune` prints of a shape: the operation, the shape, the fastest program, its mode and its time.
var tuned = regexp.MustCompile(`(?m)^(\w+) +(M .*?)  +(\w+) +(replayed|eager) +([\d.]+)  `)

// The measurements of products of few rows are those that a file has as printed. Older ones are of many runs, of which
// programs of bench/ printed some.
func TestOwnAsPrinted(t *testing.T) {
	text, err := os.ReadFile("../../docs/results/2026-11-30-tune-few-2.txt")
	if err != nil {
		t.Fatal(err)
	}
	own, err := ownTuning()
	if err != nil {
		t.Fatal(err)
	}
	printed := tuned.FindAllStringSubmatch(string(text), -1)
	if len(printed) != 24 {
		t.Errorf("%d shapes were tuned", len(printed))
	}
	for _, x := range printed {
		key := Measured{Operation: x[1], GPU: "NVIDIA H200", Ranks: 2, Shape: x[2]}
		i := slices.IndexFunc(own.Entries, key.same)
		if i < 0 {
			t.Errorf("%s at %s is not in h200.json", x[1], x[2])
			continue
		}
		m := own.Entries[i]
		mode := map[bool]string{true: "replayed", false: "eager"}[m.Replayed]
		if ms := fmt.Sprintf("%.4f", m.Milliseconds); m.Program != x[3] || mode != x[4] || ms != x[5] {
			t.Errorf("%s at %s: h200.json has %s, %s, %s; printed is %s, %s, %s", x[1], x[2], m.Program, mode, ms, x[3],
				x[4], x[5])
		}
	}
}

// of are options that serve, by names of programs.
func of(names ...string) (list []option) {
	for _, name := range names {
		list = append(list, option{Program: &plan.Program{Name: name}, serves: func() error { return nil },
			nccl: func() bool { return false }})
	}
	return list
}

// owned are norms behind sums of so many bytes, with their owners' way.
func owned(bytes int64) []option {
	list := of("allreducenorm", "allreducenormapart", "allreducenormtwoshot")
	for i, sum := range []Sum{{By: Packets}, {By: Packets, Behind: 1}, {By: TwoShotPackets, More: 1}} {
		list[i].sum, list[i].bytes = sum, bytes
	}
	return list
}

// ofFewRows are options by the kernels of few rows, which start early in the first, and by the library.
func ofFewRows() []option {
	list := of("linearallreducefewrowsahead", "linearallreduce", "linearallreduceoneshot", "linearallreducepackets",
		"linearallreducefewrows")
	for i, kernels := range map[int]fewrows.Family{0: fewrows.Kernels.Early(), 4: fewrows.Kernels} {
		list[i].Code = &driver.Code{Kernels: kernels.Code([]driver.Type{driver.BF16})}
	}
	return list
}

// Without a tuning of its own a program goes by measurements on H200s and H100s, of the schedules that it has.
func TestTunedByOwn(t *testing.T) {
	own, err := ownTuning()
	if err != nil {
		t.Fatal(err)
	}
	two := Measured{GPU: "NVIDIA H200", Ranks: 2}
	four := Measured{GPU: "NVIDIA H100 80GB HBM3", Ranks: 4}
	all, qkv := of("allgatherlinear", "allgatherlineartiles", "allgatherlinearpackets", "allgatherlinearput"),
		of("allgatherqkv", "allgatherqkvpackets")
	sums := of("allreduceoneshot", "allreducepackets", "allreducetwoshotpackets")
	norms := of("allreducenorm", "allreducenormapart")
	few := ofFewRows()
	const by = ": measured on 2 of NVIDIA H200"
	const byFour = ": measured on 4 of NVIDIA H100 80GB HBM3"
	for _, c := range []struct {
		key       Measured
		options   []option
		operation string
		shape     string
		want      string
	}{
		{two, all, "allgatherlinear", "M 96, K 4096, N 14336, bf16", "allgatherlinearpackets" + by +
			" at M 128, K 4096"},
		{two, all, "allgatherlinear", "M 2000, K 4096, N 7168, bf16", "allgatherlineartiles" + by + " at M 2048"},
		{two, all, "allgatherlinear", "M 32768, K 16384, N 8192, bf16", "allgatherlinear" + by + " at M 16384"},
		{two, all[:2], "allgatherlinear", "M 64, K 4096, N 7168, bf16", "allgatherlineartiles" + by + " at M 512"},
		{two, all[3:], "allgatherlinear", "M 64, K 4096, N 7168, bf16", "allgatherlinearput: not measured"},
		{two, all, "allgatherlinear", "M 64, K 4096, N 7168, fp32", "allgatherlinear: not measured"},
		{two, qkv, "allgatherqkv", "M 100, K 4096, N 2048, N2 512, N3 512, bf16", "allgatherqkvpackets" + by},
		{two, qkv, "allgatherqkv", "M 4096, K 8192, N 4096, N2 512, N3 512, bf16", "allgatherqkv" + by + ", 0.486"},
		{two, sums, "allreduceoneshot", "M 1024, N 4096, bf16", "allreducepackets" + by + " at M 256"},
		{two, sums, "allreduceoneshot", "M 8192, N 4096, bf16", "allreduceoneshot" + by + " at M 4096"},
		{two, sums, "allreduceoneshot", "M 1024, N 4096, fp32", "allreduceoneshot: not measured"},
		{two, norms, "allreducenorm", "M 8, N 6144, bf16, epsilon 1e-06", "allreducenorm" + by + " at M 6"},
		{two, norms, "allreducenorm", "M 100, N 6144, bf16, epsilon 1e-05", "allreducenorm" + by + " at M 128"},
		{two, few, "linearallreducefewrowsahead", "M 15, K 4096, N 4096, bf16", "linearallreducefewrowsahead" + by +
			" at M 16"},
		{two, few[1:], "linearallreduce", "M 9, K 4096, N 4096, bf16", "linearallreducefewrows" + by + " at M 16"},
		{two, few[1:], "linearallreduce", "M 2, K 14336, N 4096, bf16", "linearallreducefewrows" + by + " at M 1"},
		{two, few[1:], "linearallreduce", "M 17, K 14336, N 4096, bf16", "linearallreducepackets" + by + " at M 64"},
		{two, few[1:], "linearallreduce", "M 24, K 4096, N 4096, bf16", "linearallreducepackets" + by + " at M 64"},
		{two, few[1:], "linearallreduce", "M 33, K 4096, N 4096, bf16", "linearallreducepackets" + by + " at M 64"},
		{two, few, "linearallreducefewrowsahead", "M 24, K 4096, N 4096, bf16", "linearallreducepackets" + by +
			" at M 64"},
		{four, norms, "allreducenorm", "M 8, N 6144, bf16, epsilon 1e-05", "allreducenorm" + byFour + " at M 6"},
		{four, owned(8 * 6144 * 2), "allreducenorm", "M 8, N 6144, bf16, epsilon 1e-05",
			"allreducenorm" + byFour + " at M 6"},
		{four, owned(256 * 8192 * 2), "allreducenorm", "M 256, N 8192, bf16, epsilon 1e-05",
			"allreducenormtwoshot" + byFour + ", 0.0536 ms"},
		{four, all, "allgatherlinear", "M 512, K 4096, N 3584, bf16", "allgatherlinearpackets" + byFour + ", 0.04"},
		{four, all, "allgatherlinear", "M 4096, K 4096, N 3584, bf16", "allgatherlineartiles by tiles4" + byFour},
	} {
		key := c.key
		key.Operation, key.Shape = c.operation, c.shape
		_, choice, err := choose(own.among(c.options), key, c.options, prefers{links: fabric.Switched})
		if err != nil || !strings.HasPrefix(choice.String(), c.want) {
			t.Errorf("%s: %s, %v; want %s", c.shape, choice, err, c.want)
		}
	}
}

// TestOwnIsTuned: package tuned chooses between the programs of all entries.
func TestOwnIsTuned(t *testing.T) {
	own, err := ownTuning()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range own.Entries {
		text, err := os.ReadFile("../../generated/tuned/" + m.Operation + ".go")
		if err != nil || !strings.Contains(string(text), "(&"+m.Program+".Program,") {
			t.Errorf("%s by %s: package tuned does not choose it (%v)", m.Operation, m.Program, err)
		}
	}
}
