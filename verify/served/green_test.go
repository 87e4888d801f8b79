package served

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	s "ovgen/schedule"
	"ovgen/verify/sampling"
)

// shown are the schedules and forms that are run where OVGEN_SOAK is not set, some a sample, one of each kind: calls,
// rows that are gathered, exchanged, balanced, counted, in batches or of several axes, eight bits, gradients, packets,
// NCCL, integers, functions that are kept, eight and four bits over hosts, NaN, operands that operations make, fp32
// behind products, rows that come in parts, sums that pass on behind packets, kernels that do whole steps, sums in
// parts, layers whose numbers do not stay exact, sums of gradients over hosts, by tiles and rings, NCCL in place,
// rows in batches that are pushed, or come by one kernel, columns that are pushed, counted rows round a ring,
// batches over hosts, balanced rows and columns there, weights that come beside the layer before, layers of uneven
// rows, and batches of layers, of sums for all, and over hosts.
var shown = []string{"A06LoRACall", "P33RingKV", "P34Ulysses", "OwnProduct", "BalancedPushRing", "BatchesNormed",
	"FourAxes", "WeightPackets", "GradientNCCL", "EightKernels", "ColumnsSummedHeads", "CountedKept", "EH01", "EH05",
	"EH12", "P15VocabEmbedding", "WrittenSiLU", "RowOfRows", "WideLogits", "PartsTwoPackets", "RingBehindPackets",
	"OneKernelBlock", "PartedAll", "OwnInputAdded", "SharedWeight", "TwoMLPs", "SquaredRows", "BackwardOverHosts",
	"TilesForAll", "RingForAll", "NCCLInPlace", "RingOfUneven", "BatchLayerPush", "BatchesShot",
	"ColumnsNormedPush", "CountedLayerRing", "BatchLayerOverHosts",
	"BalancedKeptOverHosts", "CH35", "CH26", "BatchDecoder", "BatchForAllTwo", "BatchWeightsOverHosts", "BatchRotary",
	"WeightsShots", "WeightsSent", "CountedBlock", "BalancedBlock", "BalancedCross", "CountedGradient",
	"BalancedInPlace"}

// unnamed are schedules that lowering takes and no package can have: names of a plan's fields, of Go's words, and of
// two packages alike.
var unnamed = []string{"W09CallNames", "W12TensorNames", "W19Abc"}

// TestAcceptedAreGreen takes each schedule that is accepted the whole way of a user: ovgen gen proves it and emits its
// package in a module of its own, and the package's test runs it in the simulator against the reference. A schedule
// whose own kernel needs a multiple states it as the refusal says. A product of the caller's own is made by a function.
func TestAcceptedAreGreen(t *testing.T) {
	soak := sampling.All()
	var taken []string
	for i, name := range shown {
		if sampling.Takes(i, 5) {
			taken = append(taken, name)
		}
	}
	list := "package schedules\n" + declaring
	count := 0
	declare := func(name string, x s.Schedule) {
		text, err := json.Marshal(x)
		if err != nil {
			t.Fatal(err)
		}
		list += fmt.Sprintf("\nvar %s = of(`%s`)\n", name, text)
		count++
	}
	for _, e := range engines {
		if !soak && !slices.Contains(taken, e.name) || slices.Contains(unnamed, e.name) {
			continue
		}
		if x, accepted := statedAll(t, e.Schedule); accepted {
			declare(e.name, x)
		}
	}
	for _, forms := range []map[string]form{otherWays, batchWays, comeWhole, middlesShown, placedShown, notNumbers,
		madeShown, wideShown, atOnceShown, partsOverHosts, unevenShown} {
		for name, x := range forms {
			if soak || slices.Contains(taken, name) {
				declare(name, x.Schedule)
			}
		}
	}
	for _, d := range slices.Concat(eightOverHosts, columnsOverHosts) {
		if d.outcome == isServed && (soak || slices.Contains(taken, d.id)) {
			declare(d.id, d.Schedule)
		}
	}
	if !soak && count != len(taken) {
		t.Errorf("%d schedules are accepted of %v", count, taken)
	}
	t.Logf("%d schedules", count)
	u := newModule(t)
	u.write("schedules/decl.go", list)
	own, err := os.ReadFile("testdata/own.cu")
	if err != nil {
		t.Fatal(err)
	}
	u.write("schedules/own.cu", string(own))
	tested := []string{"go", "test", "-timeout", "1h", "./generated/programs"}
	if slices.Contains(taken, "OwnProduct") {
		product, err := os.ReadFile("testdata/product/product_test.go")
		if err != nil {
			t.Fatal(err)
		}
		u.write("product/product_test.go", string(product))
		tested = append(tested, "./product")
	}
	u.run(u.repo, "go", "build", "-o", filepath.Join(u.dir, "ovgen"), "./cmd/ovgen")
	u.run(u.dir, filepath.Join(u.dir, "ovgen"), "gen", "-o", "generated", "./schedules")
	u.run(u.dir, tested...)
}

// declaring reads a schedule as it was written, of the table that the test has.
const declaring = `
import (
	"encoding/json"

	"ovgen/schedule"
)

func of(text string) (s schedule.Schedule) {
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		panic(err)
	}
	return s
}
`

// statedAll is a schedule with the multiples that refusals ask for, and whether it is accepted then.
func statedAll(t *testing.T, x s.Schedule) (s.Schedule, bool) {
	for {
		err := accepts(t, x)
		if err == nil {
			return x, true
		}
		list := s.FieldErrors(err)
		if len(list) == 0 || !strings.HasPrefix(list[0].Hint, "state Multiples, of ") {
			return x, false
		}
		next, err := applied(t, x, list[0])
		if err != nil {
			t.Fatal(err)
		}
		x = next[0]
	}
}

// module is a Go module of a user's, beside the tree.
type module struct {
	t         *testing.T
	repo, dir string
}

// newModule makes a module that requires the tree's. It looks at the sources that go commands in it build: the test's
// result would be kept else when they change.
func newModule(t *testing.T) module {
	t.Helper()
	repo, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	u := module{t, repo, t.TempDir()}
	for _, name := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(filepath.Join(repo, name))
		if err != nil {
			t.Fatal(err)
		}
		u.write(name, strings.Replace(string(text), "module ovgen\n",
			"module example.com/user\n\nrequire ovgen v0.0.0\n\nreplace ovgen => "+repo+"\n", 1))
	}
	for _, part := range []string{"cmd", "runtime", "schedule", "templates", "verify"} {
		err := filepath.WalkDir(filepath.Join(repo, part), func(name string, _ fs.DirEntry, err error) error {
			_, missing := os.Stat(name)
			return errors.Join(err, missing)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return u
}

func (u module) write(name, text string) {
	u.t.Helper()
	name = filepath.Join(u.dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o777), os.WriteFile(name, []byte(text), 0o666)); err != nil {
		u.t.Fatal(err)
	}
}

// run runs a command as a user does, who does not soak.
func (u module) run(dir string, args ...string) {
	u.t.Helper()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir = dir
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "OVGEN_") }),
		"GOWORK=off", "GOPROXY=off", "OVGEN_DRIVER=sim")
	if out, err := cmd.CombinedOutput(); err != nil {
		u.t.Fatalf("%v: %v\n%s", args, err, out)
	}
	u.t.Logf("%v: %v", args[:2], cmd.ProcessState.UserTime())
}
