package plan

import (
	"strings"
	"testing"

	"ovgen/runtime/driver"
)

func TestCheck(t *testing.T) {
	p := &Program{
		Extents: []string{"M", "N"}, Constants: []int{64}, Types: []driver.Type{driver.BF16, driver.FP32}, MaxRanks: 8,
		Divides: []Divide{{Extent: "M", By: "D", Times: 4}, {Extent: "N", By: "D"}, {Extent: "64", By: "D"},
			{Extent: "N", By: "1", Times: 2}},
	}
	elements := &Program{Extents: []string{"M", "N"}, Types: p.Types,
		Divides: []Divide{{Extent: "M", By: "D", Times: 2, With: "N"}, {Extent: "M", By: "D", With: "64"}}}
	tiles := &Program{Extents: p.Extents, Types: p.Types, Divides: []Divide{{Extent: "M", By: "D"},
		{Extent: "M", By: "D", Times: 8}, {Extent: "N", By: "8"}}}
	apart := &Program{Extents: p.Extents, Types: p.Types,
		Divides: []Divide{{Extent: "M", By: "D"}, {Extent: "M", By: "4"}}}
	for _, c := range []struct {
		p           *Program
		ranks, m, n int
		t           driver.Type
		want        []string
	}{
		{p, 2, 8, 2, driver.BF16, nil},
		{p, 1, MaxExtent, 2, driver.FP32, nil},
		{p, 0, 8, 2, driver.BF16, []string{"no ranks: 0"}},
		{p, 2, 0, -2, driver.BF16, []string{
			"M is 0: it must lie between 1 and 1073741824", "N is -2: it must lie between"}},
		{p, 2, 8, 2, driver.FP16, []string{"type fp16 is not one of BF16, FP32"}},
		{p, 9, 36, 18, driver.BF16, []string{
			"9 ranks: the kernels serve at most 8 (generate the package with -ranks 1..9)",
			"the extent 64 is no multiple of the ranks, 9"}},
		{p, 2, 4, 3, driver.BF16, []string{"M is 4: it must be a multiple of 4 times the ranks, 8 (the nearest is 8)",
			"N is 3: it must be a multiple of the ranks, 2 (the nearest are 2 and 4)"}},
		{tiles, 2, 100, 100, driver.BF16, []string{
			"M is 100: it must be a multiple of 8 times the ranks, 16 (the nearest are 96 and 112)",
			"N is 100: it must be a multiple of 8 (the nearest are 96 and 104)"}},
		{tiles, 3, 56, 8, driver.BF16, []string{
			"M is 56: it must be a multiple of 8 times the ranks, 24 (the nearest are 48 and 72)"}},
		{apart, 3, 25, 8, driver.BF16, []string{
			"M is 25: it must be a multiple of the ranks, 3, and of 4 (the nearest are 24 and 36)"}},
		{apart, 3, 8, 8, driver.BF16, []string{"M is 8: it must be a multiple of the ranks, 3 (the nearest is 12)"}},
		{apart, 3, MaxExtent, 8, driver.BF16, []string{
			"M is 1073741824: it must be a multiple of the ranks, 3 (the nearest is 1073741820)"}},
		{p, 2, MaxExtent, MaxExtent, driver.BF16, []string{"make too many elements for 2 ranks"}},
		{elements, 3, 3, 2, driver.BF16, nil},
		{elements, 3, 3, 5, driver.BF16, []string{
			"M times N is 3 times 5: it must be a multiple of 2 times the ranks, 6"}},
		{elements, 3, 4, 3, driver.BF16, []string{"M times 64 is 4 times 64: it must be a multiple of the ranks, 3"}},
	} {
		err := c.p.Check(c.ranks, c.t, c.m, c.n)
		var lines []string
		if err != nil {
			lines = strings.Split(err.Error(), "\n")
		}
		if len(lines) != len(c.want) {
			t.Errorf("%d ranks, M %d, N %d: got %q, want %q", c.ranks, c.m, c.n, lines, c.want)
			continue
		}
		for i, want := range c.want {
			if !strings.Contains(lines[i], want) {
				t.Errorf("%d ranks, M %d, N %d: got %q, want %q", c.ranks, c.m, c.n, lines[i], want)
			}
		}
	}
	if got, want := p.Shape(driver.BF16, 8, 2), "M 8, N 2, bf16"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
