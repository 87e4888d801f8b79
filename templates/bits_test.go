package templates

import (
	"bytes"
	"encoding/binary"
	"flag"
	"fmt"
	"hash/fnv"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ovgen/runtime/driver"
	s "ovgen/schedule"
)

var update = flag.Bool("update", false, "write the golden file anew")

// kept is a function whose bits are kept.
type kept struct {
	name string
	of   Formula
}

// constructed lists the functions of package schedule: its own list, and functions that take numbers or are methods.
func constructed() (list []kept) {
	typed := map[string]Formula{"Rounded": {Types: fp32("")}, "Dequantise": {Types: dequantised},
		"Quantise":      {Result: driver.E4M3, Scales: driver.FP32},
		"QuantiseE5M2":  {Result: driver.E5M2, Scales: driver.FP32},
		"QuantiseFP4":   {Result: driver.E2M1, Scales: driver.E4M3},
		"QuantiseMXFP4": {Result: driver.E2M1, Scales: driver.UE8M0}}
	add := func(name string, f s.Func) {
		of := typed[name]
		of.Trees, of.Width = []s.Expr{f.Tree()}, width
		list = append(list, kept{name, of})
	}
	for _, c := range s.Library() {
		add(c.Name, c.Of([]string{"S", "B"}[:c.Operands]...))
	}
	for name, f := range map[string]s.Func{"GELUByErf": s.GELUByErf(), "Modulate": s.Modulate("A", "B"),
		"Multiply": s.Multiply("A"), "QuickGELU": s.QuickGELU(), "ReGLU": s.ReGLU("A"), "Scale": s.Scale(.22),
		"RMSNorm.PerHead": s.RMSNorm("A").PerHead("W"), "Rotary.Interleaved": s.Rotary("A").Interleaved(),
		"RotaryOf": s.RotaryOf(4, "H", "A"), "Sigmoid": s.Sigmoid(), "SoftCap": s.SoftCap(3), "Softmax": s.Softmax(),
		"SquaredReLU": s.SquaredReLU()} {
		add(name, f)
	}
	slices.SortFunc(list, func(a, b kept) int { return strings.Compare(a.name, b.name) })
	return list
}

// standIns are what no two libraries round alike, as arithmetic that every host makes of one text: the file says how
// functions are rounded that have them, and not what exp is.
var standIns = []string{"-D__builtin_expf(x)=((x)*(x)+1.f)", "-D__builtin_tanhf(x)=((x)/((x)*(x)+1.f))",
	"-D__builtin_erff(x)=((x)/((x)*(x)+2.f))", "-D__builtin_logf(x)=((x)*(x)-1.f)"}

// TestBits holds the bits that the kernel of each function makes of fixed tensors against a golden file, where a review
// sees that one rounds otherwise than it did.
func TestBits(t *testing.T) {
	functions := constructed()
	var list []Formula
	for _, c := range functions {
		list = append(list, c.of)
	}
	d, kernels := ofFormulas(t, list, driver.BF16, driver.FP16, driver.FP32)
	var jobs []*job
	for i, k := range kernels {
		of := fnv.New32a()
		of.Write([]byte(functions[i].name))
		for _, typ := range []driver.Type{driver.BF16, driver.FP32} {
			for seed := range uint32(12) {
				jobs = append(jobs, newJob(list[i], k, typ, of.Sum32()/12*12+seed))
			}
		}
	}
	runJobs(t, d.checked(), jobs, standIns...)
	var got bytes.Buffer
	for _, c := range functions {
		fmt.Fprintf(&got, "%-18s  bf16 %016x  fp32 %016x\n", c.name, hashed(jobs[:12]), hashed(jobs[12:24]))
		jobs = jobs[24:]
	}
	const file = "testdata/bits.txt"
	if *update {
		if err := os.WriteFile(file, got.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("functions have other bits (where that is meant, run it with -update, and say why):\n%s", diff)
	}
}

// hashed is a hash of what launches have left, but for the kinds of NaN.
func hashed(jobs []*job) uint64 {
	h := fnv.New64a()
	for _, j := range jobs {
		for i, x := range j.tensors {
			x.data = j.after[i]
			for at := range x.count {
				v := math.Float32bits(x.at(at))
				if math.IsNaN(float64(x.at(at))) {
					v = 0x7fc00000
				}
				h.Write(binary.LittleEndian.AppendUint32(nil, v))
			}
		}
	}
	return h.Sum64()
}
