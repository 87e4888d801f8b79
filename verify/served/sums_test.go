package served

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	s "ovgen/schedule"
	"ovgen/verify/sampling"
)

// finished are functions that a sum takes: tensors at the same place, one of them twice, numbers of each row, a gate, a
// cap, and a row.
var finished = []s.Func{s.Add("R"), s.Add("T"), {Word: "scaled", Is: s.Times(s.X, s.Column("S"))}, s.SwiGLU("U"),
	s.SoftCap(3), s.Bias("V"), s.Add("R")}

const operandsOfSums = " S[M] V[N] R[M N] T[M N] U[M N] "

// sumsFinished are programs of one computation by ways that add in the order of ranks: by two or, where OVGEN_SOAK is
// set, by all. In the last ones the sum stays in fp32, and a kernel of its own applies the functions.
func sumsFinished() map[string]form {
	list := map[string]form{}
	ways := map[string]s.Way{"Slots": s.Slots{}, "PushTwoShot": s.PushTwoShot{}}
	apart := map[string]s.Way{"": s.Slots{}}
	if sampling.All() {
		ways = map[string]s.Way{"Slots": s.Slots{}, "Shot": s.Shot{}, "TwoShot": s.TwoShot{}, "PushShot": s.PushShot{},
			"Pushed": s.PushShot{Words: true}, "PushTwoShot": s.PushTwoShot{}}
		apart = map[string]s.Way{"": s.Slots{}, "PushShot": s.PushShot{}, "PushTwoShot": s.PushTwoShot{}}
	}
	for name, way := range ways {
		list["Sums"+name] = of("A[D/D M N]"+operandsOfSums+"C[M N]", s.Sum("C", "A", finished...)).by("C", way)
	}
	for name, way := range apart {
		list["SumsApart"+name] = of("A[D/D M N]"+operandsOfSums+"H[M N] C[M N]", s.Sum("H", "A", finished[:2]...),
			s.Copy("C", "H", finished[2:]...)).in32("H").by("H", way)
	}
	return list
}

// TestSumsFinishAlike: what a sum applies to each element before it rounds it has the same bits by each way, and apart.
// The packages' own tests compare them with the reference.
func TestSumsFinishAlike(t *testing.T) {
	sampling.Test(t, 0, 3)
	list := "package schedules\n" + declaring
	for name, x := range sumsFinished() {
		x.Types = []s.Type{s.BF16, s.FP32}
		text, err := json.Marshal(x.Schedule)
		if err != nil {
			t.Fatal(err)
		}
		list += fmt.Sprintf("\nvar %s = of(`%s`)\n", name, text)
	}
	u := newModule(t)
	u.write("schedules/decl.go", list)
	test, err := os.ReadFile("testdata/sums/sums_test.go")
	if err != nil {
		t.Fatal(err)
	}
	u.write("sums/sums_test.go", string(test))
	u.run(u.repo, "go", "build", "-o", filepath.Join(u.dir, "ovgen"), "./cmd/ovgen")
	u.run(u.dir, filepath.Join(u.dir, "ovgen"), "gen", "-o", "generated", "./schedules")
	u.run(u.dir, "go", "test", "-timeout", "1h", "./generated/programs", "./sums")
}
