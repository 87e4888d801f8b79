package emit

import (
	"strings"
	"testing"

	"ovgen/runtime/fewrows"
	"ovgen/schedule"
	"ovgen/schedule/catalog"
	"ovgen/schedule/scheduletest"
)

// TestFewRowsOfKernels: schedules may ask for the rows of each kernel, whose package ends with it, and for no others.
func TestFewRowsOfKernels(t *testing.T) {
	s, rows := catalog.LinearAllReduceFewRows, map[int]bool{0: true}
	for i, k := range fewrows.Kernels {
		rows[k.Rows] = true
		if list := fewrows.Kernels.UpTo(k.Rows); len(list) != i+1 || list[i] != k {
			t.Errorf("up to %d rows: kernels %v", k.Rows, list)
		}
	}
	for n := range 130 {
		s.FewRows = n
		if err := s.Validate(); (err == nil) != rows[n] {
			t.Errorf("%d rows, for which there are kernels: %t, %v", n, rows[n], err)
		}
	}
}

// TestFewRowsMaking: packages make functions by the kernels of their products, with what they read and their numbers,
// and have kernels of functions for products by the library alone.
func TestFewRowsMaking(t *testing.T) {
	var several schedule.Schedule
	several.Tensors, several.Ops, several.FewRows = scheduletest.Tensors("A[M K] B[N K] C[M N] V[N] R[M N] W[M]"),
		[]schedule.Op{schedule.Linear("C", "A", "B", schedule.Bias("V"), schedule.ReLU(),
			schedule.Func{Word: "by", Is: schedule.Times(schedule.X, schedule.Column("W"), schedule.Param("Scale"))},
			schedule.Add("R"))}, 64
	alone := several
	alone.Tensors = several.Tensors[:4:4]
	alone.Ops = []schedule.Op{schedule.Linear("C", "A", "B", schedule.Bias("V"), schedule.GELU())}
	narrow := several
	narrow.Tensors, narrow.FewRows = scheduletest.Tensors("A[M K] B[N K] C[M N] R[M N] S[N]"), 0
	narrow.Tensors[1].Type, narrow.Tensors[1].Scale, narrow.Tensors[4].Type = schedule.E4M3, "S", schedule.FP32
	narrow.Ops = []schedule.Op{schedule.Linear("C", "A", "B", schedule.SoftCap(30), schedule.Add("R"))}
	files, err := Packages([]Input{program(t, "Several", several), program(t, "Alone", alone),
		program(t, "Narrow", narrow)}, Options{ImportPath: "example.com/user/made", Compiler: fake{}})
	if err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string][]string{
		"several/program.go": {"if p.few.Makes(p.gemm) {", "p.few.Making(1, p.c.At(0), p.w.At(0), p.r.At(0))." +
			"Number(p.scale).Linear(", "} else {", ".Make(q, main, "},
		"several/kernels.go": {`Number: 1, Epilogue: "relu",`, "fewrows.Kernels.UpTo(64).With(functions[0])"},
		"several/several.cu": {"made1_relu(float x)", "element_at<E>(p.operands[0], at.row),",
			"made1_made(x, o.a, (float)p.numbers[0], o.b)"},
		"alone/program.go":  {"p.few.Making(1, 0).Linear("},
		"narrow/program.go": {"p.narrow.Making(1, p.c.At(0), p.r.At(0)).Narrow("},
		"narrow/narrow.cu":  {"narrow8_made1_bf16", `#include "../device/arith.h"`},
	} {
		for _, text := range want {
			if !strings.Contains(string(files[file]), text) {
				t.Errorf("%s has no %q", file, text)
			}
		}
	}
	for file, text := range map[string]string{"alone/alone.cu": "elements_bf16(", "narrow/narrow.cu": "elements_bf16(",
		"narrow/program.go": "Makes("} {
		if strings.Contains(string(files[file]), text) {
			t.Errorf("%s has %q, which no program calls", file, text)
		}
	}
}
