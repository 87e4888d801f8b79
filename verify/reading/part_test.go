package reading

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ovgen/schedule"
)

func shifted(n int) schedule.Split {
	return schedule.Split{Kind: schedule.DeviceX, Count: schedule.D, Shift: n}
}

type partCase struct {
	name string
	axes []schedule.Axis
	want []int // of rank 1
}

var unevenSplit = schedule.Split{Kind: schedule.DeviceX, Count: schedule.D, Uneven: true}

var partCases = []partCase{
	{"rows", []schedule.Axis{schedule.Dim("4", schedule.DIDx(schedule.D)), schedule.Dim("2")}, []int{4, 5, 6, 7}},
	{"columns", []schedule.Axis{schedule.Dim("2"), schedule.Dim(schedule.K, schedule.DIDx(schedule.D))},
		[]int{2, 3, 6, 7}},
	{"between", []schedule.Axis{schedule.Dim("2"), schedule.Dim(schedule.D, schedule.DIDx(schedule.D)),
		schedule.Dim("3")}, []int{3, 4, 5, 9, 10, 11}},
	{"chunks of shards", []schedule.Axis{schedule.Dim(schedule.M, schedule.Stream("3"), schedule.DIDx(schedule.D))},
		[]int{2, 3, 6, 7, 10, 11}},
	{"shards of chunks", []schedule.Axis{schedule.Dim(schedule.M, schedule.DIDx(schedule.D), schedule.Stream("3"))},
		[]int{6, 7, 8, 9, 10, 11}},
	{"shifted", []schedule.Axis{schedule.Dim("4", shifted(1))}, []int{0, 1}},
	{"shifted back", []schedule.Axis{schedule.Dim("4", shifted(-2))}, []int{2, 3}},
	{"uneven", []schedule.Axis{schedule.Dim("4", unevenSplit), schedule.Dim("2")}, []int{2, 3, 4, 5, 6, 7}},
	{"whole", []schedule.Axis{schedule.Dim("4", schedule.Stream(schedule.D))}, []int{0, 1, 2, 3}},
}

// TestPart pins what ranks hold.
func TestPart(t *testing.T) {
	e := Extents{schedule.M: 12, schedule.K: 4, schedule.N: 3, schedule.D: 2}

	for _, x := range partCases {
		p, err := PartOf(schedule.Tensor{Name: x.name, Axes: x.axes}, e, 1, []int{1, 3})
		if got := indices(p); err != nil || !slices.Equal(got, x.want) {
			t.Errorf("%s: %v, want %v (%v)", x.name, got, x.want, err)
		}
	}
	pair := schedule.Tensor{Name: "A", Axes: []schedule.Axis{schedule.Dim(schedule.D),
		schedule.Dim(schedule.D, unevenSplit),
		schedule.Dim(schedule.N)}}
	p, err := PartOf(pair, e, 1, []int{1, 2, 3, 1})
	if got := indices(p); err != nil || !slices.Equal(got, []int{3, 4, 9}) {
		t.Errorf("of each pair: %v (%v)", got, err)
	}
	if _, err := PartOf(pair, e, 1, []int{1, 4, 3, 1}); err == nil ||
		!strings.Contains(err.Error(), "count 4 is above the most, 3") {
		t.Error(err)
	}
	if _, err := PartOf(pair, e, 1, []int{1, 1}); err == nil ||
		!strings.Contains(err.Error(), "a count for each pair") {
		t.Error(err)
	}
	bad := Extents{schedule.M: 7, schedule.D: 2}
	for want, axes := range map[string][]schedule.Axis{
		"extent M: 7 cannot be cut as [DIDx(D), M/D]": {schedule.Dim(schedule.M, schedule.DIDx(schedule.D))},
		"twice": {schedule.Dim("4", schedule.DIDx(schedule.D),
			schedule.DIDx(schedule.D))},
		"over the ranks twice": {schedule.Dim("4", schedule.DIDx(schedule.D)),
			schedule.Dim("4", schedule.DIDx(schedule.D))},
		"extent F has no value":               {schedule.Dim(schedule.F)},
		"uneven parts [1 3] of 5 over 2":      {schedule.Dim("5", unevenSplit)},
		"extent S has no value":               {schedule.Dim("4", schedule.Stream("S"))},
		"4 cannot be cut as [Stream(0), 4/0]": {schedule.Dim("4", schedule.Stream("0"))},
		"4 cannot be cut as [DIDx(D), Stream(3), 4/(D*3)]": {schedule.Dim("4", schedule.DIDx(schedule.D),
			schedule.Stream("3"))},
	} {
		if _, err := PartOf(schedule.Tensor{Name: "A", Axes: axes}, bad, 0, []int{1, 3}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func indices(p Part) (list []int) {
	for i := range p.Count {
		list = append(list, p.At(i))
	}
	return list
}

// TestPartsCover draws placements: the parts of all ranks hold every element once,
// or, where nothing is spread over the ranks, each rank holds all in order.
func TestPartsCover(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.IntRange(1, 5).Draw(t, "D")
		e := Extents{schedule.D: d, schedule.M: 1, schedule.K: 1, schedule.N: 1}
		tensor := schedule.Tensor{Name: "A"}
		symbols := []schedule.Extent{schedule.M, schedule.K, schedule.N}[:rapid.IntRange(1, 3).Draw(t, "axes")]
		over := rapid.IntRange(-1, len(symbols)-1).Draw(t, "sharded axis")
		var counts []int
		for i, s := range symbols {
			a := schedule.Axis{Extent: s}
			e[s] = rapid.IntRange(1, 3).Draw(t, "inner")
			if over == i && rapid.Bool().Draw(t, "uneven") {
				e[s] = 0
				for range d {
					counts = append(counts, rapid.IntRange(0, 3).Draw(t, "count"))
					e[s] += counts[len(counts)-1]
				}
				a.Outer = []schedule.Split{{Kind: schedule.DeviceX, Count: schedule.D,
					Shift: rapid.IntRange(-1, 2).Draw(t, "shift"), Uneven: true}}
				tensor.Axes = append(tensor.Axes, a)
				continue
			}
			for range rapid.IntRange(0, 2).Draw(t, "splits") {
				a.Outer = append(a.Outer, schedule.Stream("2"))
				e[s] *= 2
			}
			if over == i {
				at := rapid.IntRange(0, len(a.Outer)).Draw(t, "at")
				a.Outer = slices.Insert(a.Outer, at, shifted(rapid.IntRange(-1, 2).Draw(t, "shift")))
				e[s] *= d
			}
			tensor.Axes = append(tensor.Axes, a)
		}
		n, err := Elements(tensor, e)
		if err != nil {
			t.Fatal(err)
		}
		held := make([]int, n)
		for rank := range d {
			p, err := PartOf(tensor, e, rank, counts)
			if err != nil {
				t.Fatal(err)
			}
			last := -1
			for _, i := range indices(p) {
				if i <= last {
					t.Fatalf("%s: rank %d holds %d after %d", tensor, rank, i, last)
				}
				last = i
				held[i]++
			}
		}
		want := 1
		if over < 0 {
			want = d
		}
		for i, times := range held {
			if times != want {
				t.Fatalf("%s over %d ranks: element %d is held %d times, want %d", tensor, d, i, times, want)
			}
		}
	})
}

func TestDivisor(t *testing.T) {
	tensors := []schedule.Tensor{
		{Name: "A", Axes: []schedule.Axis{schedule.Dim(schedule.M, schedule.Stream("8"), schedule.DIDx(schedule.D)),
			schedule.Dim(schedule.K)}},
		{Name: "C", Axes: []schedule.Axis{schedule.Dim(schedule.M, schedule.Stream("6"))}},
	}
	e := Extents{schedule.D: 3}
	for x, want := range map[schedule.Extent]int{schedule.M: 24, schedule.K: 1, schedule.N: 1} {
		if got := Divisor(x, tensors, e); got != want {
			t.Errorf("%s must be a multiple of %d, want %d", x, got, want)
		}
	}
}
